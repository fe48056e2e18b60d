// Traffic of a team: rates of its flows over time, and the graph between two or more keys. Reads, although they are POST: the
// filters would not fit into a URL.
import { Type, type Static } from 'typebox'
import { filterOperators, flowKeyNames, type FlowKey } from './flow-key.ts'
import { flowDelay } from './flow-delay.ts'
import { route } from '../route.ts'
import { Component, Enumeration, Id, Nullable, Optional, Time } from '../scalar.ts'
import { bucketQuery, Series, Timeseries } from '../timeseries.ts'

/** `bps`, `pps`: bits and packets a second; `bytes`, `packets`, `flows`: totals of each bucket. */
export const flowMetrics = ['bps', 'pps', 'bytes', 'packets', 'flows'] as const
export type FlowMetric = (typeof flowMetrics)[number]
export const flowDirections = ['in', 'out', 'both'] as const
export type FlowDirection = (typeof flowDirections)[number]
/** The figure by which the largest series are chosen. */
export const flowRanks = ['avg', 'max', 'last', 'p95'] as const
export type FlowRank = (typeof flowRanks)[number]
const flowComparisons = ['none', 'previous_period'] as const

const flowGroupingsMax = 4
const flowFiltersMax = 20

const FlowKeyName = Type.Enum<FlowKey[]>(flowKeyNames, { title: 'FlowKey' })

const FilterValue = Type.Union([
  Type.String({ maxLength: 100 }),
  Type.Integer({ minimum: 0, maximum: 999_999_999_999_999 }),
])

export const FlowFilter = Component(
  'FlowFilter',
  {
    key: { ...FlowKeyName, description: 'what is compared: see getFilterKeys' },
    op: {
      ...Enumeration('FilterOperator', filterOperators),
      description: 'the comparison; getFilterKeys lists those of each key',
    },
    value: Type.Union([FilterValue, Type.Array(FilterValue, { minItems: 1, maxItems: 100 })], {
      description: 'a list for `in` and `not_in`, one value for the others',
    }),
  },
  { description: 'A condition on flows. All filters of a request apply.' },
)
export type FlowFilter = Static<typeof FlowFilter>

const Metric = Optional({
  ...Enumeration('FlowMetric', flowMetrics),
  description:
    '`bps` by default. `bps`, `pps`: bits and packets per second; `bytes`, `packets`, `flows`: totals of each bucket',
})

const selection = {
  start: Optional({ ...Time, description: 'start of the window; 24 hours before its end by default' }),
  end: Optional({ ...Time, description: 'end of the window; now by default' }),
  metric: Metric,
  filters: Optional(
    Type.Array(FlowFilter, { maxItems: flowFiltersMax, description: 'conditions, all of which apply' }),
  ),
  direction: Optional({
    ...Enumeration('FlowDirection', flowDirections),
    description: '`both` by default. Traffic within the team counts in `in` and in `out`, and once in `both`',
  }),
  team_id: Optional({
    ...Id,
    description: 'the traffic of this team; another one than that of the credential is for staff',
  }),
  all_teams: Optional(
    Type.Boolean({
      description: 'for staff: the traffic of all teams and of nobody, each flow once; not with `team_id`',
    }),
  ),
}

const GroupBy = (minItems: number) =>
  Type.Array(FlowKeyName, {
    minItems,
    maxItems: flowGroupingsMax,
    uniqueItems: true,
    description: 'the keys whose values make the series',
  })

export const FlowTimeseriesRequest = Component('FlowTimeseriesRequest', {
  ...selection,
  ...bucketQuery,
  group_by: Optional(GroupBy(0)),
  limit: Optional(
    Type.Integer({
      minimum: 1,
      maximum: 50,
      description: 'the most series, beside that of all others; 10 by default',
    }),
  ),
  limit_by: Optional({
    ...Enumeration('FlowRank', flowRanks),
    description: 'the figure by which the largest series are chosen and ordered; `avg` by default',
  }),
  include_other: Optional(Type.Boolean({ description: 'a series of all others together; true by default' })),
  compare: Optional({
    ...Enumeration('FlowComparison', flowComparisons),
    description: '`previous_period`: the same series of the window before, equally long; `none` by default',
  }),
})
export type FlowTimeseriesRequest = Static<typeof FlowTimeseriesRequest>

/** The data behind the figures of an answer. */
const quality = {
  sampled: Type.Boolean({
    description: 'whether exporters sample packets; figures are multiplied by the sampling rate',
  }),
  sampling_rate: Nullable(
    Type.Integer({
      minimum: 1,
      description: 'one of this many packets; null if rates differ or are unknown',
    }),
  ),
  resolution: Type.Integer({ minimum: 1, description: 'seconds of the rows that were read' }),
  partial: Type.Boolean({
    description:
      'whether figures may be too low: part of the window is older than what is kept for these keys, flows of an exporter with unknown sampling rate are counted ' +
      'as they are, `delay_seconds` is more than 30 within the window, or a collector lost flows of it',
  }),
  ...flowDelay,
}

const PreviousPeriod = Component('PreviousPeriod', {
  start: { ...Time, description: 'start of the first bucket' },
  end: { ...Time, description: 'end of the last bucket' },
  timestamps: Type.Array(Time, { description: 'the start of each bucket' }),
  series: Type.Array(Series, { description: 'the series of the answer, in their order' }),
})

export const FlowTimeseries = Component('FlowTimeseries', {
  ...Timeseries.properties,
  ...quality,
  previous: Nullable(PreviousPeriod),
})
export type FlowTimeseries = Static<typeof FlowTimeseries>

export const FlowNode = Component('FlowNode', {
  key: { ...FlowKeyName, description: 'the key of the column' },
  value: Nullable(Type.String({ description: 'the value of the key; null: all others together' })),
  label: Type.String({ description: 'name for people' }),
  total: Type.Number({ description: 'mean of the metric over the window, or its total' }),
})
export type FlowNode = Static<typeof FlowNode>

const FlowLink = Component('FlowLink', {
  source: Type.Integer({ minimum: 0, description: 'index of the node in `nodes`' }),
  target: Type.Integer({ minimum: 0, description: 'index of a node of the next key' }),
  value: Type.Number({ description: 'the traffic that both nodes have in common' }),
})

export const FlowGraph = Component('FlowGraph', {
  start: { ...Time, description: 'start of the window, on whole rows' },
  end: { ...Time, description: 'end of the window' },
  unit: Type.String({ description: '`bps`, `pps`, `bytes`, `packets` or `flows`' }),
  nodes: Type.Array(FlowNode, { description: 'column by column in the order of `group_by`, largest first' }),
  links: Type.Array(FlowLink, { description: 'between nodes of adjacent columns, largest first' }),
  ...quality,
})
export type FlowGraph = Static<typeof FlowGraph>

export const FlowGraphRequest = Component('FlowGraphRequest', {
  ...selection,
  group_by: GroupBy(2),
  limit: Optional(
    Type.Integer({ minimum: 1, maximum: 50, description: 'the most nodes of a key; 10 by default' }),
  ),
})
export type FlowGraphRequest = Static<typeof FlowGraphRequest>

const reading = {
  credential: 'any',
  module: 'lighthouse',
  scope: 'lighthouse:read',
  grant: 'lighthouse.see',
} as const
const errors = ['forbidden', 'query_too_expensive'] as const

export const getFlowTimeseriesRoute = route({
  name: 'getFlowTimeseries',
  group: 'Analysis',
  method: 'POST',
  path: '/v3/lighthouse/network/flows/timeseries',
  summary: 'Network Flow Timeseries',
  description:
    "Traffic of the team over time, from the flows of the provider's routers. Only flows from and to the networks that the " +
    'team held when they were received. `group_by` makes one series for each combination of values, the largest first, and one ' +
    'of all others, with null for each key. The request is answered from one-minute or one-hour sums if all its keys are ' +
    'direction, protocol and prefix, or device, interface and direction, or protocol, service port and direction; from single flows otherwise, ' +
    'which are kept for 15 days by default; remote AS and country are also kept by hour. Sums by minute are kept as long as flows, those by hour for 400 days: ' +
    '`interval` is rounded up to what is kept, which `resolution` states. A bucket in which no flow of the team was received is null, as is the ' +
    'time after now; 0 means that there were flows of the team, but none of the series. Rates of the current bucket are over its time until now. ' +
    'A query that would take more than 10 seconds returns query_too_expensive, with the keys without which sums answer it, and a later start, in `errors`.',
  permission: reading,
  body: FlowTimeseriesRequest,
  bodyOptional: true,
  response: FlowTimeseries,
  success: 200,
  keyless: 'read',
  errors,
})

export const exportFlowTimeseriesRoute = route({
  name: 'exportFlowTimeseries',
  group: 'Analysis',
  method: 'POST',
  path: '/v3/lighthouse/network/flows/timeseries/csv',
  summary: 'Network Flow Timeseries as CSV',
  description:
    'The answer of getFlowTimeseries to the same request as CSV (RFC 4180), one line for each bucket and series: `start`, a column for each key of ' +
    '`group_by`, `label`, the metric, and with `compare` its value in the previous period. Values that are null are empty; so are the keys of all others together.',
  permission: reading,
  body: FlowTimeseriesRequest,
  bodyOptional: true,
  success: 200,
  download: ['text/csv'],
  keyless: 'read',
  errors,
})

export const getFlowGraphRoute = route({
  name: 'getFlowGraph',
  group: 'Analysis',
  method: 'POST',
  path: '/v3/lighthouse/network/flows/graph',
  summary: 'Network Flow Graph',
  description:
    'The traffic of a window as a Sankey diagram: a column of nodes for each key of `group_by`, and links between the nodes of adjacent columns. ' +
    'Rates are means over the window. Filters, directions and what is kept are those of getFlowTimeseries.',
  permission: reading,
  body: FlowGraphRequest,
  response: FlowGraph,
  success: 200,
  keyless: 'read',
  errors,
})

export const flowRoutes = [getFlowTimeseriesRoute, exportFlowTimeseriesRoute, getFlowGraphRoute]
