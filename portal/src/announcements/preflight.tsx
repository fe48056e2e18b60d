// The results of the checks before prefixes are added: in full for one, folded for several.
import { Accordion, Group, Stack, Text } from '@mantine/core'
import type { Announcement } from '@pharos/contract/byoip'
import { Checks } from './checks.tsx'
import { StatePill } from '../ui/status.tsx'

const failedOf = ({ validations = [] }: Announcement): number =>
  validations.filter(({ state }) => state !== 'valid').length

export function Preflight({ announcements }: { announcements: readonly Announcement[] }) {
  const ready = announcements.filter((one) => failedOf(one) === 0).length
  const [only] = announcements
  return (
    <Stack component="section" aria-label="Check results">
      {announcements.length === 1 ? (
        <Only announcement={only!} />
      ) : (
        <Several announcements={announcements} ready={ready} />
      )}
    </Stack>
  )
}

function Only({ announcement }: { announcement: Announcement }) {
  const failed = failedOf(announcement)
  return (
    <>
      <Text size="sm">
        {failed === 0
          ? 'All checks passed. You can add the prefix and enable it right away.'
          : `${failed} of ${announcement.validations?.length} checks have not passed. You can add the prefix now and fix them later; checks rerun automatically.`}
      </Text>
      <Checks announcement={announcement} isPreflight />
    </>
  )
}

function Several({ announcements, ready }: { announcements: readonly Announcement[]; ready: number }) {
  return (
    <>
      <Text size="sm">
        {ready === announcements.length
          ? 'All checks passed for all prefixes. You can add and enable them right away.'
          : `${ready === 0 ? 'None' : ready} of ${announcements.length} prefixes ${ready < 2 ? 'passes' : 'pass'} all checks. You can add all of them now and fix the rest later.`}
      </Text>
      <Accordion variant="separated" multiple>
        {announcements.map((announcement) => (
          <Accordion.Item key={announcement.cidr} value={announcement.cidr}>
            <Accordion.Control>
              <Group gap="sm">
                <Text ff="monospace" size="sm">
                  {announcement.cidr}
                </Text>
                <ResultBadge failed={failedOf(announcement)} />
              </Group>
            </Accordion.Control>
            <Accordion.Panel>
              <Checks announcement={announcement} isPreflight />
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
    </>
  )
}

const ResultBadge = ({ failed }: { failed: number }) => (
  <StatePill color={failed === 0 ? 'ok' : 'warn'}>
    {failed === 0 ? 'All checks passed' : `${failed} not passed`}
  </StatePill>
)
