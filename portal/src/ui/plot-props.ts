// The content of a plot.
import type { formatRate } from './rate.ts'

export type PlotUnit = Parameters<typeof formatRate>[1]

export type PlotSeries = {
  readonly label: string
  readonly unit: PlotUnit
  /** One for each of the times; null if there is none. */
  readonly values: readonly (number | null)[]
  readonly color: 'blue' | 'orange' | 'red'
  /** Distinguishes the series without its colour: a dashed line, larger points. */
  readonly isDashed?: boolean
}

export type PlotProps = {
  readonly label: string
  /** Milliseconds since 1970, ascending. */
  readonly times: readonly number[]
  /** Those of one unit share an axis; there may be two units. */
  readonly series: readonly PlotSeries[]
  /** Events: a vertical line with a label each. */
  readonly marks?: readonly { readonly at: number; readonly label: string }[]
  readonly thresholds?: readonly { readonly value: number; readonly unit: PlotUnit; readonly label: string }[]
  /** Start and end of the time axis; if left out, those of the values. */
  readonly range?: readonly [number, number]
  /** Single points on a logarithmic scale, for independent values. */
  readonly isScatter?: boolean
  /** Describes a point beside its value. */
  readonly pointText?: (index: number) => string
  readonly onPick?: (index: number) => void
  readonly height?: number
}
