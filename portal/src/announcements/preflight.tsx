// The results of the checks before prefixes are added: in full for one, folded for several.
import { Accordion, Group, Stack, Text } from '@mantine/core'
import type { Announcement } from '@pharos/contract/byoip/announcement'
import { Checks } from './checks.tsx'
import { StatePill } from '../ui/status.tsx'
import { words } from './words.ts'

const { add: texts } = words

const failedOf = ({ validations = [] }: Announcement): number =>
  validations.filter(({ state }) => state !== 'valid').length

export function Preflight({ announcements }: { announcements: readonly Announcement[] }) {
  const ready = announcements.filter((one) => failedOf(one) === 0).length
  const [only] = announcements
  return (
    <Stack component="section" aria-label={texts.results}>
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
        {failed === 0 ? texts.allPassed : texts.somePassed(failed, announcement.validations?.length ?? 0)}
      </Text>
      <Checks announcement={announcement} isPreflight />
    </>
  )
}

function Several({ announcements, ready }: { announcements: readonly Announcement[]; ready: number }) {
  return (
    <>
      <Text size="sm">
        {ready === announcements.length ? texts.everyPassed : texts.fewPassed(ready, announcements.length)}
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
    {failed === 0 ? texts.passed : texts.notPassed(failed)}
  </StatePill>
)
