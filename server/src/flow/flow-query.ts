// Statements of series and graphs of flows: one function chooses the table, and one writes the condition on the team.
// Pure: a request, a clock and the retention give SQL and parameters.
import type { FlowKey } from '@pharos/contract/flow/flow-key'
import type { FlowDirection, FlowFilter, FlowMetric, FlowRank } from '@pharos/contract/flow/flow'
import type { Buckets } from '../timeseries/buckets.ts'
import type { QueryLimits } from './flow-store.ts'
import {
  familyHas,
  filterCondition,
  keyExpression,
  keyParams,
  type FlowFamily,
  type Params,
} from './flow-key.ts'
import type { FlowNames } from './flow-label.ts'
import { peerRows } from './peer-rows.ts'

/** The flows of a team, or every flow once. */
export type FlowScope = { readonly teamId: number } | { readonly teamId: 'all' }

/** Days for which single flows and sums by minute are kept, and for which sums by hour are. */
export type FlowRetention = { readonly days: number; readonly rollupDays: number }

/** The table that is read, and the seconds of its rows. */
export type FlowSource = {
  readonly family: FlowFamily
  readonly step: 1 | 60 | 3600
  readonly isCut: boolean
}

export type FlowSelection = {
  readonly scope: FlowScope
  readonly metric: FlowMetric
  readonly direction: FlowDirection
  readonly filters: readonly FlowFilter[]
  readonly groupBy: readonly FlowKey[]
  readonly names: FlowNames
}

export type FlowStatement = { readonly sql: string; readonly params: Params; readonly limits: QueryLimits }

const dayMs = 86_400_000

/** ClickHouse's DateTime. */
const latestSeconds = 2 ** 32 - 1
export const secondsOf = (at: Date): number =>
  Math.min(Math.max(Math.floor(at.getTime() / 1000), 0), latestSeconds)

/** The time before which rows are deleted. */
export const keptSince = (days: number, now: Date): Date => new Date(now.getTime() - days * dayMs)

export const keysOf = ({ groupBy, filters }: Pick<FlowSelection, 'groupBy' | 'filters'>): FlowKey[] => [
  ...new Set([...groupBy, ...filters.map(({ key }) => key)]),
]

const sums: readonly FlowFamily[] = ['protocol', 'interface', 'service']

/**
 * Chooses the table. Sums by hour are used if the buckets are whole hours of UTC, or if sums by minute are no longer
 * stored: then an hour counts in the bucket in which it begins. `isCut`: no table with these keys is stored that long.
 */
export function flowTableOf(
  keys: readonly FlowKey[],
  { start, seconds, borders }: Pick<Buckets, 'start' | 'seconds' | 'borders'>,
  retention: FlowRetention,
  now: Date,
): FlowSource {
  const isOld = start < keptSince(retention.days, now)
  const isBeyond = start < keptSince(retention.rollupDays, now)
  const family = sums.find((one) => familyHas(one, keys))
  if (family) {
    if (isOld) return { family, step: 3600, isCut: isBeyond }
    const isHourly = seconds % 3600 === 0 && borders.every((at) => at.getTime() % 3_600_000 === 0)
    if (isHourly) return { family, step: 3600, isCut: false }
    return seconds >= 60 ? { family, step: 60, isCut: false } : { family: 'flows', step: 1, isCut: false }
  }
  if (isOld && familyHas('peer', keys)) return { family: 'peer', step: 3600, isCut: isBeyond }
  return { family: 'flows', step: 1, isCut: isOld }
}

const tables: Readonly<Record<Exclude<FlowFamily, 'flows'>, string>> = {
  protocol: 'flows_by_protocol',
  interface: 'flows_by_interface',
  service: 'flows_by_service',
  peer: 'flows_by_peer',
}

const tableOf = ({ family, step }: Pick<FlowSource, 'family' | 'step'>): string =>
  family === 'flows' ? 'flows' : `${tables[family]}_${step === 3600 ? '1h' : '1m'}`

/** The only condition on the team. All teams together: one row of each flow, or networks with two holders would count twice. */
const ofScope = ({ teamId }: FlowScope): string =>
  teamId === 'all' ? 'is_primary = 1' : 'team_id = {team:UInt32}'

const scopeParams = ({ teamId }: FlowScope): Params => (teamId === 'all' ? {} : { team: teamId })

export const during = (from: string, until: string): string =>
  `time >= toDateTime({${from}:UInt32}, 'UTC') and time < toDateTime({${until}:UInt32}, 'UTC')`

const directions: Readonly<Record<FlowDirection, string | undefined>> = {
  in: "direction in ('in', 'internal')",
  out: "direction in ('out', 'internal')",
  both: undefined,
}

const columns: Readonly<Record<FlowMetric, 'bytes' | 'packets' | 'flows'>> = {
  bps: 'bytes',
  bytes: 'bytes',
  pps: 'packets',
  packets: 'packets',
  flows: 'flows',
}

function amount({ family }: FlowSource, metric: FlowMetric): string {
  const column = columns[metric]
  if (family !== 'flows') return column
  return column === 'flows' ? 'toUInt64(flow_count)' : `${column} * greatest(sampling_rate, 1)`
}

/** A part of a statement with its parameters: `rows` returns the rows of the selection in a window. */
type Rows = {
  readonly rows: (from: string, until: string) => string
  readonly keys: readonly string[]
  readonly value: string
  readonly params: Params
}

function rowsOf(selection: FlowSelection, source: FlowSource): Rows {
  const params: Params = { ...scopeParams(selection.scope), ...keyParams(keysOf(selection), selection.names) }
  let bound = 0
  const bind = (type: string, value: Params[string]): string => {
    const name = `f${bound++}`
    params[name] = value
    return `{${name}:${type}}`
  }
  const conditions = selection.filters.map((filter, at) =>
    filterCondition(source.family, filter, selection.names, bind, ['body', 'filters', at]),
  )
  const fixed = [directions[selection.direction], ...conditions].filter((one) => one !== undefined)
  return {
    keys: selection.groupBy.map((key) => keyExpression(source.family, key)),
    value: amount(source, selection.metric),
    rows: (from, until) => {
      const within = `${ofScope(selection.scope)} and ${during(from, until)}`
      return source.family === 'peer'
        ? `(${peerRows(within)}) where ${fixed.join(' and ') || 'true'}`
        : `${tableOf(source)} where ${[within, ...fixed].join(' and ')}`
    },
    params,
  }
}

/** A question that needs more is refused. */
export const queryLimits: QueryLimits = {
  seconds: 10,
  memoryBytes: 1e9,
  resultRows: 120_000,
  rowsToRead: 5e8,
}

export const bucketsParams = (borders: readonly Date[], prefix: string): Params => ({
  [`${prefix}from`]: secondsOf(borders[0]!),
  [`${prefix}until`]: secondsOf(borders.at(-1)!),
})

const isEven = (borders: readonly Date[], seconds: number): boolean =>
  borders.every((at, index) => at.getTime() - borders[0]!.getTime() === index * seconds * 1000)

/** The index of the bucket of a row: by division, or by search where days of a time zone have 23 or 25 hours. */
export function bucketOf(
  borders: readonly Date[],
  seconds: number,
  prefix: string,
): { sql: string; params: Params } {
  if (isEven(borders, seconds))
    return {
      sql: `toUInt32(intDiv(toUInt32(time) - {${prefix}from:UInt32}, {seconds:UInt32}))`,
      params: { seconds },
    }
  const name = `${prefix}borders`
  const list = `{${name}:Array(UInt32)}`
  return {
    sql: `toUInt32(indexOf(${list}, roundDown(toUInt32(time), ${list})) - 1)`,
    params: { [name]: borders.map(secondsOf) },
  }
}

export type FlowSeriesQuery = {
  readonly selection: FlowSelection
  readonly source: FlowSource
  readonly borders: readonly Date[]
  readonly seconds: number
  readonly limit: number
  readonly limitBy: FlowRank
  readonly includeOther: boolean
  /** The buckets of the window before, with the same series. */
  readonly previous?: readonly Date[]
  readonly now: Date
}

/** `top`: 1 for the largest groups, whose keys are `k0` to `k3`; 0 for all others together. */
export type FlowSeriesRow = {
  readonly bucket: number
  readonly top: 0 | 1
  readonly k0?: string
  readonly k1?: string
  readonly k2?: string
  readonly k3?: string
  readonly value: number
}

const named = (keys: readonly string[]): string => keys.map((key, at) => `${key} as g${at}`).join(', ')
const names = (keys: readonly string[]): string => keys.map((_, at) => `g${at}`).join(', ')

/** Returns the statement of the series: of the current window, or of `previous` with the groups of the current one. */
export function seriesStatement(query: FlowSeriesQuery): FlowStatement {
  const { selection, source, borders, seconds, includeOther, previous } = query
  const { keys, value, rows, params } = rowsOf(selection, source)
  const shown = previous ?? borders
  const window = previous ? 'p' : ''
  const bucket = bucketOf(shown, seconds, window)
  const all: Params = {
    ...params,
    ...bucketsParams(borders, ''),
    ...(previous ? bucketsParams(previous, 'p') : {}),
    ...bucket.params,
  }
  const wanted = rows(`${window}from`, `${window}until`)
  if (keys.length === 0) {
    const sql = `select ${bucket.sql} as bucket, 1 as top, sum(${value}) as value from ${wanted} group by bucket`
    return { sql, params: all, limits: queryLimits }
  }
  const top = topOf(query, { keys, value, rows })
  const texts = keys.map((_, at) => `if(top, toString(g${at}), '') as k${at}`).join(', ')
  const sql =
    `with top_groups as (${top.sql}) ` +
    `select bucket, (${names(keys)}) in (select ${names(keys)} from top_groups) as top, ${texts}, sum(v) as value ` +
    `from (select ${bucket.sql} as bucket, ${named(keys)}, ${value} as v from ${wanted}) ${includeOther ? '' : 'where top '}group by bucket, top, ${keys.map((_, at) => `k${at}`).join(', ')}`
  return { sql, params: { ...all, ...top.params }, limits: queryLimits }
}

/** The largest groups of the current window. Ties are broken by the keys, so that two answers agree. */
function topOf(
  { borders, seconds, limit, limitBy, now }: FlowSeriesQuery,
  { keys, value, rows }: Omit<Rows, 'params'>,
): { sql: string; params: Params } {
  const wanted = `from ${rows('from', 'until')}`
  const order = `order by rank desc, ${names(keys)} limit {limit:UInt32}`
  if (limitBy === 'avg')
    return {
      sql: `select ${named(keys)}, sum(${value}) as rank ${wanted} group by ${names(keys)} ${order}`,
      params: { limit },
    }
  const bucket = bucketOf(borders, seconds, '')
  const perBucket = `select ${named(keys)}, ${bucket.sql} as b, sum(${value}) as v ${wanted} group by ${names(keys)}, b`
  const passed = borders.filter((at) => at <= now).length - 1
  const known = Math.max(Math.min(passed, borders.length - 1), 1)
  const figures: Readonly<Record<Exclude<FlowRank, 'avg'>, { sql: string; params: Params }>> = {
    max: { sql: 'max(v)', params: {} },
    last: { sql: 'sumIf(v, b = {last:UInt32})', params: { last: known - 1 } },
    // The nearest rank among all buckets; missing buckets of a group are 0.
    p95: {
      sql: 'arraySort(groupArray(v))[greatest(toInt64(count()) - {above:UInt32}, 0)]',
      params: { above: known - Math.ceil(known * 0.95) },
    },
  }
  const { sql, params } = figures[limitBy]
  return {
    sql: `select ${names(keys)}, ${sql} as rank from (${perBucket}) group by ${names(keys)} ${order}`,
    params: { limit, ...bucket.params, ...params },
  }
}

/** Returns the statement of the buckets in which any flow of the scope was received. */
export function knownBucketsStatement(
  scope: FlowScope,
  { step }: FlowSource,
  { borders, seconds }: { readonly borders: readonly Date[]; readonly seconds: number },
  prefix: '' | 'p' = '',
): FlowStatement {
  const table = tableOf(
    seconds < 60 ? { family: 'flows', step: 1 } : { family: 'protocol', step: step === 3600 ? 3600 : 60 },
  )
  const bucket = bucketOf(borders, seconds, prefix)
  const sql = `select ${bucket.sql} as bucket from ${table} where ${ofScope(scope)} and ${during(`${prefix}from`, `${prefix}until`)} group by bucket`
  return {
    sql,
    params: { ...scopeParams(scope), ...bucketsParams(borders, prefix), ...bucket.params },
    limits: queryLimits,
  }
}

export type SamplingRow = { readonly least: number; readonly most: number; readonly count: number }

const hourMs = 3_600_000

/** Returns the statement of the sampling rates in the last hour of the window; sums do not have them. */
export function samplingStatement(scope: FlowScope, from: Date, until: Date, now: Date): FlowStatement {
  const end = until < now ? until : now
  const start = Math.max(from.getTime(), end.getTime() - hourMs)
  return {
    sql: `select min(sampling_rate) as least, max(sampling_rate) as most, count() as count from flows where ${ofScope(scope)} and ${during('from', 'until')}`,
    params: {
      ...scopeParams(scope),
      from: secondsOf(new Date(start)),
      until: secondsOf(new Date(end.getTime() + 1000)),
    },
    limits: queryLimits,
  }
}

/** `h0` is 1 for the largest values of the first key, `k0` its text; 0: all others. */
export type GraphRow = Readonly<Record<string, string | number>> & { readonly value: number }

/** Returns the statement of a graph: the largest values of each key by themselves, and the sums of their combinations. */
export function graphStatement(
  selection: FlowSelection,
  source: FlowSource,
  window: { readonly start: Date; readonly end: Date },
  limit: number,
): FlowStatement {
  const { keys, value, rows, params } = rowsOf(selection, source)
  const wanted = rows('from', 'until')
  const tops = keys.map(
    (key, at) =>
      `t${at} as (select ${key} as g, sum(${value}) as rank from ${wanted} group by g order by rank desc, g limit {limit:UInt32})`,
  )
  const columnsOf = keys.map(
    (_, at) => `g${at} in (select g from t${at}) as h${at}, if(h${at}, toString(g${at}), '') as k${at}`,
  )
  const groups = keys.map((_, at) => `h${at}, k${at}`).join(', ')
  const sql =
    `with ${tops.join(', ')} select ${columnsOf.join(', ')}, sum(v) as value ` +
    `from (select ${named(keys)}, ${value} as v from ${wanted}) group by ${groups}`
  return {
    sql,
    params: { ...params, limit, from: secondsOf(window.start), until: secondsOf(window.end) },
    limits: queryLimits,
  }
}

/** Returns the statement of the most frequent values of a key in a window, by bytes. */
export function valuesStatement(
  scope: FlowScope,
  key: FlowKey,
  flowNames: FlowNames,
  window: { readonly start: Date; readonly end: Date },
): FlowStatement {
  const selection: FlowSelection = {
    scope,
    metric: 'bytes',
    direction: 'both',
    filters: [],
    groupBy: [key],
    names: flowNames,
  }
  const { keys, value, rows, params } = rowsOf(selection, { family: 'flows', step: 1, isCut: false })
  return {
    sql: `select toString(${keys[0]!}) as stored, sum(${value}) as rank from ${rows('from', 'until')} group by stored order by rank desc, stored limit 1000`,
    params: { ...params, from: secondsOf(window.start), until: secondsOf(window.end) },
    limits: queryLimits,
  }
}
