// Ongoing attacks, the largest first.
import { Skeleton, Text } from '@mantine/core'
import { listRelatedEventsRoute } from '@pharos/contract/analysis'
import { classificationLabel } from '@pharos/contract/classification'
import { useAnswer } from '../api/queries.ts'
import { ongoingQuery } from '../events/ongoing-query.ts'
import { TextLink } from '../ui/link.tsx'
import { Problem } from '../ui/problem.tsx'
import { formatRate } from '../ui/rate.ts'
import { ago, formatTime, useZone } from '../ui/time.tsx'
import { Remark, Row, Rows, SummaryCard } from './summary-card.tsx'
import classes from './overview.module.css'

const shownAttacks = 6

export function OngoingAttacks() {
  const [zone] = useZone()
  const answer = useAnswer(listRelatedEventsRoute, { query: ongoingQuery }, { refetchInterval: 10_000 })
  const last = useAnswer(listRelatedEventsRoute, { query: { ordering: '-start', limit: 1 } })
  const ongoing = answer.data?.results ?? []
  const ended = last.data?.results[0]?.end
  return (
    <SummaryCard
      title="Ongoing attacks"
      link={
        <TextLink to="/events" size="sm">
          {ongoing.length > shownAttacks ? `View all ${ongoing.length}` : 'View all events'}
        </TextLink>
      }
    >
      {answer.error && !answer.data && <Problem error={answer.error} />}
      {answer.isPending && <Skeleton height={96} />}
      {answer.data && ongoing.length === 0 && (
        <Remark>
          No ongoing attacks.{' '}
          {last.data && (ended ? `The last one ended ${ago(ended)}.` : 'There are no attacks on record.')}
        </Remark>
      )}
      <Rows>
        {ongoing
          .slice(0, shownAttacks)
          .map(({ id, affected_network, classification_key, affected_bps, start }) => (
            <Row
              key={id}
              link={
                <TextLink to="/events/$id" params={{ id }} ff="monospace" size="sm">
                  {affected_network || 'Unknown network'}
                </TextLink>
              }
            >
              <span className={classes['rest']}>{classificationLabel(classification_key)}</span>
              <Text span size="sm" fw={600} className={classes['end']!}>
                {formatRate(affected_bps, 'bps')}
              </Text>
              <Text span size="xs" c="dimmed" className={classes['time']!} title={formatTime(start, zone)}>
                {durationSince(start)}
              </Text>
            </Row>
          ))}
      </Rows>
    </SummaryCard>
  )
}

const minuteMs = 60_000

/** Returns the elapsed time in one unit: `48 min`. */
function durationSince(start: string, now = Date.now()): string {
  const minutes = Math.max(0, Math.floor((now - new Date(start).getTime()) / minuteMs))
  if (minutes < 60) return `${minutes} min`
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} d`
}
