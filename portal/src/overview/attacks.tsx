// Attacks that go on, the largest first.
import { Anchor, Skeleton, Text } from '@mantine/core'
import { listRelatedEventsRoute } from '@pharos/contract/analysis'
import { Link } from '@tanstack/react-router'
import { useAnswer } from '../api/queries.ts'
import { ongoingNow } from '../events/ongoing.ts'
import { Problem } from '../ui/problem.tsx'
import { formatRate } from '../ui/rate.ts'
import { ago, formatTime, useZone } from '../ui/time.tsx'
import { Part, Quiet, Row, Rows } from './part.tsx'
import classes from './overview.module.css'

const shownAttacks = 6

export function Attacks() {
  const [zone] = useZone()
  const answer = useAnswer(listRelatedEventsRoute, { query: ongoingNow() }, { refetchInterval: 10_000 })
  const last = useAnswer(listRelatedEventsRoute, { query: { ordering: '-start', limit: 1 } })
  const ongoing = answer.data?.results.filter(({ end }) => end === null) ?? []
  const ended = last.data?.results[0]?.end
  return (
    <Part
      title="Attacks going on"
      to="/events"
      all={ongoing.length > shownAttacks ? `All ${ongoing.length}` : 'All events'}
    >
      {answer.error && !answer.data && <Problem error={answer.error} />}
      {answer.isPending && <Skeleton height={96} />}
      {answer.data && ongoing.length === 0 && (
        <Quiet>
          {ended ? `None. The last one ended ${ago(ended)}.` : 'None, and none before that was kept.'}
        </Quiet>
      )}
      <Rows>
        {ongoing
          .slice(0, shownAttacks)
          .map(({ id, affected_network, classification_key, affected_bps, start }) => (
            <Row
              key={id}
              link={
                <Anchor component={Link} to={`/events/${id}` as never} ff="monospace" size="sm">
                  {affected_network || 'unknown'}
                </Anchor>
              }
            >
              <span className={classes['rest']}>{classification_key}</span>
              <Text span size="sm" fw={600} className={classes['end']!}>
                {formatRate(affected_bps, 'bps')}
              </Text>
              <Text span size="xs" c="dimmed" className={classes['time']!} title={formatTime(start, zone)}>
                {sinceOf(start)}
              </Text>
            </Row>
          ))}
      </Rows>
    </Part>
  )
}

const minuteMs = 60_000

/** For how long it has gone on, in one unit: `48 min`. */
function sinceOf(start: string, now = Date.now()): string {
  const minutes = Math.max(0, Math.floor((now - new Date(start).getTime()) / minuteMs))
  if (minutes < 60) return `${minutes} min`
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} d`
}
