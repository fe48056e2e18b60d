// What is not as wanted, the gravest first, with what happens next and where it is mended.
import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import type { StateMessage } from '@pharos/contract/announcement-checks'
import type { StateMessageTag } from '@pharos/contract/state-message'
import type { Announcement } from '@pharos/contract/byoip'
import { Time, WithTimes } from '../ui/time.tsx'
import { checkName } from './history-words.ts'

const colors: Record<StateMessage['severity'], string> = { error: 'red', warning: 'yellow', info: 'blue' }

type Props = { announcement: Announcement; onShowChecks: () => void }

export function Messages({ announcement, onShowChecks }: Props) {
  const { state_messages: messages = [] } = announcement
  const inTheWay = messages.filter(({ tag }) => places[tag] === 'checks')
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
      {inTheWay.length > 0 && <InTheWay messages={inTheWay} onShowChecks={onShowChecks} />}
    </>
  )
}

/** Where each message is shown: by itself, in the summary of the checks, or in the row of its region. */
const places: Record<StateMessageTag, 'alert' | 'checks' | 'region'> = {
  suspended: 'alert',
  validation_lost: 'alert',
  validation_failed: 'checks',
  validation_pending: 'checks',
  validation_missing: 'checks',
  validation_unavailable: 'checks',
  ends_soon: 'alert',
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
          ? 'It is kept withdrawn. The regions below show what the routers still announce. Fix the check: it is repeated automatically, and the announcement resumes once all checks pass.'
          : 'It is kept withdrawn. The regions below show what the routers still announce. It cannot be enabled until the provider ends the suspension, and then resumes automatically.'}
      </Text>
    )
  if (tag === 'validation_lost')
    return (
      <Text size="sm">
        Fix it below ({checkName(String(attrs['validation']))}): other networks may already reject the prefix,
        and the provider may suspend it. Once disabled, it cannot be enabled until the check passes.
      </Text>
    )
  return null
}

function InTheWay({
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
      color={isWaiting ? 'blue' : 'orange'}
      title={isWaiting ? `Not answered yet: ${names}` : `Before it can be announced: ${names}`}
    >
      <Group justify="space-between">
        <Text size="sm">
          {isWaiting
            ? 'The registries are asked again by themselves; there is nothing to do.'
            : 'Each check says what to create, to the letter. It is repeated by itself once that is there.'}
        </Text>
        <Button variant="default" onClick={onShowChecks}>
          What is missing
        </Button>
      </Group>
    </Alert>
  )
}
