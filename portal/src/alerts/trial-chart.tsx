// The values that a rule compares, with its limit and its firings.
import type { AlertTrial } from '@pharos/contract/alert/alert-rule'
import { Chart } from '../charts/chart.tsx'
import type { ChartMark, ChartProps, ChartThreshold } from '../charts/chart-props.ts'
import { words } from './words.ts'

type TrialChartProps = Pick<
  ChartProps,
  'isLoading' | 'isPlaceholder' | 'error' | 'onRetry' | 'onZoom' | 'isZoomed'
> & {
  readonly label: string
  readonly trial: AlertTrial | undefined
  /** The limit now, which may be newer than the trial. */
  readonly threshold?: number
  readonly marks: readonly ChartMark[]
}

export function TrialChart({ label, trial, threshold, marks, ...rest }: TrialChartProps) {
  const series = trial?.timeseries.series[0]
  const limit: readonly ChartThreshold[] =
    trial === undefined
      ? []
      : [{ value: threshold ?? trial.threshold, unit: trial.unit, label: words.limit, color: 'bad' }]
  return (
    <Chart
      {...rest}
      label={label}
      kind="lines"
      times={(trial?.timeseries.timestamps ?? []).map((at) => Date.parse(at))}
      series={
        series && trial ? [{ label: words.value, unit: trial.unit, color: 1, values: series.values }] : []
      }
      thresholds={limit}
      marks={marks}
      {...(trial
        ? { range: [Date.parse(trial.timeseries.start), Date.parse(trial.timeseries.end)] as const }
        : {})}
      height={240}
      emptyText={words.noValues}
    />
  )
}

/** A range for each firing; an open one ends with the chart. */
export const marksOf = (
  firings: readonly { readonly started: string; readonly ended: string | null }[],
  endMs: number,
): ChartMark[] =>
  firings.map(({ started, ended }) => ({
    at: Date.parse(started),
    until: ended === null ? endMs : Date.parse(ended),
    label: words.firing,
    state: 'bad',
  }))
