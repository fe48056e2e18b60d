// The part of attacks that the rules of scrubbers drop: by the flows of the last minute towards the targets and the first rule that matches, or by
// the counters of scrubbers. mark-mitigations.ts decides whether that is a mitigation.
import type { EventMarkSource } from '@pharos/contract/events/event'
import type { FilterRule } from '../net/filter-rule.ts'
import { lengthOf, type Prefix } from '../net/prefix.ts'
import { DriverError } from '../runtime/driver-error.ts'
import { storedBounds } from '../flow/flow-key.ts'
import { secondsOf, type FlowStatement } from '../flow/flow-query.ts'
import type { FlowStore, Param } from '../flow/flow-store.ts'
import { integer, matchCondition } from '../flow/match-sql.ts'
import type { HeldList } from './mitigation.ts'

export type MeasuredAttack = {
  readonly eventId: string
  readonly networks: readonly Prefix[]
  /** The highest rates of the event; 0 if they are not known. */
  readonly bps: number
  readonly pps: number
}

/** Shares of all traffic towards the targets. */
export type Effect = {
  readonly share_bytes: number
  readonly share_packets: number
  readonly source: Exclude<EventMarkSource, 'rules'>
  /** Ids of the rules that drop it. */
  readonly rules: readonly number[]
}

export type MeasureRequest = {
  readonly teamId: number
  /** The lists of each scrubber. */
  readonly held: readonly (readonly HeldList[])[]
  readonly attacks: readonly MeasuredAttack[]
}

/** Returns the effects by the id of the event; an event that flows do not show is absent. */
export type MeasureMitigation = (request: MeasureRequest) => Promise<ReadonlyMap<string, Effect>>

const windowSeconds = 60
/** Flows are stored up to this much later than they were received. */
const storedAfterSeconds = 5
/** Less of the attack's rates than this in the flows is not the attack: rules may drop it before routers account for it. */
const seenMin = 0.05
/** Limit of used networks per event. */
const networksMax = 100
const limits = { seconds: 5, memoryBytes: 1e9, resultRows: 100_000, rowsToRead: 1e8 }

/** Without an answer of the store the result is empty. */
export const createMeasureMitigation =
  (flowStore: Pick<FlowStore, 'query'>, now: () => number): MeasureMitigation =>
  async ({ teamId, held, attacks }) => {
    const found = new Map<string, Effect>()
    if (attacks.length === 0) return found
    const run = <T>({ sql, params }: FlowStatement) => flowStore.query<T>(sql, params, limits)
    try {
      // Scrubbers have the same lists, except while one of them waits for approval.
      const distinct = new Map(held.map((lists) => [JSON.stringify(lists), lists]))
      const ids = held.flat().flatMap(({ rules }) => rules.map(({ id }) => id))
      const counted = await run<HitRow>(hitsStatement(teamId, ids, attacks, now()))
      for (const lists of distinct.values()) {
        const rules = orderedRules(lists)
        if (rules.length === 0) continue
        const rows = await run<DroppedRow>(droppedStatement(teamId, rules, attacks, now()))
        for (const [at, attack] of attacks.entries()) {
          const effect = effectOf(
            attack,
            rules,
            rows.filter(({ event }) => event === at),
            counted.find(({ event }) => event === at),
          )
          const before = found.get(attack.eventId)
          if (
            effect &&
            (!before || effect.share_bytes + effect.share_packets > before.share_bytes + before.share_packets)
          )
            found.set(attack.eventId, effect)
        }
      }
      return found
    } catch (error) {
      if (error instanceof DriverError) return new Map()
      throw error
    }
  }

/** The list of the more specific prefix comes first, as scrubbers apply them. */
const orderedRules = (lists: readonly HeldList[]): readonly FilterRule[] =>
  lists.toSorted((a, b) => lengthOf(b.prefix) - lengthOf(a.prefix)).flatMap(({ rules }) => rules)

/** `rule` is the position from 1; 0: no match. */
type DroppedRow = {
  readonly event: number
  readonly rule: number
  readonly bytes: number
  readonly packets: number
  readonly dropped_bytes: number
  readonly dropped_packets: number
}

type HitRow = { readonly event: number; readonly dropped_bytes: number; readonly dropped_packets: number }

/** The dropped traffic of one minute; a limit drops the excess. */
function droppedStatement(
  teamId: number,
  rules: readonly FilterRule[],
  attacks: readonly MeasuredAttack[],
  nowMs: number,
): FlowStatement {
  const { params, bind, networks } = networksOf(teamId, attacks)
  const until = secondsOf(new Date(nowMs)) - storedAfterSeconds
  Object.assign(params, { from: until - windowSeconds, until })
  const cases = rules.map(({ match }, at) => `${matchCondition(match, bind)}, ${integer(at + 1)}`)
  const allowed = rules.flatMap(({ action }, at) => (action.kind === 'allow' ? [integer(at + 1)] : []))
  const excess = rules.flatMap(({ action }, at) => {
    if (action.kind !== 'rate_limit') return []
    const [amount, most] =
      'pps' in action
        ? ['all_packets', action.pps * windowSeconds]
        : ['all_bytes', (action.bps / 8) * windowSeconds]
    return [
      `rule = ${integer(at + 1)}, greatest(0, 1 - ${Math.max(1, Math.round(most))} / greatest(${amount}, 1))`,
    ]
  })
  const sql =
    `select arrayJoin(events) as event, rule, sum(b) as bytes, sum(p) as packets, sum(b * part) as dropped_bytes, sum(p * part) as dropped_packets ` +
    `from (select *, sum(p) over (partition by rule) as all_packets, sum(b) over (partition by rule) as all_bytes, ` +
    `multiIf(rule in (${['0', ...allowed].join(', ')}), 0, ${[...excess, '1'].join(', ')}) as part ` +
    `from (select toUInt32(multiIf(${cases.join(', ')}, 0)) as rule, ${networks('dst_addr', 'dst_addr')} as events, ` +
    `sum(bytes * greatest(sampling_rate, 1)) as b, sum(packets * greatest(sampling_rate, 1)) as p from flows ` +
    `where team_id = {team:UInt32} and time >= toDateTime({from:UInt32}, 'UTC') and time < toDateTime({until:UInt32}, 'UTC') ` +
    `and direction in ('in', 'internal') and notEmpty(events) group by rule, events)) group by event, rule`
  return { sql, params, limits }
}

/** The counters of scrubbers in the previous and the current minute for installed rules that match only the targets. */
function hitsStatement(
  teamId: number,
  ids: readonly number[],
  attacks: readonly MeasuredAttack[],
  nowMs: number,
): FlowStatement {
  const { params, bind, networks } = networksOf(teamId, attacks)
  params['from'] = Math.floor(secondsOf(new Date(nowMs)) / 60) * 60 - 60
  const sql =
    `select arrayJoin(${networks('first_addr', 'last_addr')}) as event, sum(b) as dropped_bytes, sum(p) as dropped_packets from (` +
    `select first_addr, last_addr, sum(dropped_bytes) / ${seconds(nowMs)} * ${windowSeconds} as b, ` +
    `sum(dropped_packets) / ${seconds(nowMs)} * ${windowSeconds} as p from shield_hits ` +
    `where team_id = {team:UInt32} and time >= toDateTime({from:UInt32}, 'UTC') ` +
    `and rule_id in ${bind('Array(UInt64)', [...new Set(ids)])} group by first_addr, last_addr) group by event`
  return { sql, params, limits }
}
/** Seconds since the beginning of the previous minute. */
const seconds = (nowMs: number): number => 60 + (Math.floor(nowMs / 1000) % 60)

/** `networks` is the expression of the events, by their place, of which a network contains the addresses. */
function networksOf(teamId: number, attacks: readonly MeasuredAttack[]) {
  const params: Record<string, Param> = { team: teamId }
  let bound = 0
  const bind = (type: string, value: Param): string => {
    const name = `m${bound++}`
    params[name] = value
    return `{${name}:${type}}`
  }
  const parts = attacks.flatMap(({ networks }, event) =>
    networks.slice(0, networksMax).map((network) => ({ event, bounds: storedBounds(network) })),
  )
  const addresses = (place: 0 | 1): string =>
    `arrayMap(a -> toIPv6(a), ${bind(
      'Array(String)',
      parts.map(({ bounds }) => bounds[place]),
    )})`
  const events = bind(
    'Array(UInt32)',
    parts.map(({ event }) => event),
  )
  const [first, last] = [addresses(0), addresses(1)]
  return {
    params,
    bind,
    networks: (from: string, until: string) =>
      `arrayDistinct(arrayFilter((e, f, l) -> ${from} >= f and ${until} <= l, ${events}, ${first}, ${last}))`,
  }
}

function effectOf(
  { bps, pps }: MeasuredAttack,
  rules: readonly FilterRule[],
  rows: readonly DroppedRow[],
  hit: HitRow | undefined,
): Effect | undefined {
  const sum = (of: keyof DroppedRow): number => rows.reduce((total, row) => total + row[of], 0)
  const all = { bytes: sum('bytes'), packets: sum('packets') }
  const isSeen =
    all.packets > 0 &&
    ((all.bytes * 8) / windowSeconds >= bps * seenMin || all.packets / windowSeconds >= pps * seenMin)
  const ids = rows.flatMap(({ rule, dropped_packets: dropped }) => (dropped > 0 ? [rules[rule - 1]!.id] : []))
  const share = (dropped: number, of: number): number => (of === 0 ? 0 : Math.min(1, dropped / of))
  if (hit && hit.dropped_packets > 0)
    return {
      // Routers may account for flows before or after they drop them: traffic without a matching rule passes in both
      // cases.
      share_bytes: share(hit.dropped_bytes, all.bytes - sum('dropped_bytes') + hit.dropped_bytes),
      share_packets: share(hit.dropped_packets, all.packets - sum('dropped_packets') + hit.dropped_packets),
      source: 'hits',
      rules: ids,
    }
  if (!isSeen) return undefined
  return {
    share_bytes: share(sum('dropped_bytes'), all.bytes),
    share_packets: share(sum('dropped_packets'), all.packets),
    source: 'flows',
    rules: ids,
  }
}
