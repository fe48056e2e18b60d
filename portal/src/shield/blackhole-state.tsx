// A black hole: its state in each region as observed on the routers, the time until its end, and the button that ends it.
import { Button, Group, Stack, Text } from '@mantine/core'
import { deleteBlackholeRoute, listBlackholesRoute, type Blackhole } from '@pharos/contract/shield/blackhole'
import { useMutation } from '@tanstack/react-query'
import { call } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'
import { useGrant, useHasModule } from '../api/use-grant.ts'
import { Mono } from '../ui/cells.tsx'
import { TextLink } from '../ui/link.tsx'
import { notifyProblem, notifySuccess } from '../ui/notify.ts'
import { RegionStatePill, StatePill, type StateColor } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { clockText, useSecondsUntil } from './countdown.ts'
import { words } from './words.ts'
import classes from './shield.module.css'

const { blackholes: texts } = words

const colors: Record<Blackhole['status'], StateColor> = {
  pending: 'info',
  partial: 'warn',
  active: 'bad',
  ending: 'info',
  ended: 'idle',
}

type Props = {
  readonly blackhole: Blackhole
  /** The page of its event does not link to itself. */
  readonly linked?: boolean
}

export function BlackholeState({ blackhole, linked = true }: Props) {
  const { host, status, expires, ended, regions, comment, event_id: eventId } = blackhole
  const left = useSecondsUntil(expires)
  const isOver = ended !== null || left === 0
  const isLinked = useHasModule('lighthouse') && linked && eventId !== null
  return (
    <Stack gap={4} data-blackhole={host}>
      <Group gap="xs">
        <Mono>{host}</Mono>
        <StatePill color={colors[status]} moving={status === 'pending' || status === 'ending'}>
          {texts.states[status]}
        </StatePill>
        <Text size="sm" className={classes['left']!}>
          {isOver ? (
            <>
              {texts.over} <Time at={ended ?? expires} />
            </>
          ) : (
            texts.left(clockText(left))
          )}
        </Text>
        {!isOver && <EndNow blackhole={blackhole} />}
      </Group>
      {status !== 'ended' && (
        <Group gap="xs">
          {regions.map(({ region, state, desired, message }) => (
            <Text key={region} span size="xs" c="dimmed">
              {region} <RegionStatePill state={state} />{' '}
              {message ?? (!desired && !isOver && texts.notDesired)}
            </Text>
          ))}
        </Group>
      )}
      {(comment !== '' || isLinked) && (
        <Text size="xs" c="dimmed">
          {comment}{' '}
          {isLinked && (
            <TextLink to="/events/$id" params={{ id: eventId }}>
              {texts.ofEvent}
            </TextLink>
          )}
        </Text>
      )}
    </Stack>
  )
}

function EndNow({ blackhole: { id } }: { readonly blackhole: Blackhole }) {
  const canChange = useGrant('shield.apply')
  const end = useMutation({
    mutationFn: () => call(deleteBlackholeRoute, { params: { blackhole_id: id } }),
    onSuccess: async () => {
      notifySuccess(texts.ended)
      await invalidate(listBlackholesRoute)
    },
    onError: notifyProblem,
  })
  if (!canChange) return null
  return (
    <Button size="xs" variant="default" loading={end.isPending} onClick={() => end.mutate()}>
      {texts.end}
    </Button>
  )
}
