// The time range of a page, in its address: all charts of the page show it, and a zoom of one of them changes it.
import { useMemo } from 'react'
import { readRange, type ReadRange, type TimeRange } from './time-range.ts'
import { useZone, zoneName } from './time.tsx'
import { useNow } from './use-now.ts'
import { usePageSearch } from './use-page-search.ts'
import { useRangeZoom } from './use-range-zoom.ts'

type PageRange = ReadRange & {
  readonly setRange: (range: TimeRange) => void
  readonly zoom: Pick<ReturnType<typeof useRangeZoom>, 'isZoomed' | 'onZoom'>
}

/** `byDefault` is the range without one in the address, the last 24 hours if it is left out; `ignored` is what cannot be read. */
export function usePageRange(byDefault?: TimeRange): PageRange {
  // The parameters of a range have the same names on every page.
  const { search, setSearch } = usePageSearch('/traffic')
  const [zone] = useZone()
  const timeZone = zoneName(zone)
  const now = useNow()
  const { range: quick, from, to } = search
  const read = useMemo(
    () => readRange({ range: quick, from, to }, now, timeZone, byDefault),
    [quick, from, to, now, timeZone, byDefault?.from, byDefault?.range],
  )
  const setRange = (next: TimeRange) => setSearch({ range: next.range, from: next.from, to: next.to })
  const { isZoomed, onZoom } = useRangeZoom(read.range, setRange)
  return { ...read, setRange, zoom: { isZoomed, onZoom } }
}
