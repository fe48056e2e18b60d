// The content of a chart as props; charts send no requests.
import type { ReactNode } from 'react'
import type { Unit } from './units.ts'

export type State = 'ok' | 'warn' | 'bad' | 'info' | 'idle'

/**
 * A slot of the series colors, a state if the series is one, or a step of an ordered scale, which has one hue. Slot 8 is for
 * "others".
 */
export type ChartColor = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | State | 'scale-1' | 'scale-2' | 'scale-3' | 'scale-4'

/** The colors of both directions, on every chart of traffic. */
export const directionColors = { in: 1, out: 2 } as const

export type ChartKind =
  | 'area'
  | 'stacked-area'
  | 'bars'
  | 'stacked-bars'
  | 'lines'
  | 'band'
  | 'scatter'
  | 'heatmap'

/** Null is a gap; undefined is a time at which only other series were measured, over which the line is drawn. */
export type ChartValues = readonly (number | null | undefined)[]

export type ChartSeries = {
  readonly label: string
  readonly unit: Unit
  readonly color: ChartColor
  /** One value per time. */
  readonly values: ChartValues
  /** The range around the values, for a band. */
  readonly low?: ChartValues
  readonly high?: ChartValues
  /** Distinguishes the series without its color: a dashed line, larger points. */
  readonly isDashed?: boolean
  /** A line over a stack, which is not part of its sum. */
  readonly isLine?: boolean
}

/** An event: a labelled line, or a labelled range if it has an end. */
export type ChartMark = {
  readonly at: number
  readonly until?: number
  readonly label: string
  readonly state?: State
  /** The address of the event. */
  readonly href?: string
  /** Listed below the chart only: a line for each of many events would hide the values. */
  readonly isMinor?: boolean
}

/** A dashed line whose name and value are in the legend, where they cover nothing. */
export type ChartThreshold = {
  readonly value: number
  readonly unit: Unit
  readonly label: string
  /** By default that of a warning. */
  readonly color?: ChartColor
}

export type TimeRange = readonly [from: number, to: number]

/** The point under the pointer, in CSS pixels from the corner of the chart. */
export type ChartPoint = {
  readonly index: number
  readonly x: number
  readonly y: number
  /** Index of the series of this heatmap cell. */
  readonly row?: number
  /** The column of the bar or cell. */
  readonly column?: {
    readonly left: number
    readonly top: number
    readonly width: number
    readonly height: number
  }
}

export type ChartProps = {
  /** The name of the chart, for screen readers. */
  readonly label: string
  readonly kind: ChartKind
  /** Milliseconds since 1970, ascending. Of bars and cells: the start of each period. */
  readonly times: readonly number[]
  /** Series with the same unit share an axis; at most two units. Stacks have one. */
  readonly series: readonly ChartSeries[]
  readonly marks?: readonly ChartMark[]
  readonly thresholds?: readonly ChartThreshold[]
  /** Start and end of the time axis; by default the first and last time. */
  readonly range?: TimeRange
  /** Length of the period of a bar or cell; if left out, the shortest interval between two times. */
  readonly periodMs?: number
  /** The last moment of a single measurement, which is drawn as a step; if left out, the end of the range. */
  readonly heldUntil?: number
  /** Index of the first bar that is a forecast. */
  readonly forecastFrom?: number
  /** Powers of ten, for values of very different size. */
  readonly isLog?: boolean
  /** Describes a point beside its value, such as the name of an attack. */
  readonly pointText?: (index: number) => string
  /** Names a point's time, such as a whole day; if left out, date and time. */
  readonly timeText?: (time: number) => string
  /** The address that a click or Enter on a point opens. */
  readonly hrefOf?: (index: number) => string | undefined
  /** The address that a click or Enter anywhere opens, with a text for it. */
  readonly opens?: { readonly href: string; readonly hint: string }
  /** Called when a point is clicked or entered. */
  readonly onSelect?: (index: number) => void
  /** Called with the range that was dragged, and undefined for Reset. If left out, the chart zooms by itself. */
  readonly onZoom?: (range: TimeRange | undefined) => void
  /** Whether the range is zoomed; Reset restores the earlier one. */
  readonly isZoomed?: boolean
  /** Labels of series that the legend shows only when they are chosen. Read once. */
  readonly hiddenAtFirst?: readonly string[]
  /** False: the page has its own legend. */
  readonly hasLegend?: boolean
  readonly height?: number
  readonly isLoading?: boolean
  /** The values belong to an earlier request until this one is answered. */
  readonly isPlaceholder?: boolean
  /** Replaces the drawing with an error and a Retry. */
  readonly error?: string
  readonly onRetry?: () => void
  readonly emptyText?: ReactNode
}
