// The state messages of an announcement, the most severe first, with the next step and the place to fix it.
import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import type { StateMessage } from '@pharos/contract/announcement-checks'
import type { StateMessageTag } from '@pharos/contract/state-message'
import type { Announcement } from '@pharos/contract/byoip'
import { Time, WithTimes } from '../ui/time.tsx'
import { checkName } from './history-text.ts'

const colors: Record<StateMessage['severity'], string> = { error: 'bad', warning: 'warn', info: 'info' }

type Props = { announcement: Announcement; onShowChecks: () => void }

export function Messages({ announcement, onShowChecks }: Props) {
  const { state_messages: messages = [] } = announcement
  const blocking = messages.filter(({ tag }) => places[tag] === 'checks')
  const others = messages.filter(({ tag }) => places[tag] === 'alert')
  return (
    <>
      {others.map((message) => (
        <Alert
          key={`${message.tag} ${message.message}`}
          color={colors[message.severity]}
          title={<WithTimes text={message.message} />}
        >
          <Stack gap={4}>
            {nextOf(message)}
            {message.tag !== 'suspended' && (
              <Text size="xs" c="dimmed">
                <Time at={message.timestamp} />
              </Text>
            )}
          </Stack>
        </Alert>
      ))}
      {blocking.length > 0 && <Blocking messages={blocking} onShowChecks={onShowChecks} />}
    </>
  )
}

/** The place of each message: an alert, the summary of the checks, or the row of its region. */
const places: Record<StateMessageTag, 'alert' | 'checks' | 'region'> = {
  suspended: 'alert',
  validation_lost: 'alert',
  validation_failed: 'checks',
  validation_pending: 'checks',
  validation_missing: 'checks',
  validation_unavailable: 'checks',
  ends_soon: 'alert',
  zombie: 'alert',
  unexpected_origin: 'alert',
  region_withdrawn: 'region',
  region_announcing: 'region',
  region_announced: 'region',
  region_withdrawing: 'region',
  region_error: 'region',
}

function nextOf({ tag, attrs }: StateMessage) {
  if (tag === 'suspended')
    return (
      <Text size="sm">
        {attrs['by'] === 'validation'
          ? 'It stays withdrawn until the check passes, then it is announced again automatically. The table shows what routers still announce.'
          : 'Only the provider can lift the suspension. It is then announced again automatically.'}
      </Text>
    )
  if (tag === 'validation_lost')
    return (
      <Text size="sm">
        Fix the {checkName(String(attrs['validation']))} check below. Other networks may already reject the
        prefix, and the provider may suspend it. If you disable it now, you cannot enable it again until the
        check passes.
      </Text>
    )
  return null
}

function Blocking({
  messages,
  onShowChecks,
}: {
  messages: readonly StateMessage[]
  onShowChecks: () => void
}) {
  const isWaiting = messages.every(({ severity }) => severity === 'info')
  const names = messages.map(({ attrs }) => checkName(String(attrs['validation']))).join(', ')
  return (
    <Alert
      color={isWaiting ? 'info' : 'warn'}
      title={isWaiting ? `Still checking: ${names}` : `Not ready: ${names}`}
    >
      <Group justify="space-between">
        <Text size="sm">
          {isWaiting
            ? 'We retry automatically; nothing to do.'
            : 'Create the objects shown below. We check again automatically.'}
        </Text>
        <Button variant="default" onClick={onShowChecks}>
          Show failed checks
        </Button>
      </Group>
    </Alert>
  )
}
