// The attacks of the last 30 days at a glance: each as a point, when it began and how high it went. What comes again and
// again, and what was out of the ordinary, is seen without reading a row.
import { Anchor, Card, Group, Skeleton, Text } from '@mantine/core'
import { listRelatedEventsRoute, type RelatedEvent } from '@pharos/contract/analysis'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useAnswer } from '../api/queries.ts'
import { Plot, type PlotSeries } from '../ui/plot.tsx'
import { Problem } from '../ui/problem.tsx'
import { formatRate } from '../ui/rate.ts'
import { durationOf } from './lasted.ts'

const days = 30
const dayMs = 86_400_000
const hourMs = 3_600_000
/** As many as one answer holds: the largest ones, where there are more. */
const readMax = 1000

export function RecentAttacks() {
  // Whole hours, so that the question stays the same while it is asked again and again.
  const from = Math.floor(Date.now() / hourMs) * hourMs - days * dayMs
  const start = new Date(from).toISOString()
  const answer = useAnswer(
    listRelatedEventsRoute,
    { query: { start, ordering: '-affected_bps', limit: readMax } },
    { refetchInterval: 30_000 },
  )
  return (
    <Card component="section" aria-label={`Attacks of the last ${days} days`}>
      <Group justify="space-between" mb="xs">
        <Text fw={600}>Attacks of the last {days} days</Text>
        <Anchor component={Link} to="/events" search={{ start } as never} size="sm">
          As a list
        </Anchor>
      </Group>
      {answer.isPending && <Skeleton height={240} />}
      {answer.error && !answer.data && <Problem error={answer.error} />}
      {answer.data && <Shown events={answer.data.results} count={answer.data.count} from={from} />}
    </Card>
  )
}

type ShownProps = { readonly events: readonly RelatedEvent[]; readonly count: number; readonly from: number }

function Shown({ events, count, from }: ShownProps) {
  const navigate = useNavigate()
  const measured = useMemo(
    () =>
      events
        .filter(({ affected_bps }) => affected_bps > 0)
        .map((event) => ({ event, at: Math.max(from, new Date(event.start).getTime()) }))
        .toSorted((a, b) => a.at - b.at),
    [events, from],
  )
  if (count === 0) {
    return (
      <Text size="sm" c="dimmed">
        None was seen on what your team holds.
      </Text>
    )
  }
  const rateOf = (isOver: boolean): (number | null)[] =>
    measured.map(({ event }) => ((event.end !== null) === isOver ? event.affected_bps : null))
  const series: readonly PlotSeries[] = [
    { label: 'Over', unit: 'bps', color: 'blue', values: rateOf(true) },
    { label: 'Going on', unit: 'bps', color: 'red', isDashed: true, values: rateOf(false) },
  ]
  const open = (index: number) => {
    const { id } = measured[index]!.event
    void navigate({ to: '/events/$id' as never, params: { id } as never })
  }
  return (
    <>
      <Summary events={events} count={count} plotted={measured.length} />
      {measured.length > 0 && (
        <Plot
          label={`Attacks of the last ${days} days by their peak`}
          times={measured.map(({ at }) => at)}
          series={series.filter(({ values }) => values.some((value) => value !== null))}
          range={[from, Math.max(Date.now(), from + days * dayMs)]}
          isScatter
          height={220}
          wordsOf={(index) => wordsFor(measured[index]!.event)}
          onPick={open}
        />
      )}
    </>
  )
}

const wordsFor = (event: RelatedEvent): string =>
  `${event.affected_network || 'unknown network'}, ${event.classification_key}, ${durationOf(event)}`

function Summary({ events, count, plotted }: Pick<ShownProps, 'events' | 'count'> & { plotted: number }) {
  // Ordered by rate: the first is the largest of all, read or not.
  const [largest] = events
  const isPartial = events.length < count
  const unmeasured = events.length - plotted
  return (
    <Text size="sm" c="dimmed" component="div">
      {count.toLocaleString('en')} {count === 1 ? 'attack' : 'attacks'}
      {largest && largest.affected_bps > 0 && (
        <>
          , the largest of {formatRate(largest.affected_bps, 'bps')} on{' '}
          <Anchor
            component={Link}
            to="/events/$id"
            params={{ id: largest.id } as never}
            ff="monospace"
            size="sm"
          >
            {largest.affected_network || 'an unknown network'}
          </Anchor>
        </>
      )}
      .{isPartial && ` Only the ${events.length.toLocaleString('en')} largest are shown here.`}
      {unmeasured > 0 &&
        ` Of ${unmeasured.toLocaleString('en')} no rate is known: they are in the list only.`}
    </Text>
  )
}
