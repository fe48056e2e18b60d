// How other networks see the prefix, as route collectors report it: counts, propagation time, and routes of other networks.
import { Group, Stack, Text, Tooltip } from '@mantine/core'
import type { Announcement } from '@pharos/contract/byoip/announcement'
import type { Visibility as Data } from '@pharos/contract/byoip/visibility'
import { AlertLink } from '../alerts/alert-link.tsx'
import { Section } from '../ui/section.tsx'
import { StatePill } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { Empty } from '../ui/empty.tsx'
import { useNow } from '../ui/use-now.ts'
import { moreSpecificsText, originsText, visibilityText } from './visibility-text.ts'
import { words } from './words.ts'

const { visibility: texts } = words

export function Visibility({ announcement: { id, visibility } }: { announcement: Announcement }) {
  const now = useNow()
  if (!visibility || visibility.reason === 'no_source')
    return <Empty title={texts.notMonitored}>{texts.notMonitoredNote}</Empty>
  const text = visibilityText(visibility, now)
  const details = [originsText(visibility), moreSpecificsText(visibility), visibility.message]
  return (
    <Section
      title={texts.title}
      note={<VisibilityPill visibility={visibility} />}
      actions={<AlertLink kind="visibility" object={id} />}
    >
      <Stack gap={4}>
        {text !== undefined && (
          <Tooltip label={texts.collector} multiline maw={320}>
            <Text w="fit-content">{text}</Text>
          </Tooltip>
        )}
        {details.map(
          (detail) =>
            detail && (
              <Text key={detail} size="sm">
                {detail}
              </Text>
            ),
        )}
        {visibility.checked !== null && (
          <Group gap={4}>
            <Text size="xs" c="dimmed">
              {texts.dataOf} <Time at={visibility.checked} />
            </Text>
          </Group>
        )}
      </Stack>
    </Section>
  )
}

function VisibilityPill({ visibility }: { visibility: Data }) {
  const { state, zombie, origins, more_specifics, last_change: change } = visibility
  if (state === 'unavailable') return <StatePill color="idle">{texts.unknown}</StatePill>
  if (zombie) return <StatePill color="warn">{texts.still}</StatePill>
  const isForeign = origins.some(({ expected }) => !expected) || more_specifics.length > 0
  if (isForeign) return <StatePill color="warn">{texts.foreign}</StatePill>
  if (state === 'partial') return <StatePill color="info">{texts.partial}</StatePill>
  if (change?.kind !== 'announced') return <StatePill color="idle">{texts.notAnnounced}</StatePill>
  return isWidelySeen(visibility) ? (
    <StatePill color="ok">{texts.visible}</StatePill>
  ) : (
    <StatePill color="warn">{texts.partly}</StatePill>
  )
}

const isWidelySeen = ({ collectors_seeing: seeing, collectors_total: total }: Data): boolean =>
  (seeing ?? 0) >= (total ?? 0) * 0.8
