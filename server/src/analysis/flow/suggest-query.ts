// The statements behind suggestions: frequent properties of an attack beyond the usual, and traffic by the candidates that it meets.
// The usual is the mean rate of the same hour of the seven days before. Pure.
import type { FlowMatch } from '../../net/flow-match.ts'
import type { Prefix } from '../../net/prefix.ts'
import { withinCondition } from './flow-key.ts'
import { secondsOf, type Statement } from './flow-query.ts'
import type { Param, QueryLimits } from './flow-store.ts'
import { integer, matchCondition, meanLength } from './match-sql.ts'

/** The targets of an attack and its time. */
export type AttackedTraffic = {
  readonly teamId: number
  readonly targets: readonly Prefix[]
  readonly startMs: number
  readonly endMs: number
}

const dayMs = 86_400_000
const usualDays = 7
/** Normal traffic to one host is a few sampled packets a minute: what is usual is not seen in less. */
const usualMsMin = 3_600_000

const limits: QueryLimits = { seconds: 10, memoryBytes: 1e9, resultRows: 100_000, rowsToRead: 2e8 }

/** Multiplied bytes of the attack, and the mean of the days before in as long a time. */
const attackBytes = 'sumIf(amount, attack)'
function normalBytes({ startMs, endMs }: AttackedTraffic): string {
  const ms = Math.max(1, endMs - startMs)
  return `sumIf(amount, not attack) * ${ms / (usualDays * Math.max(ms, usualMsMin))}`
}

/** The rows of the attack and of the same hour of the days before, with `amount` and `attack`. */
function rowsOf({ teamId, targets, startMs, endMs }: AttackedTraffic, columns: string) {
  const params: Record<string, Param> = { team: teamId }
  let bound = 0
  const bind = (type: string, value: Param): string => {
    const name = `s${bound++}`
    params[name] = value
    return `{${name}:${type}}`
  }
  const padMs = Math.max(0, usualMsMin - (endMs - startMs)) / 2
  const during = (back: number): string => {
    const around = back === 0 ? 0 : padMs
    const [from, until] = [startMs - around, endMs + around].map((ms) =>
      bind('UInt32', secondsOf(new Date(ms - back * dayMs))),
    )
    return `(time >= toDateTime(${from}, 'UTC') and time < toDateTime(${until}, 'UTC'))`
  }
  const windows = Array.from({ length: usualDays + 1 }, (_, back) => during(back))
  const towards = targets.map((target) => withinCondition('dst_addr', target, bind)).join(' or ')
  const select = (more: string): string =>
    `select ${[columns, more].filter(Boolean).join(', ')}, bytes * greatest(sampling_rate, 1) as amount, ${windows[0]} as attack from flows ` +
    `where team_id = {team:UInt32} and (${windows.join(' or ')}) and direction in ('in', 'internal') and (${towards || 'false'})`
  return { params, bind, select }
}

/** Bands of the mean length, each from its border up to the next. */
const lengthBorders = [0, 64, 128, 256, 512, 1_024]

/** `low` to `high` is the band of lengths in which most of the bytes are. */
export type FrequentRow = {
  readonly kind: string
  readonly protocol: number
  readonly value: string
  readonly band: number
  readonly in_band: number
  readonly attack: number
  readonly normal: number
}

const properties = `arrayJoin([
  ('protocol', protocol, ''),
  ('source_port', if(protocol in (6, 17), protocol, toUInt8(0)), toString(src_port)),
  ('destination_port', if(protocol in (6, 17), protocol, toUInt8(0)), toString(dst_port)),
  ('flags', if(protocol = 6, protocol, toUInt8(0)), toString(bitAnd(tcp_flags, 23))),
  ('fragment', if(fragment != 0, toUInt8(1), toUInt8(0)), ''),
  ('source', toUInt8(1), toString(if(src_addr >= toIPv6('::ffff:0.0.0.0') and src_addr <= toIPv6('::ffff:255.255.255.255'),
    IPv6CIDRToRange(src_addr, 120).1, IPv6CIDRToRange(src_addr, 48).1)))
])`

/** Returns the statement of the frequent values of each property, by what the attack adds; the band is that of most bytes. */
export function frequentStatement(traffic: AttackedTraffic): Statement {
  const band = `multiIf(${lengthBorders
    .slice(1)
    .map((border, at) => `${meanLength} < ${integer(border)}, ${integer(at)}`)
    .join(', ')}, ${integer(lengthBorders.length - 1)})`
  const { params, select } = rowsOf(traffic, `${properties} as property, ${band} as length_band`)
  const sql =
    `select property.1 as kind, property.2 as protocol, property.3 as value, ` +
    `argMax(length_band, band_attack) as band, max(band_attack) as in_band, sum(band_attack) as attack, sum(band_normal) as normal ` +
    `from (select property, length_band, ${attackBytes} as band_attack, ${normalBytes(traffic)} as band_normal from (${select('')}) ` +
    `where property.2 != 0 or property.1 = 'protocol' group by property, length_band) group by property ` +
    `order by kind, attack - normal desc, value limit 8 by kind`
  return { sql, params, limits }
}

/** Returns the range of lengths of a band. */
export const bandRange = (band: number): { readonly low: number; readonly high: number } => ({
  low: lengthBorders[band]!,
  high: band + 1 < lengthBorders.length ? lengthBorders[band + 1]! - 1 : 65_535,
})

/** Returns the statement of the cells: bytes by the set of matches that the traffic meets. */
export function cellsStatement(traffic: AttackedTraffic, matches: readonly FlowMatch[]): Statement {
  const { params, bind, select } = rowsOf(traffic, '')
  const bits = matches.map(
    (match, at) => `if(${matchCondition(match, bind)}, toUInt64(${integer(2 ** at)}), 0)`,
  )
  const sql =
    `select mask, ${attackBytes} as attack_bytes, ${normalBytes(traffic)} as normal_bytes ` +
    `from (${select(`${bits.join(' + ') || 'toUInt64(0)'} as mask`)}) group by mask`
  return { sql, params, limits }
}

export type CellRow = { readonly mask: number; readonly attack_bytes: number; readonly normal_bytes: number }
