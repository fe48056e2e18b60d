// The statements behind suggestions: the usual traffic of the targets, frequent properties of an attack beyond the
// usual, traffic by the matching candidates, and the usual rates of limited traffic. Pure.
import type { FlowMatch } from '../net/flow-match.ts'
import type { Prefix } from '../net/prefix.ts'
import { attackCondition, type AttackWindow } from '../flow/attack-condition.ts'
import { withinCondition } from '../flow/flow-key.ts'
import { secondsOf, type FlowStatement } from '../flow/flow-query.ts'
import type { Param, QueryLimits } from '../flow/flow-store.ts'
import {
  concernedCondition,
  integer,
  isOpening,
  meanLength,
  openingPackets,
  usualCondition,
} from '../flow/match-sql.ts'

export type SuggestMeasure = 'bytes' | 'packets'

/** The targets of an attack and its time. */
export type AttackedTraffic = {
  readonly teamId: number
  readonly targets: readonly Prefix[]
  /** The network whose usual traffic the rules concern: the target, or the whole prefix of the list if there are several. */
  readonly scope: Prefix
  readonly startMs: number
  readonly endMs: number
  /** Attacks on the team, this one included: their traffic is not usual. */
  readonly attacks: readonly AttackWindow[]
  /** The measure by which rules are chosen. */
  readonly measure: SuggestMeasure
}

export type TrafficWindow = { readonly startMs: number; readonly endMs: number }

/** The traffic to compare the attack with; `none`: unknown, which differs from no traffic. */
export type UsualTraffic = {
  readonly kind: 'days' | 'hour' | 'none'
  readonly windows: readonly TrafficWindow[]
}

const dayMs = 86_400_000
const hourMs = 3_600_000
const usualDays = 7
/** With fewer days, a single unusual day would decide. */
const daysMin = 3
/** Time between the hour before and the event: an attack begins before its event does. */
const beforeMs = 300_000

const limits: QueryLimits = { seconds: 10, memoryBytes: 1e9, resultRows: 100_000, rowsToRead: 2e8 }

/** The same hour of the days before, the latest first: normal traffic to one host is a few sampled packets a minute. */
function daysBefore({ startMs, endMs }: TrafficWindow): TrafficWindow[] {
  const padMs = Math.max(0, hourMs - (endMs - startMs)) / 2
  return Array.from({ length: usualDays }, (_, at) => ({
    startMs: startMs - padMs - (at + 1) * dayMs,
    endMs: endMs + padMs - (at + 1) * dayMs,
  }))
}
const hourBefore = ({ startMs }: Pick<TrafficWindow, 'startMs'>): TrafficWindow => ({
  startMs: startMs - beforeMs - hourMs,
  endMs: startMs - beforeMs,
})

/** The time of all usual windows together with the attack. */
export const spanOf = (window: TrafficWindow): TrafficWindow => ({
  startMs: daysBefore(window).at(-1)!.startMs,
  endMs: window.endMs,
})

type Binder = {
  readonly params: Record<string, Param>
  readonly bind: (type: string, value: Param) => string
}
function binderOf(teamId: number): Binder {
  const params: Record<string, Param> = { team: teamId }
  let bound = 0
  return {
    params,
    bind: (type, value) => {
      const name = `s${bound++}`
      params[name] = value
      return `{${name}:${type}}`
    },
  }
}
const during = ({ startMs, endMs }: TrafficWindow, { bind }: Binder): string => {
  const [from, until] = [startMs, endMs].map((ms) => bind('UInt32', secondsOf(new Date(ms))))
  return `(time >= toDateTime(${from}, 'UTC') and time < toDateTime(${until}, 'UTC'))`
}

export type KnownRow = { readonly part: number; readonly flows: number }

/** Returns the statement of which usual windows the team has any flow: 1 to 7 are days, 8 is the hour before. */
export function knownStatement(
  traffic: Pick<AttackedTraffic, 'teamId' | 'startMs' | 'endMs'>,
): FlowStatement {
  const binder = binderOf(traffic.teamId)
  const windows = [...daysBefore(traffic), hourBefore(traffic)]
  const cases = windows.map((window, at) => `${during(window, binder)}, ${integer(at + 1)}`)
  const sql =
    `select part, count() as flows from (select multiIf(${cases.join(', ')}, 0) as part from flows ` +
    `where team_id = {team:UInt32} and direction in ('in', 'internal')) where part > 0 group by part`
  return { sql, params: binder.params, limits }
}

/** Days of which the team has flows; the hour before if they are fewer than 3. */
export function usualTrafficOf(window: TrafficWindow, known: readonly KnownRow[]): UsualTraffic {
  const has = new Set(known.map(({ part }) => part))
  const days = daysBefore(window).filter((_, at) => has.has(at + 1))
  if (days.length >= daysMin) return { kind: 'days', windows: days }
  return has.has(usualDays + 1)
    ? { kind: 'hour', windows: [hourBefore(window)] }
    : { kind: 'none', windows: [] }
}

const lengthOf = ({ startMs, endMs }: TrafficWindow): number => Math.max(1, endMs - startMs)

/** Returns the factor that scales the sums of the usual windows to the duration of the attack. */
function usualFactor(traffic: TrafficWindow, { windows }: UsualTraffic): number {
  const ms = windows.reduce((sum, window) => sum + lengthOf(window), 0)
  return ms === 0 ? 0 : lengthOf(traffic) / ms
}

/** The rows of the attack and of the usual windows, with `attack` and the measures. Flows of other attacks are neither. */
function rowsOf(traffic: AttackedTraffic, usual: UsualTraffic) {
  const binder = binderOf(traffic.teamId)
  const { bind } = binder
  const towards = traffic.targets.map((target) => withinCondition('dst_addr', target, bind)).join(' or ')
  const isAttack = `(${during(traffic, binder)} and (${towards || 'false'}))`
  const windows = usual.windows.map((window) => during(window, binder)).join(' or ') || 'false'
  const select = (columns: string): string =>
    `select ${columns}, ${isAttack} as attack, bytes * greatest(sampling_rate, 1) as b, packets * greatest(sampling_rate, 1) as p from flows ` +
    `where team_id = {team:UInt32} and direction in ('in', 'internal') and (${isAttack} or ((${windows}) and ` +
    `${withinCondition('dst_addr', traffic.scope, bind)} and not (${attackCondition(traffic.attacks, bind, traffic.endMs)})))`
  return { ...binder, select }
}

/** Bands of the mean length, each from its border up to the next. */
const lengthBorders = [0, 64, 128, 256, 512, 1_024]

/**
 * `band` is the band of lengths with most of the attack, with `in_band` of it; `exact` is its most frequent length.
 * Sums of the measure; `normal` is scaled to the same duration.
 */
export type FrequentRow = {
  readonly kind: string
  readonly protocol: number
  readonly value: string
  readonly band: number
  readonly in_band: number
  readonly exact: number
  readonly in_exact: number
  readonly attack: number
  readonly normal: number
}

const portsOf = 'if(protocol in (6, 17), protocol, toUInt8(0))'
const ofTcp = 'if(protocol = 6, protocol, toUInt8(0))'
const flagsOf = 'toString(bitAnd(tcp_flags, 23))'
const properties = `arrayJoin([
  ('protocol', protocol, ''),
  ('source_port', ${portsOf}, toString(src_port)),
  ('destination_port', ${portsOf}, toString(dst_port)),
  ('flags', ${ofTcp}, ${flagsOf}),
  ('flags_port', ${ofTcp}, concat(${flagsOf}, ' ', toString(dst_port))),
  ('icmp_type', if(protocol in (1, 58), protocol, toUInt8(0)), toString(intDiv(dst_port, 256))),
  ('fragment', if(fragment != 0, toUInt8(1), toUInt8(0)), ''),
  ('source', protocol, concat(if(protocol = 6, ${flagsOf}, ''), ' ', toString(if(src_addr >= toIPv6('::ffff:0.0.0.0') and src_addr <= toIPv6('::ffff:255.255.255.255'),
    IPv6CIDRToRange(src_addr, 120).1, IPv6CIDRToRange(src_addr, 48).1))))
])`

/** Returns the statement of the frequent values of each property, by the amount that the attack adds. */
export function frequentStatement(traffic: AttackedTraffic, usual: UsualTraffic): FlowStatement {
  const { params, select } = rowsOf(traffic, usual)
  const amount = traffic.measure === 'bytes' ? 'b' : 'p'
  const factor = usualFactor(traffic, usual)
  const bands = lengthBorders.map((border, at) => {
    const next = lengthBorders[at + 1]
    return `sumIf(a, length >= ${integer(border)}${next === undefined ? '' : ` and length < ${integer(next)}`})`
  })
  const sql =
    `select property.1 as kind, property.2 as protocol, property.3 as value, toUInt8(indexOf(bands, in_band) - 1) as band, ` +
    `arrayMax(bands) as in_band, exact, in_exact, attack, normal from (` +
    `select property, [${bands.join(', ')}] as bands, argMax(length, a) as exact, max(a) as in_exact, sum(a) as attack, sum(n) as normal from (` +
    `select property, length, sumIf(${amount}, attack) as a, sumIf(${amount}, not attack) * ${factor} as n from ` +
    `(${select(`${properties} as property, ${meanLength} as length`)}) ` +
    `where property.2 != 0 or property.1 = 'protocol' group by property, length) group by property) ` +
    `order by kind, attack - normal desc, value limit 8 by kind`
  return { sql, params, limits }
}

/** Returns the range of lengths of a band. */
export const bandRange = (band: number): { readonly low: number; readonly high: number } => ({
  low: lengthBorders[band]!,
  high: band + 1 < lengthBorders.length ? lengthBorders[band + 1]! - 1 : 65_535,
})

/**
 * Sums by the set of matches that traffic meets: exact for the attack; for usual traffic, all traffic that a rule would
 * concern.
 */
export type CellRow = {
  readonly mask: number
  readonly attack_bytes: number
  readonly attack_packets: number
  readonly attack_flows: number
  readonly normal_bytes: number
  readonly normal_packets: number
  readonly normal_flows: number
}

/** Returns the statement of the cells. Usual sums are scaled to the duration of the attack. */
export function cellsStatement(
  traffic: AttackedTraffic,
  usual: UsualTraffic,
  matches: readonly FlowMatch[],
): FlowStatement {
  const { params, bind, select } = rowsOf(traffic, usual)
  const bits = matches.map(
    (match, at) => `if(${concernedCondition(match, 'not attack', bind)}, toUInt64(${integer(2 ** at)}), 0)`,
  )
  const factor = usualFactor(traffic, usual)
  const sums = [
    ['attack', 'attack', ''],
    ['normal', 'not attack', ` * ${factor}`],
  ].map(
    ([name, which, times]) =>
      `sumIf(b, ${which})${times} as ${name}_bytes, sumIf(p, ${which})${times} as ${name}_packets, sumIf(flow_count, ${which})${times} as ${name}_flows`,
  )
  const sql = `select mask, ${sums.join(', ')} from (${select(`${bits.join(' + ') || 'toUInt64(0)'} as mask, flow_count`)}) group by mask`
  return { sql, params, limits }
}

/** `match` is the place of the match; a second's sums. */
export type RateRow = { readonly place: number; readonly pps: number; readonly bps: number }

/** Seconds over which usual rates are measured. */
const rateSeconds = 300

/**
 * Returns the statement of the usual rates of matches: the 99th percentile of rates of 5 minutes. For a match on SYN,
 * counts one opening packet per connection.
 */
export function ratesStatement(
  traffic: AttackedTraffic,
  usual: UsualTraffic,
  matches: readonly FlowMatch[],
): FlowStatement {
  const { params, bind, select } = rowsOf(traffic, usual)
  const parts = matches.map((match, at) => {
    const packets = isOpening(match) ? `${openingPackets} * greatest(sampling_rate, 1)` : 'p'
    return `(toUInt8(${integer(at)}), toUInt8(${usualCondition(match, bind)}), toUInt64(${packets}))`
  })
  const seconds = usual.windows.reduce((sum, window) => sum + lengthOf(window), 0) / 1000
  const buckets = Math.max(1, Math.floor(seconds / rateSeconds))
  // Buckets without traffic have no row: the percentile counts all buckets of the windows.
  const high = (sum: string): string =>
    `arraySort(groupArray(${sum}))[greatest(toInt64(count()) - ${integer(buckets - Math.ceil(buckets * 0.99))}, 1)] / ${rateSeconds}`
  const sql =
    `select place, ${high('packet_sum')} as pps, ${high('byte_sum')} * 8 as bps from (` +
    `select part.1 as place, intDiv(toUInt32(time), ${rateSeconds}) as bucket, sum(part.3) as packet_sum, sum(b) as byte_sum ` +
    `from (${select(`time, arrayJoin([${parts.join(', ')}]) as part`)}) where not attack and part.2 = 1 group by place, bucket) group by place`
  return { sql, params, limits }
}
