// Evaluates a list of rules on flows of the past: one statement finds for each flow the first rule that concerns it, and a second one the
// services of the last day that a rule takes. It is an estimate, whose limits are in its notes. It must not decide whether the result is
// acceptable.
import type { ShieldWhatIf } from '@pharos/contract/shield/shield'
import type { Db } from '../db/postgres.ts'
import type { FilterAction } from '../net/filter-rule.ts'
import type { FlowMatch } from '../net/flow-match.ts'
import type { Prefix } from '../net/prefix.ts'
import { Failure } from '../runtime/error.ts'
import { attackCondition, onsetsOf } from './attack-condition.ts'
import { listAttackWindows, type AttackWindow } from './attack-window.store.ts'
import { delayFieldsOf } from './flow-delay.ts'
import { readFlowDelay } from './flow-delay.store.ts'
import { asFlowFailure } from './flow-failure.ts'
import { servicePort, withinCondition } from './flow-key.ts'
import { secondsOf, type FlowStatement } from './flow-query.ts'
import type { FlowStore, Param } from './flow-store.ts'
import { concernedCondition, integer, isOpening, matchCondition, openingPackets } from './match-sql.ts'

/** A rule that is applied; `index` is its place in the request. */
export type WhatIfRule = {
  readonly index: number
  readonly parsed: { readonly match: FlowMatch; readonly action: FilterAction }
}

export type WhatIfRequest = {
  readonly teamId: number
  readonly prefix: Prefix
  /** In the order in which they are evaluated. */
  readonly rules: readonly WhatIfRule[]
  readonly startMs: number
  readonly endMs: number
}

export type WhatIfDeps = { readonly db: Db; readonly flowStore: FlowStore }

/**
 * `rule` is the position of the rule plus 1; 0: no rule matches. `attack` is null for the onset of an attack. `over_*`
 * is the part that exceeds a limit; `limited` is the amount in these minutes, and `limited_over` the exceeding part of
 * it.
 */
export type RuleEffectRow = {
  readonly rule: number
  readonly attack: 0 | 1 | null
  readonly flows: number
  readonly sum_packets: number
  readonly sum_bytes: number
  readonly over_flows: number
  readonly over_packets: number
  readonly over_bytes: number
  readonly limited: number
  readonly limited_over: number
  readonly least: number
  readonly most: number
}

/** A service of the last day, and the flows of it that a rule would drop. */
export type ServiceFlowRow = {
  readonly rule: number
  readonly address: string
  readonly protocol: number
  readonly port: number
  readonly taken: number
  readonly flows: number
}

const dayMs = 86_400_000
/** A service: this share of the normal flows of the prefix, or this number. */
const serviceShareMin = 0.01
const serviceFlowsMin = 20
/** The part of a service that makes it taken. */
const takenShareMin = 0.9
const servicesShown = 10
/** Octets of a packet that opens a connection, if only the octets of the whole connection are known. */
const openingOctets = 64

/** Returns the estimate. Without a store, or if the question is too large for it, `state` is `unavailable`; never throws for that. */
export function createWhatIf({
  db,
  flowStore,
}: WhatIfDeps): (request: WhatIfRequest) => Promise<ShieldWhatIf> {
  const run = async <T>({ sql, params, limits }: FlowStatement): Promise<T[] | undefined> => {
    try {
      return await flowStore.query<T>(sql, params, limits)
    } catch (error) {
      if (asFlowFailure(error) instanceof Failure) return undefined
      throw error
    }
  }
  return async (request) => {
    const day = { startMs: Math.min(request.startMs, request.endMs - dayMs), endMs: request.endMs }
    const attacks = await listAttackWindows(db, request.teamId, day, request.prefix)
    const [rows, services, delay] = await Promise.all([
      run<RuleEffectRow>(whatIfStatement(request, attacks)),
      request.rules.some(denies) ? run<ServiceFlowRow>(servicesStatement(request, attacks)) : [],
      readFlowDelay(db, request),
    ])
    return { ...whatIfOf(request, rows, services), ...delayFieldsOf(delay, request) }
  }
}

const denies = ({ parsed: { action } }: WhatIfRule): boolean => action.kind === 'deny'
const flowColumns =
  'time, src_addr, dst_addr, src_port, dst_port, protocol, tcp_flags, dscp, fragment, bytes, packets, sampling_rate, flow_count'

/** The parts that both statements have: flows towards the prefix with `attack`, also from the team's own networks, and the deciding rule. */
function partsOf(
  { teamId, prefix, rules, endMs }: WhatIfRequest,
  attacks: readonly AttackWindow[],
  fromMs: number,
) {
  const params: Record<string, Param> = {
    team: teamId,
    from: secondsOf(new Date(fromMs)),
    until: secondsOf(new Date(endMs)),
  }
  let bound = 0
  const bind = (type: string, value: Param): string => {
    const name = `n${bound++}`
    params[name] = value
    return `{${name}:${type}}`
  }
  const cases = rules.map(({ parsed: { match, action } }, at) => {
    // A rule that allows decides about the packets that match, and not about their connections.
    const condition =
      action.kind === 'allow'
        ? matchCondition(match, bind, prefix)
        : concernedCondition(match, 'attack = 0', bind, prefix)
    return `${condition}, ${integer(at + 1)}`
  })
  const flows =
    `select ${flowColumns}, ` +
    `multiIf(${attackCondition(attacks, bind, endMs)}, 1, ${attackCondition(onsetsOf(attacks), bind, endMs)}, null, 0) as attack ` +
    `from flows where team_id = {team:UInt32} and time >= toDateTime({from:UInt32}, 'UTC') and time < toDateTime({until:UInt32}, 'UTC') ` +
    `and direction in ('in', 'internal') and ${withinCondition('dst_addr', prefix, bind)}`
  const decided = cases.length === 0 ? 'toUInt16(0)' : `toUInt16(multiIf(${cases.join(', ')}, 0))`
  return { params, flows, decided }
}

/** The amount that a limit counts in a minute, and the limit. */
function limitsOf(
  rules: readonly WhatIfRule[],
): { readonly amount: string; readonly limit: string } | undefined {
  const limited = rules.flatMap(({ parsed: { match, action } }, at) =>
    action.kind === 'rate_limit' ? [{ at: at + 1, action, isOpening: isOpening(match) }] : [],
  )
  if (limited.length === 0) return undefined
  const places = (test: (one: (typeof limited)[number]) => boolean): string =>
    `rule in (${
      limited
        .filter(test)
        .map(({ at }) => integer(at))
        .join(', ') || '0'
    })`
  const opened = `${openingPackets} * greatest(sampling_rate, 1)`
  const amount =
    `multiIf(${places((one) => 'pps' in one.action && one.isOpening)}, ${opened}, ` +
    `${places((one) => 'pps' in one.action)}, packets * greatest(sampling_rate, 1), ` +
    `${places((one) => one.isOpening)} and bitAnd(tcp_flags, 18) != 2, ${opened} * ${openingOctets}, bytes * greatest(sampling_rate, 1))`
  const perMinute = limited.map(({ at, action }) => {
    const most = 'pps' in action ? action.pps * 60 : (action.bps * 60) / 8
    return `rule = ${integer(at)}, toFloat64(${Math.max(1, Math.round(most))})`
  })
  return { amount, limit: `multiIf(${perMinute.join(', ')}, toFloat64(0))` }
}

/** For a limit, the excess of each minute counts as dropped, in equal parts of all matching traffic. */
export function whatIfStatement(request: WhatIfRequest, attacks: readonly AttackWindow[]): FlowStatement {
  const { params, flows, decided } = partsOf(request, attacks, request.startMs)
  const limit = limitsOf(request.rules)
  const sums =
    'sum(flow_count) as n, sum(packets * greatest(sampling_rate, 1)) as p, sum(bytes * greatest(sampling_rate, 1)) as b, ' +
    'min(sampling_rate) as l, max(sampling_rate) as m'
  const minute = limit ? `if(${limit.limit} > 0, intDiv(toUInt32(time), 60), 0)` : '0'
  const byMinute =
    `select rule, attack, ${minute} as minute, ${sums}, sum(${limit?.amount ?? '0'}) as amount ` +
    `from (select *, ${decided} as rule from (${flows})) group by rule, attack, minute`
  const excess = limit
    ? `select *, sum(amount) over (partition by rule, minute) as whole, ` +
      `if(${limit.limit} = 0 or whole <= ${limit.limit}, 0, 1 - ${limit.limit} / whole) as excess from (${byMinute})`
    : `select *, 0 as excess from (${byMinute})`
  const sql =
    `select rule, attack, sum(n) as flows, sum(p) as sum_packets, sum(b) as sum_bytes, sum(n * excess) as over_flows, ` +
    `sum(p * excess) as over_packets, sum(b * excess) as over_bytes, sumIf(amount, excess > 0) as limited, ` +
    `sum(amount * excess) as limited_over, min(l) as least, max(m) as most from (${excess}) group by rule, attack`
  return { sql, params, limits: { seconds: 10, memoryBytes: 1e9, resultRows: 10_000, rowsToRead: 1e8 } }
}

/** Connections that were never answered are no use of a service. */
const isUsed = '(protocol = 17 or (protocol = 6 and bitAnd(tcp_flags, 18) != 2))'

/** Returns the statement of the services used in the last day of the window of which a rule that denies takes nearly all flows. */
function servicesStatement(request: WhatIfRequest, attacks: readonly AttackWindow[]): FlowStatement {
  const { params, flows, decided } = partsOf(request, attacks, request.endMs - dayMs)
  const denying = request.rules.flatMap((rule, at) => (denies(rule) ? [integer(at + 1)] : []))
  const byRule =
    `select dst_addr, protocol, ${servicePort} as port, ${decided} as rule, sum(flow_count) as n from (${flows}) ` +
    `where attack = 0 and ${isUsed} group by dst_addr, protocol, port, rule`
  const byService =
    `select dst_addr, protocol, port, sum(n) as flows, groupArray((rule, n)) as parts ` +
    `from (${byRule}) group by dst_addr, protocol, port`
  const sql =
    `select part.1 as rule, replaceOne(toString(dst_addr), '::ffff:', '') as address, protocol, port, part.2 as taken, flows ` +
    `from (select *, sum(flows) over () as everything from (${byService})) array join parts as part ` +
    `where port > 0 and part.1 in (${denying.join(', ') || '0'}) and part.2 >= ${takenShareMin} * flows ` +
    `and (flows >= ${serviceFlowsMin} or flows >= ${serviceShareMin} * everything) order by flows desc, address, protocol, port limit 1000`
  return { sql, params, limits: { seconds: 10, memoryBytes: 1e9, resultRows: 10_000, rowsToRead: 1e8 } }
}

type Volume = { readonly packets: number; readonly bytes: number; readonly flows: number }
type Sums = (row: RuleEffectRow) => Volume
const allOf: Sums = (row) => ({ packets: row.sum_packets, bytes: row.sum_bytes, flows: row.flows })
const overOf: Sums = (row) => ({ packets: row.over_packets, bytes: row.over_bytes, flows: row.over_flows })

const sumOf = (rows: readonly RuleEffectRow[], of: Sums): Volume => {
  const sum = { packets: 0, bytes: 0, flows: 0 }
  for (const volume of rows.map(of)) {
    sum.packets += volume.packets
    sum.bytes += volume.bytes
    sum.flows += volume.flows
  }
  return {
    packets: Math.round(sum.packets),
    bytes: Math.round(sum.bytes),
    flows: Math.round(sum.flows),
  }
}

type Estimate = Omit<ShieldWhatIf, 'delay_seconds' | 'complete_until' | 'partial'>

/** Pure. `rows`: undefined if the flows cannot be read; `services` likewise. */
function whatIfOf(
  { rules, startMs, endMs }: WhatIfRequest,
  rows: readonly RuleEffectRow[] | undefined,
  services: readonly ServiceFlowRow[] | undefined,
): Estimate {
  const known = rows ?? []
  const droppedOf: Sums = (row) => {
    const kind = rules[row.rule - 1]?.parsed.action.kind
    return kind === 'deny'
      ? allOf(row)
      : kind === 'rate_limit'
        ? overOf(row)
        : { packets: 0, bytes: 0, flows: 0 }
  }
  const normalRows = known.filter(({ attack }) => attack === 0)
  const attackRows = known.filter(({ attack }) => attack === 1)
  const [normal, attack] = [sumOf(normalRows, allOf), sumOf(attackRows, allOf)]
  const [droppedNormal, droppedAttack] = [sumOf(normalRows, droppedOf), sumOf(attackRows, droppedOf)]
  const isSampled = known.some(({ least, most }) => least !== 1 || most !== 1)
  return {
    state: rows === undefined ? 'unavailable' : known.length === 0 ? 'no_flows' : 'complete',
    start: new Date(startMs).toISOString(),
    end: new Date(endMs).toISOString(),
    normal,
    attack,
    dropped_normal: droppedNormal,
    dropped_attack: droppedAttack,
    dropped_normal_share: shareOf(droppedNormal.bytes, normal.bytes),
    dropped_attack_share: shareOf(droppedAttack.bytes, attack.bytes),
    dropped_normal_shares: sharesOf(droppedNormal, normal),
    dropped_attack_shares: sharesOf(droppedAttack, attack),
    rules: rules.map((rule, at) => ({
      index: rule.index,
      normal: sumOf(
        normalRows.filter((row) => row.rule === at + 1),
        allOf,
      ),
      attack: sumOf(
        attackRows.filter((row) => row.rule === at + 1),
        allOf,
      ),
      services: takenBy(services ?? [], at + 1),
      new_connections_share: passingShare(
        rule,
        known.filter((row) => row.rule === at + 1),
      ),
    })),
    sampled: isSampled,
    notes: notesOf(rules, known, rows === undefined || services !== undefined),
  }
}

const takenBy = (services: readonly ServiceFlowRow[], rule: number) =>
  services
    .filter((one) => one.rule === rule)
    .slice(0, servicesShown)
    .map(({ address, protocol, port, taken, flows }) => ({ address, protocol, port, share: taken / flows }))

/** The passing share of a limit on packets that open connections; null if it is never exceeded. */
function passingShare({ parsed }: WhatIfRule, rows: readonly RuleEffectRow[]): number | null {
  if (parsed.action.kind !== 'rate_limit' || !isOpening(parsed.match)) return null
  const limited = rows.reduce((sum, row) => sum + row.limited, 0)
  const over = rows.reduce((sum, row) => sum + row.limited_over, 0)
  return limited === 0 ? null : Math.max(0, 1 - over / limited)
}

const shareOf = (part: number, all: number): number | null => (all === 0 ? null : Math.min(part / all, 1))

const sharesOf = (part: Volume, all: Volume) => ({
  bytes: shareOf(part.bytes, all.bytes),
  packets: shareOf(part.packets, all.packets),
  flows: shareOf(part.flows, all.flows),
})

function notesOf(
  rules: readonly WhatIfRule[],
  rows: readonly RuleEffectRow[],
  hasServices: boolean,
): ShieldWhatIf['notes'] {
  const has = (test: (match: FlowMatch) => unknown): boolean =>
    rules.some(({ parsed }) => Boolean(test(parsed.match)))
  const notes: readonly (readonly [ShieldWhatIf['notes'][number], boolean])[] = [
    ['length', has((match) => match.packetLength)],
    ['tcp_flags', has((match) => match.tcpFlags)],
    ['fragment', has((match) => match.fragment !== undefined)],
    ['sampled', rows.some(({ most }) => most > 1)],
    ['rate', rules.some(({ parsed }) => parsed.action.kind === 'rate_limit')],
    ['unknown_sampling', rows.some(({ least }) => least === 0)],
    ['services', !hasServices],
  ]
  return notes.flatMap(([note, applies]) => (applies ? [note] : []))
}
