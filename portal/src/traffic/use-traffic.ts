// The traffic of a view: the one way from a view and a time range to the rows of a chart, for the explorer, for cards and for
// pinned views, so that the same view is the same picture everywhere.
import { useMemo } from 'react'
import { useRouter } from '@tanstack/react-router'
import type { Span, TimeRange } from '../ui/time-range.ts'
import { useZone, zoneName } from '../ui/time.tsx'
import { flowRequest } from './flow-request.ts'
import { dimensionsOf, rowsOf } from './traffic-rows.ts'
import { viewAddress, type TrafficView } from './traffic-view.ts'
import { useFlows } from './use-flows.ts'
import { words } from './words.ts'

/** While the next view loads, `rows` belong to the answer on the screen. */
export function useTraffic(view: TrafficView, span: Span, isEnabled = true) {
  const [zone] = useZone()
  const timeZone = zoneName(zone)
  const request = useMemo(() => flowRequest(view, span, timeZone), [view, span.start, span.end, timeZone])
  const isUpToNow = span.end === undefined
  const answer = useFlows(request, isUpToNow, isEnabled)
  const { data } = answer
  const { by, rank } = view
  const rows = useMemo(() => {
    const shown = answer.isPlaceholderData && data ? dimensionsOf(data.series) : by
    return rowsOf(data?.series ?? [], shown, rank, data?.previous?.series)
  }, [data, answer.isPlaceholderData, by, rank])
  return {
    request,
    answer,
    isUpToNow,
    rows,
    hasTraffic: rows.some(({ series }) => (series.max ?? 0) > 0),
  }
}

/** Returns the address of the explorer with the view and the range, for a click on the chart. */
export function useExplorer(view: TrafficView, { range, from, to }: TimeRange) {
  const router = useRouter()
  const search = { ...viewAddress(view), range, from, to }
  const { href } = router.buildLocation({ to: '/traffic', search })
  return { search, opens: { href, hint: words.picture.openHint } }
}
