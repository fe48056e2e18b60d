// The keys of flows as SQL: the expression of each key in each table, and the condition of a filter. Expressions come from the
// tables here and values are parameters, so that no text of a request is ever part of a statement. Pure.
import { flowKeys, type FilterOperator, type FlowKey } from '@pharos/contract/flow/flow-key'
import type { FlowFilter } from '@pharos/contract/flow/flow'
import { isDefaultRoute, lastOf, networkOf, overlaps, covers, type Prefix } from '../net/prefix.ts'
import { parseAddress } from '../net/address.ts'
import { PrefixError } from '../net/prefix-error.ts'
import { invalid, parsePrefixAt } from '../runtime/error.ts'
import type { Param } from './flow-store.ts'
import type { FlowNames } from './flow-label.ts'
import { parseTcpFlags, protocolNumber } from './flow-label.ts'

/** `flows` are single flows; the others are sums by minute and by hour, `peer` only by hour. */
export type FlowFamily = 'flows' | 'protocol' | 'interface' | 'service' | 'peer'

export type Params = Record<string, Param>

const remote = (from: string, to: string): string => `if(direction = 'out', ${to}, ${from})`
const local = (from: string, to: string): string => `if(direction = 'out', ${from}, ${to})`
const device = 'transform(exporter_id, {exporters:Array(UInt32)}, {devices:Array(UInt32)}, toUInt32(0))'
const port = 'if(has({ports:Array(UInt32)}, port_id), port_id, toUInt32(0))'

/** The upper limits are exclusive: RFC 2819 counts packets of Ethernet in such bands. */
const packetSize = 'intDiv(bytes, greatest(packets, 1))'
const bandBorders = [64, 128, 256, 512, 1024, 1519]
const packetBands = ['0-63', '64-127', '128-255', '256-511', '512-1023', '1024-1518', '1519-'] as const
const packetBand = `multiIf(${bandBorders.map((border, at) => `${packetSize} < ${border}, '${packetBands[at]}'`).join(', ')}, '${packetBands.at(-1)}')`

const isIpv4 = (column: string): string =>
  `(${column} >= toIPv6('::ffff:0.0.0.0') and ${column} <= toIPv6('::ffff:255.255.255.255'))`

/** The lower port if it is below the ephemeral ports, else 0; same expression as in the views of the rollups. */
export const servicePort = 'if(least(src_port, dst_port) < 32768, least(src_port, dst_port), toUInt16(0))'

/** The expression of each key in single flows. */
const inFlows: Readonly<Record<FlowKey, string>> = {
  direction: 'direction',
  protocol: 'protocol',
  family: `if(${isIpv4('src_addr')}, 'ipv4', 'ipv6')`,
  prefix: 'prefix_id',
  device,
  interface: port,
  service_port: servicePort,
  remote_asn: remote('src_as', 'dst_as'),
  remote_country: remote('src_country', 'dst_country'),
  remote_address: remote('src_addr', 'dst_addr'),
  remote_port: remote('src_port', 'dst_port'),
  local_address: local('src_addr', 'dst_addr'),
  local_port: local('src_port', 'dst_port'),
  src_address: 'src_addr',
  dst_address: 'dst_addr',
  src_port: 'src_port',
  dst_port: 'dst_port',
  src_asn: 'src_as',
  dst_asn: 'dst_as',
  src_country: 'src_country',
  dst_country: 'dst_country',
  tcp_flags: 'tcp_flags',
  dscp: 'dscp',
  fragment: "if(fragment = 0, 'no', 'yes')",
  packet_size: packetBand,
}

/** Keys with other columns in the sums. */
const inSums: Readonly<Record<FlowFamily, Partial<Readonly<Record<FlowKey, string>>>>> = {
  flows: inFlows,
  protocol: { direction: 'direction', protocol: 'protocol', prefix: 'prefix_id' },
  interface: { direction: 'direction', device, interface: port },
  service: { direction: 'direction', protocol: 'protocol', service_port: 'service_port' },
  peer: { direction: 'direction', remote_asn: 'remote_as', remote_country: 'remote_country' },
}

/** Whether the table has all of these keys. */
export const familyHas = (family: FlowFamily, keys: readonly FlowKey[]): boolean =>
  keys.every((key) => inSums[family][key] !== undefined)

export const keyExpression = (family: FlowFamily, key: FlowKey): string => inSums[family][key]!

/** Returns the parameters that the expressions of these keys use. */
export function keyParams(keys: readonly FlowKey[], { devices, ports }: FlowNames): Params {
  const pairs = devices.flatMap(({ id, exporterIds }) =>
    exporterIds.map((exporter) => [exporter, id] as const),
  )
  return {
    // An empty list of `transform` has no type.
    ...(keys.includes('device')
      ? {
          exporters: [0, ...pairs.map(([exporter]) => exporter)],
          devices: [0, ...pairs.map(([, id]) => id)],
        }
      : {}),
    ...(keys.includes('interface') ? { ports: ports.map(({ id }) => id) } : {}),
  }
}

type Loc = readonly (string | number)[]
/** Names the parameter for a value and returns its placeholder. */
type Bind = (type: string, value: Param) => string

/**
 * Returns the condition of a filter. Throws `invalid` with the place in the request if the key does not take the operator or the
 * value.
 */
export function filterCondition(
  family: FlowFamily,
  { key, op, value }: FlowFilter,
  names: FlowNames,
  bind: Bind,
  loc: Loc,
): string {
  const { operators } = flowKeys[key] as { operators: readonly FilterOperator[] }
  if (!operators.includes(op)) throw invalid([...loc, 'op'], 'filterOperator', { key, valid: operators })
  const isList = op === 'in' || op === 'not_in'
  if (Array.isArray(value) !== isList)
    throw invalid([...loc, 'value'], isList ? 'filterList' : 'filterOne', { op })
  const values = [value].flat() as readonly (string | number)[]
  const placeOf = (at: number): Loc => (isList ? [...loc, 'value', at] : [...loc, 'value'])
  const compile = compilers[key] ?? compilers[flowKeys[key].type as never] ?? numbers(16)
  return compile({ column: keyExpression(family, key), key, op, values, names, bind, placeOf })
}

type Filter = {
  readonly column: string
  readonly key: FlowKey
  readonly op: FilterOperator
  readonly values: readonly (string | number)[]
  readonly names: FlowNames
  readonly bind: Bind
  readonly placeOf: (at: number) => Loc
}
type Compile = (filter: Filter) => string

const isNegative = (op: FilterOperator): boolean => op === 'ne' || op === 'not_in'

/** The value is in a list; all operators except `gt` and `lt`. */
const membership = (column: string, op: FilterOperator, list: string): string =>
  `${isNegative(op) ? 'not ' : ''}has(${list}, ${column})`

function fitting<T>(
  { values, placeOf, key }: Filter,
  parse: (value: string | number) => T | undefined,
  expected: string,
): T[] {
  return values.map((value, at) => {
    const parsed = parse(value)
    if (parsed === undefined) throw invalid(placeOf(at), 'filterValue', { key, expected })
    return parsed
  })
}

/** A whole number in digits is accepted as text too: values of answers are texts. */
function parseNumber(max: number): (value: string | number) => number | undefined {
  return (value) => {
    const number =
      typeof value === 'number' ? value : /^(0|[1-9][0-9]{0,9})$/.test(value) ? Number(value) : -1
    return Number.isInteger(number) && number >= 0 && number <= max ? number : undefined
  }
}

function numbers(bits: 8 | 16 | 32, max = 2 ** bits - 1): Compile {
  return (filter) => {
    const { column, op, bind } = filter
    const parsed = fitting(filter, parseNumber(max), `a number from 0 to ${max}`)
    if (op === 'gt' || op === 'lt')
      return `${column} ${op === 'gt' ? '>' : '<'} ${bind(`UInt${bits}`, parsed[0]!)}`
    return membership(column, op, bind(`Array(UInt${bits})`, parsed))
  }
}

function texts(valid: readonly string[]): Compile {
  return (filter) => {
    const parsed = fitting(
      filter,
      (value) => (valid.includes(String(value)) ? String(value) : undefined),
      `one of ${valid.join(', ')}`,
    )
    return membership(`toString(${filter.column})`, filter.op, filter.bind('Array(String)', parsed))
  }
}

/** As stored: IPv4 as ::ffff:a.b.c.d. */
export const storedAddress = (text: string): string => (text.includes(':') ? text : `::ffff:${text}`)

/** Returns the condition that the address is in the prefix. */
export function withinCondition(column: string, prefix: Prefix, bind: Bind): string {
  if (isDefaultRoute(prefix)) return prefix === '::/0' ? `not ${isIpv4(column)}` : isIpv4(column)
  const [first, last] = storedBounds(prefix)
  return `${column} between toIPv6(${bind('String', first)}) and toIPv6(${bind('String', last)})`
}

/** The first and the last address of a prefix, as stored. */
export const storedBounds = (prefix: Prefix): readonly [string, string] => [
  storedAddress(networkOf(prefix)),
  storedAddress(lastAddressOf(prefix)),
]

/** Returns the condition that the addresses from `first_addr` to `last_addr` overlap the prefix. */
export function overlapCondition(prefix: Prefix, bind: Bind): string {
  const [first, last] = storedBounds(prefix)
  return `first_addr <= toIPv6(${bind('String', last)}) and last_addr >= toIPv6(${bind('String', first)})`
}

function lastAddressOf(prefix: Prefix): string {
  const last = lastOf(prefix)
  if (!prefix.includes(':')) return [24n, 16n, 8n, 0n].map((shift) => (last >> shift) & 255n).join('.')
  return Array.from({ length: 8 }, (_, at) => ((last >> BigInt(112 - at * 16)) & 0xffffn).toString(16)).join(
    ':',
  )
}

const addresses: Compile = (filter) => {
  const { column, op, values, bind, placeOf } = filter
  if (op === 'within') return withinCondition(column, parsePrefixAt(placeOf(0), String(values[0])), bind)
  const parsed = fitting(filter, parsedAddress, 'an IP address such as 192.0.2.1 or 2001:db8::1')
  // One parameter each: a list of constants is found by the index of the addresses.
  const list = parsed.map((address) => `toIPv6(${bind('String', address)})`).join(', ')
  return `${column} ${isNegative(op) ? 'not in' : 'in'} (${list})`
}

function parsedAddress(value: string | number): string | undefined {
  try {
    return storedAddress(parseAddress(String(value)))
  } catch (error) {
    if (error instanceof PrefixError) return undefined
    throw error
  }
}

/** By the ids of the team's matching prefixes; empty: traffic of addresses that the team only announces. */
const prefixes: Compile = ({ column, op, values, names, bind, placeOf }) => {
  const isNamed = op === 'within' || op === 'contains'
  const given = isNamed ? values : values.filter((value) => value !== '')
  const wanted = given.map((value) => parsePrefixAt(placeOf(values.indexOf(value)), String(value)))
  const fits = (prefix: Prefix): boolean =>
    op === 'within'
      ? covers(wanted[0]!, prefix)
      : op === 'contains'
        ? covers(prefix, wanted[0]!)
        : wanted.includes(prefix)
  wanted.forEach((prefix, at) => {
    if (isNamed || names.prefixes.some((one) => one.prefix === prefix)) return
    const valid = names.prefixes.map((one) => one.prefix)
    const near = valid.filter((one) => overlaps(one, prefix))
    throw invalid(placeOf(values.indexOf(given[at]!)), 'filterPrefix', {
      valid: (near.length > 0 ? near : valid).slice(0, 20),
    })
  })
  const ids = names.prefixes.filter(({ prefix }) => fits(prefix)).map(({ id }) => id)
  if (given.length < values.length) ids.push(0)
  return membership(column, op, bind('Array(UInt32)', ids))
}

/** By id, or by a part of the name. */
function named(
  listOf: (names: FlowNames) => readonly { readonly id: number; readonly name: string }[],
): Compile {
  return (filter) => {
    const { column, op, values, names, bind } = filter
    const part = String(values[0]).toLowerCase()
    const ids =
      op === 'contains'
        ? listOf(names).flatMap(({ id, name }) => (name.toLowerCase().includes(part) ? [id] : []))
        : fitting(filter, parseNumber(2 ** 32 - 1), 'an id')
    return membership(column, op, bind('Array(UInt32)', ids))
  }
}

const flags: Compile = (filter) => {
  const { column, op, bind } = filter
  const parsed = fitting(filter, parseTcpFlags, 'a number from 0 to 255 or flags such as SYN+ACK')
  if (op !== 'contains') return membership(column, op, bind('Array(UInt8)', parsed))
  const wanted = bind('UInt8', parsed[0]!)
  return `bitAnd(${column}, ${wanted}) = ${wanted}`
}

const protocols: Compile = (filter) => {
  const parsed = fitting(
    filter,
    protocolNumber,
    'the name of a protocol such as udp, or a number from 0 to 255',
  )
  return membership(filter.column, filter.op, filter.bind('Array(UInt8)', parsed))
}

/** Two capital letters; empty: unknown. */
const countries: Compile = (filter) => {
  const parsed = fitting(
    filter,
    (value) => (/^([A-Z]{2})?$/.test(String(value)) ? String(value) : undefined),
    'a country code such as NL, or empty',
  )
  return membership(
    `trimRight(toString(${filter.column}), '\\0 ')`,
    filter.op,
    filter.bind('Array(String)', parsed),
  )
}

const sizes: Compile = (filter) => {
  const [size] = fitting(filter, parseNumber(65_535), 'a number from 0 to 65535')
  return `${packetSize} ${filter.op === 'gt' ? '>' : '<'} ${filter.bind('UInt32', size!)}`
}

/** By key, or else by type. */
const compilers: Partial<Readonly<Record<FlowKey | 'ip' | 'asn' | 'country', Compile>>> = {
  direction: texts(['in', 'out', 'internal']),
  protocol: protocols,
  family: texts(['ipv4', 'ipv6']),
  prefix: prefixes,
  device: named(({ devices }) => devices),
  interface: named(({ ports }) => ports),
  tcp_flags: flags,
  dscp: numbers(8, 63),
  fragment: texts(['yes', 'no']),
  packet_size: sizes,
  ip: addresses,
  asn: numbers(32),
  country: countries,
}
