// What is not as wanted, the gravest first, with what happens next and where it is mended.
import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import type { StateMessage } from '@pharos/contract/announcement-checks'
import type { Announcement } from '@pharos/contract/byoip'
import { Time, WithTimes } from '../ui/time.tsx'
import { checkName } from './history-words.ts'

const colors: Record<StateMessage['severity'], string> = { error: 'red', warning: 'yellow', info: 'blue' }

type Props = { announcement: Announcement; onShowChecks: () => void }

export function Messages({ announcement, onShowChecks }: Props) {
  const { state_messages: messages = [], details } = announcement
  const inTheWay = messages.filter(isInTheWay)
  // What a region says stands in the region's own line.
  const others = messages.filter((one) => !isInTheWay(one) && !one.tag.startsWith('region_'))
  return (
    <>
      {others.map((message) => (
        <Alert
          key={`${message.tag} ${message.message}`}
          color={colors[message.severity]}
          title={<WithTimes text={message.message} />}
        >
          <Stack gap={4}>
            {nextOf(message, details?.suspended_reason ?? null)}
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

/** A check that keeps it from being announced for the first time; one that had passed is told apart. */
const isInTheWay = ({ tag }: StateMessage): boolean =>
  tag.startsWith('validation_') && tag !== 'validation_lost'

function nextOf({ tag, attrs }: StateMessage, reason: string | null) {
  if (tag === 'suspended')
    return (
      <Text size="sm">
        {reason === 'validation'
          ? 'It is kept withdrawn; what a router still shows stands below. Mend the check: it is repeated by itself, and what you want is announced again once all have passed.'
          : 'It is kept withdrawn; what a router still shows stands below. It cannot be switched on until they end the suspension; what you want is then announced again by itself.'}
      </Text>
    )
  if (tag === 'validation_lost')
    return (
      <Text size="sm">
        Mend it below ({checkName(String(attrs['validation']))}): other networks may already refuse the
        prefix, and the provider may suspend what fails for too long. Once switched off, it cannot be switched
        on before the check passes.
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
