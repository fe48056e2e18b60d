// The request of a traffic view for a time span, and the command of curl that sends it. Pure.
import type { FlowGraphRequest, FlowTimeseriesRequest } from '@pharos/contract/flow/flow'
import type { Span } from '../ui/time-range.ts'
import type { ChartKind, FlowFilter, TrafficView } from './traffic-view.ts'

/** Maximum number of columns of a heatmap: a cell must be large enough to tap on a phone. */
const points: Readonly<Record<ChartKind, number>> = {
  stacked: 240,
  lines: 240,
  percent: 240,
  grid: 80,
  heatmap: 96,
  sankey: 240,
}

/** Operators that take a list of values. */
const takesMany = new Set<FlowFilter['op']>(['in', 'not_in'])

/** Returns the request of the view. */
export function flowRequest(view: TrafficView, span: Span, timezone: string): FlowTimeseriesRequest {
  return {
    ...span,
    points: points[view.chart],
    metric: view.metric,
    direction: view.direction,
    group_by: [...view.by],
    filters: requestFilters(view.filters),
    limit: view.top,
    limit_by: view.rank,
    include_other: true,
    compare: view.isCompared ? 'previous_period' : 'none',
    timezone,
  } as FlowTimeseriesRequest
}

/** Returns the request of the flow diagram of the view, which needs two dimensions. */
export function graphRequest(view: TrafficView, span: Span): FlowGraphRequest {
  return {
    ...span,
    metric: view.metric,
    direction: view.direction,
    group_by: [...view.by],
    filters: requestFilters(view.filters),
    limit: view.top,
  } as FlowGraphRequest
}

/** Returns filters as the API takes them. */
const requestFilters = (filters: readonly FlowFilter[]) =>
  filters.map(({ key, op, values }) => ({ key, op, value: takesMany.has(op) ? [...values] : values[0]! }))

/** Returns the command that sends the request with an API token. */
export const curlOf = (origin: string, path: string, request: FlowTimeseriesRequest): string =>
  [
    `curl -X POST '${origin}${path}'`,
    `-H "Authorization: Token $PHAROS_TOKEN"`,
    `-H 'Content-Type: application/json'`,
    `-d '${JSON.stringify(request).replaceAll("'", String.raw`'\''`)}'`,
  ].join(' \\\n  ')
