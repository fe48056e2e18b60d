// Attacks over time as bars stacked by their peak: a small answer of counts, whatever the number of attacks.
import { getRelatedTimeseriesRoute } from '@pharos/contract/analysis'
import { ProblemError } from '@pharos/contract/client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { answerOf, refetchIntervalOf } from '../api/queries.ts'
import type { TimeRange as Milliseconds } from '../charts/chart-props.ts'
import { Chart } from '../charts/chart.tsx'
import { problemText } from '../ui/problem-text.ts'
import type { Span, TimeRange } from '../ui/time-range.ts'
import { formatTime, useZone, zoneName } from '../ui/time.tsx'
import { barsOf, bucketsOf, rangeOfBar } from './by-day.ts'
import classes from './events.module.css'
import { words } from './words.ts'

const { byDay: texts } = words
const daySeconds = 86_400

type AttacksByDayProps = {
  readonly label: string
  readonly span: Span
  /** Filters of the list of events. */
  readonly filters?: Readonly<Record<string, unknown>>
  readonly height: number
  /** Below the bars, if there are any. */
  readonly hint?: string
  /** Called with the period of a bar that is clicked. */
  readonly onPeriod: (range: TimeRange) => void
  readonly onZoom?: (range: Milliseconds | undefined) => void
  readonly isZoomed?: boolean
}

export function AttacksByDay({
  label,
  span,
  filters = {},
  height,
  hint,
  onPeriod,
  onZoom,
  isZoomed,
}: AttacksByDayProps) {
  const [zone] = useZone()
  const timeZone = zoneName(zone)
  const query = { ...filters, ...bucketsOf(span, Date.now(), timeZone), group_by: 'peak_bps' as const }
  const answer = useQuery({
    ...answerOf(getRelatedTimeseriesRoute, { query }),
    placeholderData: keepPreviousData,
    refetchInterval: () => refetchIntervalOf(getRelatedTimeseriesRoute, 30_000),
  })
  const bars = useMemo(() => answer.data && barsOf(answer.data), [answer.data])
  const isDays = query.interval % daySeconds === 0
  const timeText = useMemo(() => {
    if (!isDays) return (time: number) => formatTime(new Date(time).toISOString(), zone)
    const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone })
    return (time: number) => format.format(time)
  }, [isDays, zone, timeZone])
  // The list names a filter that the API refuses, and leaves it out.
  if (!answer.data && answer.error instanceof ProblemError && answer.error.problem.status === 422) return null
  const { data } = answer
  const chart = (
    <Chart
      kind="stacked-bars"
      label={label}
      times={bars?.times ?? []}
      series={bars?.series ?? []}
      height={height}
      isLoading={answer.isPending}
      emptyText={texts.none}
      timeText={timeText}
      {...(data
        ? {
            range: [Date.parse(data.start), Date.parse(data.end)],
            periodMs: data.interval * 1000,
            onSelect: (index: number) => onPeriod(rangeOfBar(data, index)),
          }
        : {})}
      {...(answer.error && !data
        ? { error: problemText(answer.error).title, onRetry: () => void answer.refetch() }
        : {})}
      {...(onZoom ? { onZoom } : {})}
      {...(isZoomed === undefined ? {} : { isZoomed })}
    />
  )
  return (
    <>
      {chart}
      {hint !== undefined && bars !== undefined && bars.total > 0 && (
        <p className={classes['hint']}>{hint}</p>
      )}
    </>
  )
}
