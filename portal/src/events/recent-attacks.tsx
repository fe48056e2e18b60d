// The attacks of the last 30 days as points, by start and peak rate: repetition and outliers show without reading rows.
import { Skeleton, Text } from '@mantine/core'
import { listRelatedEventsRoute, type RelatedEvent } from '@pharos/contract/analysis'
import { classificationLabel } from '@pharos/contract/classification'
import { useMemo } from 'react'
import { useAnswer } from '../api/queries.ts'
import type { ChartSeries } from '../charts/chart-props.ts'
import { Chart } from '../charts/chart.tsx'
import { TextLink } from '../ui/link.tsx'
import { Problem } from '../ui/problem.tsx'
import { formatRate } from '../ui/rate.ts'
import { Section } from '../ui/section.tsx'
import { durationOf } from './event-duration.ts'

const days = 30
const dayMs = 86_400_000
const hourMs = 3_600_000
/** Maximum page size: if there are more attacks, the largest ones. */
const readMax = 1000

export function RecentAttacks() {
  // In whole hours, so that the query stays the same between refreshes.
  const from = Math.floor(Date.now() / hourMs) * hourMs - days * dayMs
  const start = new Date(from).toISOString()
  const answer = useAnswer(
    listRelatedEventsRoute,
    { query: { start, ordering: '-affected_bps', limit: readMax } },
    { refetchInterval: 30_000 },
  )
  return (
    <Section
      title={`Attacks in the last ${days} days`}
      actions={
        <TextLink to="/events" search={{ start }} size="sm">
          View as list
        </TextLink>
      }
    >
      {answer.isPending && <Skeleton height={240} />}
      {answer.error && !answer.data && <Problem error={answer.error} />}
      {answer.data && <Shown events={answer.data.results} count={answer.data.count} from={from} />}
    </Section>
  )
}

type ShownProps = { readonly events: readonly RelatedEvent[]; readonly count: number; readonly from: number }

function Shown({ events, count, from }: ShownProps) {
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
        No attacks on your networks.
      </Text>
    )
  }
  const rateOf = (hasEnded: boolean): (number | null)[] =>
    measured.map(({ event }) => ((event.end !== null) === hasEnded ? event.affected_bps : null))
  const series: readonly ChartSeries[] = [
    { label: 'Ended', unit: 'bps', color: 1, values: rateOf(true) },
    { label: 'Ongoing', unit: 'bps', color: 'bad', isDashed: true, values: rateOf(false) },
  ]
  return (
    <>
      <Summary events={events} count={count} plotted={measured.length} />
      {measured.length > 0 && (
        <Chart
          kind="scatter"
          isLog
          label={`Attacks in the last ${days} days by peak rate`}
          times={measured.map(({ at }) => at)}
          series={series.filter(({ values }) => values.some((value) => value !== null))}
          range={[from, Math.max(Date.now(), from + days * dayMs)]}
          height={220}
          pointText={(index) => summaryOf(measured[index]!.event)}
          hrefOf={(index) => `/events/${measured[index]!.event.id}`}
        />
      )}
    </>
  )
}

const summaryOf = (event: RelatedEvent): string =>
  `${event.affected_network || 'Unknown network'}, ${classificationLabel(event.classification_key)}, ${durationOf(event)}`

function Summary({ events, count, plotted }: Pick<ShownProps, 'events' | 'count'> & { plotted: number }) {
  // Ordered by rate: the first is the largest of all, also of those that were not read.
  const [largest] = events
  const isPartial = events.length < count
  const unmeasured = events.length - plotted
  return (
    <Text size="sm" c="dimmed" component="div">
      {count.toLocaleString('en')} {count === 1 ? 'attack' : 'attacks'}
      {largest && largest.affected_bps > 0 && (
        <>
          , largest {formatRate(largest.affected_bps, 'bps')} on{' '}
          <TextLink to="/events/$id" params={{ id: largest.id }} ff="monospace" size="sm">
            {largest.affected_network || 'an unknown network'}
          </TextLink>
        </>
      )}
      .{isPartial && ` Showing the ${events.length.toLocaleString('en')} largest.`}
      {unmeasured > 0 &&
        ` ${unmeasured.toLocaleString('en')} ${unmeasured === 1 ? 'attack has' : 'attacks have'} no measured rate; see the list.`}
    </Text>
  )
}
