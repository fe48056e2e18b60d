// The traffic of one thing on its own page: a prefix, an announcement, a port, an address, or all of the team, by direction or by
// protocol, with a link to the explorer with the same view.
import { SegmentedControl } from '@mantine/core'
import type { FlowTimeseries } from '@pharos/contract/flow/flow'
import { useMemo, useState } from 'react'
import { Chart } from '../charts/chart.tsx'
import type { ChartMark } from '../charts/chart-props.ts'
import { ButtonLink } from '../ui/link.tsx'
import { problemText } from '../ui/problem-text.ts'
import type { Span } from '../ui/time-range.ts'
import { Section } from '../ui/section.tsx'
import { minuteMs, useNow } from '../ui/use-now.ts'
import { failureOf } from './flow-problem.tsx'
import { dimensionsOf, rowsOf } from './traffic-rows.ts'
import { filterText, viewAddress, defaultView, type Direction, type FlowFilter } from './traffic-view.ts'
import { requestFilters } from './flow-request.ts'
import { timesOf, useFlows } from './use-flows.ts'
import { words } from './words.ts'

const { card: texts } = words

export type TrafficCardProps = {
  /** Without filters, all traffic of the team. */
  readonly filters?: readonly FlowFilter[]
  /** The object of the traffic, for screen readers. */
  readonly name: string
  readonly direction?: Direction
  readonly title?: string
  /** A note on differences from other figures of the page. */
  readonly note?: string | ((answer: FlowTimeseries | undefined) => string)
  /** Times of the API; by default the last 24 hours. */
  readonly span?: Span
  readonly marks?: readonly ChartMark[]
  readonly height?: number
  /** Omits the card if there is no traffic. A failure is still reported. */
  readonly isOptional?: boolean
  /** Takes no room until its traffic is known, so that the page below does not move twice. */
  readonly isLate?: boolean
}

const hourMs = 3_600_000

export function TrafficCard({
  filters = [],
  name,
  direction = 'both',
  title = texts.title,
  note,
  span,
  marks = [],
  height = 220,
  isOptional = false,
  isLate = false,
}: TrafficCardProps) {
  const hasDirections = direction === 'both'
  const [by, setBy] = useState<'direction' | 'protocol'>(hasDirections ? 'direction' : 'protocol')
  const minute = Math.floor(useNow() / minuteMs) * minuteMs
  const text = filterText(filters)
  const request = useMemo(
    () => ({
      ...(span ?? { start: new Date(minute - 24 * hourMs).toISOString() }),
      metric: 'bps' as const,
      direction,
      group_by: [by],
      filters: requestFilters(filters) as never,
      limit: 7,
      points: 200,
    }),
    [minute, text, direction, by, span?.start, span?.end],
  )
  const answer = useFlows(request, span?.end === undefined)
  const series = answer.data?.series ?? []
  const shownBy = dimensionsOf(series)[0] ?? by
  const rows = useMemo(() => rowsOf(series, [shownBy], 'avg'), [answer.data, shownBy])
  const hasTraffic = rows.some(({ series }) => (series.max ?? 0) > 0)
  if (isOptional && answer.data && !hasTraffic) return null
  if (isLate && answer.isPending) return null
  const failure = answer.error && !answer.data ? failureOf(answer.error) : undefined
  return (
    <Section
      title={title}
      {...(note === undefined ? {} : { note: typeof note === 'string' ? note : note(answer.data) })}
      actions={
        <>
          {hasDirections && (
            <SegmentedControl
              size="xs"
              aria-label={texts.by}
              value={by}
              data={[
                { value: 'direction', label: texts.direction },
                { value: 'protocol', label: texts.protocol },
              ]}
              onChange={(next) => setBy(next as typeof by)}
            />
          )}
          <ButtonLink
            size="xs"
            variant="subtle"
            to="/traffic"
            search={{
              ...viewAddress({
                ...defaultView,
                direction,
                by: [by],
                filters,
                chart: by === 'direction' ? 'lines' : 'stacked',
              }),
              ...(span ? { from: span.start, to: span.end } : {}),
            }}
          >
            {texts.explore}
          </ButtonLink>
        </>
      }
    >
      <Chart
        label={texts.of(name)}
        kind={shownBy === 'direction' ? 'area' : 'stacked-area'}
        times={answer.data ? timesOf(answer.data) : []}
        series={(hasTraffic ? rows : [])
          .filter(({ isOthers, series }) => !isOthers || (series.max ?? 0) > 0)
          .map(({ label, color, series }) => ({
            label,
            unit: 'bps' as const,
            color:
              shownBy === 'direction'
                ? series.key['direction'] === 'out'
                  ? (2 as const)
                  : (1 as const)
                : color,
            values: series.values,
          }))}
        marks={marks}
        {...(answer.data
          ? { range: [Date.parse(answer.data.start), Date.parse(answer.data.end)] as const }
          : {})}
        height={height}
        isLoading={answer.isPending}
        isPlaceholder={answer.isPlaceholderData}
        {...(failure === undefined
          ? {}
          : {
              error: failure === 'store' ? words.state.storeTitle : problemText(answer.error).title,
              onRetry: () => void answer.refetch(),
            })}
        emptyText={texts.none}
      />
    </Section>
  )
}
