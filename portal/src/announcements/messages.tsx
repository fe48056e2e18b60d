// The state messages of an announcement that belong to no check and no region, the most severe first, with the next step.
import { Alert, Stack, Text } from '@mantine/core'
import type { StateMessage, StateMessageTag } from '@pharos/contract/reason/state-message'
import type { Announcement } from '@pharos/contract/byoip/announcement'
import { Time, WithTimes } from '../ui/time.tsx'
import { checkName } from './history-text.ts'
import { words } from './words.ts'

const colors: Record<StateMessage['severity'], string> = { error: 'bad', warning: 'warn', info: 'info' }

export function Messages({ announcement }: { announcement: Announcement }) {
  const { state_messages: messages = [] } = announcement
  const others = messages.filter(({ tag }) => places[tag as AnnouncementTag] === 'alert')
  return (
    <>
      {others.map((message) => (
        <Alert
          key={`${message.tag} ${message.message}`}
          color={colors[message.severity]}
          title={<WithTimes text={message.message} />}
        >
          <Stack gap={4}>
            {nextOf(message, announcement.enabled)}
            {message.tag !== 'suspended' && (
              <Text size="xs" c="dimmed">
                <Time at={message.timestamp} />
              </Text>
            )}
          </Stack>
        </Alert>
      ))}
    </>
  )
}

type AnnouncementTag = Exclude<StateMessageTag, `zone_${string}`>

/** The place of each message: an alert, the row of its check, or the row of its region. */
const places: Record<AnnouncementTag, 'alert' | 'checks' | 'region'> = {
  suspended: 'alert',
  validation_lost: 'alert',
  validation_failed: 'checks',
  validation_pending: 'checks',
  validation_missing: 'checks',
  validation_unavailable: 'checks',
  ends_soon: 'alert',
  zombie: 'alert',
  unexpected_origin: 'alert',
  not_visible: 'alert',
  other_path: 'alert',
  region_withdrawn: 'region',
  region_announcing: 'region',
  region_announced: 'region',
  region_withdrawing: 'region',
  region_error: 'region',
}

function nextOf({ tag, attrs }: StateMessage, isEnabled: boolean) {
  const { messages: texts } = words
  const text =
    tag === 'suspended'
      ? attrs['by'] === 'validation'
        ? texts.suspendedByCheck
        : isEnabled
          ? texts.suspendedEnabled
          : texts.suspended
      : tag === 'validation_lost'
        ? texts.lost(checkName(String(attrs['validation'])))
        : undefined
  return text && <Text size="sm">{text}</Text>
}
