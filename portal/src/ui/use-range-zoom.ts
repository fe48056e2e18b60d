// The zoom of a chart that changes the time range of its page, and the way back.
import { isSameRange, rangeBetween, type TimeRange } from './time-range.ts'

type Zoom = {
  /** Whether the page shows a range that was zoomed to. */
  readonly isZoomed: boolean
  readonly zoomTo: (range: TimeRange) => void
  /** Takes the times that were dragged, in milliseconds; undefined restores the range before the first zoom. */
  readonly onZoom: (times: readonly [from: number, to: number] | undefined) => void
}

/** The last zoom, of whichever chart: all charts of a page have its range, and each offers the way back. */
let last: { readonly before: TimeRange; readonly to: TimeRange } | undefined

/** A range that is chosen in another way ends the zoom. */
export function useRangeZoom(range: TimeRange, setRange: (range: TimeRange) => void): Zoom {
  const before = last && isSameRange(last.to, range) ? last.before : undefined
  const zoomTo = (to: TimeRange) => {
    last = { before: before ?? range, to }
    setRange(to)
  }
  return {
    isZoomed: before !== undefined,
    zoomTo,
    onZoom: (times) => {
      if (times) zoomTo(rangeBetween(...times))
      else if (before) setRange(before)
    },
  }
}
