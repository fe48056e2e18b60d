// What the checks say of prefixes before they are brought: of one in full, of several each when it is opened.
import { Accordion, Badge, Group, Stack, Text } from '@mantine/core'
import type { Announcement } from '@pharos/contract/byoip'
import { Validations } from './validations.tsx'

const missingOf = ({ validations = [] }: Announcement): number =>
  validations.filter(({ state }) => state !== 'valid').length

export function Preflight({ announcements }: { announcements: readonly Announcement[] }) {
  const ready = announcements.filter((one) => missingOf(one) === 0).length
  const [only] = announcements
  return (
    <Stack component="section" aria-label="What the checks say now">
      {announcements.length === 1 ? (
        <Only announcement={only!} />
      ) : (
        <Several announcements={announcements} ready={ready} />
      )}
    </Stack>
  )
}

const laterWords = 'what is missing can be created afterwards, and each check is repeated by itself.'

function Only({ announcement }: { announcement: Announcement }) {
  const missing = missingOf(announcement)
  return (
    <>
      <Text size="sm">
        {missing === 0
          ? 'Every check passes. It can be brought, and switched on at once.'
          : `${missing} of ${announcement.validations?.length} checks have not passed. It can be brought all the same: ${laterWords}`}
      </Text>
      <Validations announcement={announcement} isPreflight />
    </>
  )
}

function Several({ announcements, ready }: { announcements: readonly Announcement[]; ready: number }) {
  return (
    <>
      <Text size="sm">
        {ready === announcements.length
          ? 'Every check of every prefix passes. They can be brought, and switched on at once.'
          : `Every check passes for ${ready} of ${announcements.length} prefixes. All can be brought: ${laterWords}`}
      </Text>
      <Accordion variant="separated" multiple>
        {announcements.map((announcement) => (
          <Accordion.Item key={announcement.cidr} value={announcement.cidr}>
            <Accordion.Control>
              <Group gap="sm">
                <Text ff="monospace" size="sm">
                  {announcement.cidr}
                </Text>
                <Passed missing={missingOf(announcement)} />
              </Group>
            </Accordion.Control>
            <Accordion.Panel>
              <Validations announcement={announcement} isPreflight />
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
    </>
  )
}

const Passed = ({ missing }: { missing: number }) => (
  <Badge color={missing === 0 ? 'teal' : 'orange'}>
    {missing === 0 ? 'every check passes' : `${missing} missing`}
  </Badge>
)
