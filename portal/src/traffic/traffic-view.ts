// The view of the traffic explorer in the address: every part is plain text, so that a view can be shared and edited.
// Parts that cannot be read are named and left out. Pure.
import { textsOf } from '../ui/use-page-search.ts'

export const chartKinds = ['stacked', 'lines', 'percent', 'grid', 'heatmap', 'sankey'] as const
export type ChartKind = (typeof chartKinds)[number]

export const metrics = ['bps', 'pps', 'bytes', 'packets', 'flows'] as const
export type Metric = (typeof metrics)[number]

export const directions = ['in', 'out', 'both'] as const
export type Direction = (typeof directions)[number]

/** The value by which the largest are chosen and the table is sorted. */
export const ranks = ['avg', 'max', 'p95', 'last'] as const
export type Rank = (typeof ranks)[number]

export const operators = ['eq', 'ne', 'in', 'not_in', 'contains', 'within', 'gt', 'lt'] as const
export type Operator = (typeof operators)[number]

export type FlowFilter = { readonly key: string; readonly op: Operator; readonly values: readonly string[] }

export const dimensionsMax = 4
const topMax = 50
export const tops = [5, 10, 20, 50] as const

export type TrafficView = {
  readonly chart: ChartKind
  readonly metric: Metric
  readonly direction: Direction
  readonly by: readonly string[]
  readonly top: number
  readonly rank: Rank
  readonly isCompared: boolean
  readonly filters: readonly FlowFilter[]
}

export const defaultView: TrafficView = {
  chart: 'stacked',
  metric: 'bps',
  direction: 'in',
  by: ['protocol'],
  top: 10,
  rank: 'avg',
  isCompared: false,
  filters: [],
}

/** The parameters of the address; a part that has its default is left out. */
export type ViewAddress = {
  readonly chart?: string | undefined
  readonly metric?: string | undefined
  readonly direction?: string | undefined
  readonly by?: string | undefined
  readonly top?: string | undefined
  readonly rank?: string | undefined
  readonly compare?: string | undefined
  readonly filter?: string | undefined
}

/** No dimension: a single series of all traffic. */
const none = 'none'

/** Returns the view of an address, and the names of the parameters that could not be read. */
export function readView(address: Readonly<Record<string, unknown>>): {
  readonly view: TrafficView
  readonly ignored: readonly string[]
} {
  const ignored: string[] = []
  const one = <T extends string>(name: keyof ViewAddress, allowed: readonly T[], byDefault: T): T => {
    const text = textIn(address[name])
    if (text === undefined) return byDefault
    const found = allowed.find((value) => value === text)
    if (found === undefined) ignored.push(name)
    return found ?? byDefault
  }
  const by = readDimensions(address['by'])
  if (by === undefined) ignored.push('by')
  const top = readTop(textIn(address['top']))
  if (top === undefined) ignored.push('top')
  const filters = readFilters(textIn(address['filter']) ?? '')
  if (filters === undefined) ignored.push('filter')
  return {
    view: {
      chart: one('chart', chartKinds, defaultView.chart),
      metric: one('metric', metrics, defaultView.metric),
      direction: one('direction', directions, defaultView.direction),
      by: by ?? defaultView.by,
      top: top ?? defaultView.top,
      rank: one('rank', ranks, defaultView.rank),
      isCompared: one('compare', ['previous', 'no'], 'no') === 'previous',
      filters: filters ?? [],
    },
    ignored,
  }
}

const textIn = (value: unknown): string | undefined =>
  value === undefined || value === null || value === '' ? undefined : [value].flat().map(String).join(',')

function readDimensions(value: unknown): readonly string[] | undefined {
  const names = [...new Set(textsOf(value))]
  if (names.length === 0) return defaultView.by
  if (names.length === 1 && names[0] === none) return []
  return names.length <= dimensionsMax && names.every((name) => /^[a-z][a-z0-9_]*$/.test(name))
    ? names
    : undefined
}

function readTop(text: string | undefined): number | undefined {
  if (text === undefined) return defaultView.top
  const number = /^\d{1,3}$/.test(text) ? Number(text) : 0
  return number >= 1 && number <= topMax ? number : undefined
}

/** Returns the changes of the address that show the view. */
export function viewAddress(view: TrafficView): ViewAddress {
  const unless = (value: string, byDefault: string) => (value === byDefault ? undefined : value)
  return {
    chart: unless(view.chart, defaultView.chart),
    metric: unless(view.metric, defaultView.metric),
    direction: unless(view.direction, defaultView.direction),
    by: unless(view.by.join(',') || none, defaultView.by.join(',')),
    top: unless(String(view.top), String(defaultView.top)),
    rank: unless(view.rank, defaultView.rank),
    compare: view.isCompared ? 'previous' : undefined,
    filter: filterText(view.filters) || undefined,
  }
}

const escape = (text: string) => text.replace(/[%;,]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`)
const unescape = (text: string) =>
  text.replace(/%(25|3b|2c)/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))

/** Returns the filters in the format of the address: `protocol:eq:17;src_port:in:53,123`. */
export const filterText = (filters: readonly FlowFilter[]): string =>
  filters.map(({ key, op, values }) => `${key}:${op}:${values.map(escape).join(',')}`).join(';')

/** Returns the filters of a text of the address; undefined if one cannot be read. */
export function readFilters(text: string): readonly FlowFilter[] | undefined {
  if (text === '') return []
  const filters = text.split(';').map((part): FlowFilter | undefined => {
    const [, key, op, rest] = /^([a-z][a-z0-9_]*):([a-z_]+):([^]+)$/.exec(part) ?? []
    const known = operators.find((one) => one === op)
    return key === undefined || known === undefined
      ? undefined
      : { key, op: known, values: rest!.split(',').map(unescape) }
  })
  return filters.every((one) => one !== undefined) ? filters : undefined
}

const excludes = (op: Operator): boolean => op === 'ne' || op === 'not_in'

/**
 * Adds a filter; one on the same key with the same operator is replaced. Values that are excluded already stay so: every key that
 * has `ne` has `not_in`.
 */
export function withFilter(filters: readonly FlowFilter[], added: FlowFilter): readonly FlowFilter[] {
  const { key, op } = added
  if (!excludes(op)) return [...filters.filter((one) => one.key !== key || one.op !== op), added]
  const [same, others] = [true, false].map((is) =>
    filters.filter((one) => (one.key === key && excludes(one.op)) === is),
  )
  const values = [...new Set([...same!, added].flatMap((one) => one.values))]
  return [...others!, { key, op: values.length === 1 ? 'ne' : 'not_in', values }]
}
