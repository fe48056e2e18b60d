// The traffic of one thing on its own page: a prefix, an announcement, a port, an address, or all of the team, with a link to the
// explorer with the same view. It shows the time range of its page.
import { SegmentedControl } from '@mantine/core'
import { useMemo, useState } from 'react'
import { Chart } from '../charts/chart.tsx'
import { ButtonLink } from '../ui/link.tsx'
import { problemText } from '../ui/problem-text.ts'
import { Section } from '../ui/section.tsx'
import { TimeRangeField } from '../ui/time-range-field.tsx'
import { usePageRange } from '../ui/use-page-range.ts'
import { failureOf } from './flow-problem.tsx'
import { MarkedPicture, networkOf } from './marked-picture.tsx'
import { defaultView, filterText, type Direction, type FlowFilter, type TrafficView } from './traffic-view.ts'
import { useExplorer, useTraffic } from './use-traffic.ts'
import { words } from './words.ts'

const { card: texts } = words

const groupings = ['direction', 'protocol', 'family'] as const
type Grouping = (typeof groupings)[number]

export type TrafficCardProps = {
  /** Without filters, all traffic of the team. */
  readonly filters?: readonly FlowFilter[]
  /** The object of the traffic, for screen readers. */
  readonly name: string
  readonly direction?: Direction
  readonly title?: string
  /** A note on differences from other figures of the page. */
  readonly note?: string
  /** False: another card of the page has the field of its time range. */
  readonly hasRange?: boolean
  readonly height?: number
  /** Omits the card if there is no traffic. A failure is still reported. */
  readonly isOptional?: boolean
  /** Takes no room until its traffic is known, so that the page below does not move twice. */
  readonly isLate?: boolean
}

const noFilters: readonly FlowFilter[] = []

export function TrafficCard(props: TrafficCardProps) {
  const { filters = noFilters, name, direction = 'both', title = texts.title, note } = props
  const { hasRange = true, height = 220, isOptional = false, isLate = false } = props
  const [by, setBy] = useState<Grouping>(direction === 'both' ? 'direction' : 'protocol')
  const { range, span, setRange, zoom } = usePageRange()
  const view = useViewOf(filters, direction, by)
  const { answer, rows, hasTraffic } = useTraffic(view, span)
  const { search, opens } = useExplorer(view, range)
  if (isOptional && answer.data && !hasTraffic) return null
  if (isLate && answer.isPending) return null
  const failure = answer.error && !answer.data ? failureOf(answer.error) : undefined
  const label = texts.of(name)
  return (
    <Section
      title={title}
      {...(note === undefined ? {} : { note })}
      actions={
        <>
          <SegmentedControl
            size="xs"
            aria-label={texts.by}
            value={by}
            data={groupings
              .filter((one) => direction === 'both' || one !== 'direction')
              .map((value) => ({ value, label: texts[value] }))}
            onChange={(next) => setBy(next as Grouping)}
          />
          {hasRange && <TimeRangeField value={range} onChange={setRange} canBeAny={false} />}
          <ButtonLink size="xs" variant="subtle" to="/traffic" search={search}>
            {texts.explore}
          </ButtonLink>
        </>
      }
    >
      {answer.data && hasTraffic ? (
        <MarkedPicture
          view={view}
          span={span}
          title={label}
          answer={answer.data}
          rows={rows.filter(({ isOthers, series }) => !isOthers || (series.max ?? 0) > 0)}
          hasMarks={networkOf(view) !== undefined}
          height={height}
          zoom={zoom}
          opens={opens}
          isPlaceholder={answer.isPlaceholderData}
          hasLegend
        />
      ) : (
        <Chart
          label={label}
          kind="area"
          times={[]}
          series={[]}
          height={height}
          isLoading={answer.isPending}
          {...(failure === undefined
            ? {}
            : {
                error: failure === 'store' ? words.state.storeTitle : problemText(answer.error).title,
                onRetry: () => void answer.refetch(),
              })}
          emptyText={texts.none}
        />
      )}
    </Section>
  )
}

/** As many groups as series colors: a card has no table below it. */
const groupsMax = 7

/** Keeps its identity while its parts are the same. */
function useViewOf(filters: readonly FlowFilter[], direction: Direction, by: Grouping): TrafficView {
  const text = filterText(filters)
  return useMemo(
    () => ({
      ...defaultView,
      direction,
      by: [by],
      top: groupsMax,
      filters,
      chart: by === 'direction' ? 'lines' : 'stacked',
    }),
    [text, direction, by],
  )
}
