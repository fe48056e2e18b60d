// Attacks over time as bars stacked by their peak: a small answer of counts, whatever the number of attacks.
import { ProblemError } from '@pharos/contract/client'
import { getIncidentTimeseriesRoute } from '@pharos/contract/events/incident'
import type { Timeseries } from '@pharos/contract/timeseries'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { answerOverLastOf, refetchIntervalOf } from '../api/queries.ts'
import type { ChartProps, TimeRange as Milliseconds } from '../charts/chart-props.ts'
import { Chart } from '../charts/chart.tsx'
import { problemText } from '../ui/problem-text.ts'
import type { Span, TimeRange } from '../ui/time-range.ts'
import { timeIn } from '../ui/time-text.ts'
import { useZone, zoneName } from '../ui/time.tsx'
import { useNow } from '../ui/use-now.ts'
import { barsOf, bucketsOf, rangeOfBar } from './by-day.ts'
import classes from './events.module.css'
import { words } from './words.ts'

const { byDay: texts } = words
const daySeconds = 86_400

type AttacksByDayProps = {
  readonly label: string
  readonly span: Span
  /** Filters of the list of attacks. */
  readonly filters?: Readonly<Record<string, unknown>>
  readonly height: number
  /** Content below the bars. */
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
  const query = { ...filters, ...bucketsOf(span, useNow(), timeZone), group_by: 'peak_bps' as const }
  const answer = useQuery({
    ...answerOverLastOf(getIncidentTimeseriesRoute, { query }),
    refetchInterval: () => refetchIntervalOf(getIncidentTimeseriesRoute, 30_000),
  })
  // The list names a filter that the API refuses, and leaves it out.
  if (!answer.data && answer.error instanceof ProblemError && answer.error.problem.status === 422) return null
  const { data } = answer
  const isEmpty = data === undefined || data.series.every(({ max }) => (max ?? 0) === 0)
  return (
    <>
      <AttackBars
        label={label}
        data={data}
        timeZone={timeZone}
        height={height}
        isLoading={answer.isPending}
        isPlaceholder={answer.isPlaceholderData}
        onPeriod={onPeriod}
        {...(answer.error && !data
          ? { error: problemText(answer.error).title, onRetry: () => void answer.refetch() }
          : {})}
        {...(onZoom ? { onZoom } : {})}
        {...(isZoomed === undefined ? {} : { isZoomed })}
      />
      {hint !== undefined && !isEmpty && <p className={classes['hint']}>{hint}</p>}
    </>
  )
}

type AttackBarsProps = Pick<AttacksByDayProps, 'label' | 'height' | 'onPeriod' | 'onZoom' | 'isZoomed'> &
  Pick<ChartProps, 'isLoading' | 'isPlaceholder' | 'error' | 'onRetry'> & {
    /** Undefined until it is loaded. */
    readonly data: Timeseries | undefined
    readonly timeZone: string
  }

/** The bars of an answer. */
export function AttackBars({ data, timeZone, onPeriod, ...chart }: AttackBarsProps) {
  const bars = useMemo(() => data && barsOf(data), [data])
  const isDays = data !== undefined && data.interval % daySeconds === 0
  const timeText = useMemo(() => {
    const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone })
    return (time: number) => (isDays ? format.format(time) : timeIn(new Date(time).toISOString(), timeZone))
  }, [isDays, timeZone])
  return (
    <Chart
      kind="stacked-bars"
      times={bars?.times ?? []}
      series={bars?.series ?? []}
      emptyText={texts.none}
      timeText={timeText}
      {...(data
        ? {
            range: [Date.parse(data.start), Date.parse(data.end)],
            periodMs: data.interval * 1000,
            onSelect: (index: number) => onPeriod(rangeOfBar(data, index)),
          }
        : {})}
      {...chart}
    />
  )
}
