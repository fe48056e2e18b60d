// Evaluates a list of rules on flows of the past: one statement finds for each flow the first rule that matches.
// It is an estimate, whose limits are in its notes. It must not decide whether the result is acceptable.
import type { ShieldAction, ShieldWhatIf } from '@pharos/contract/shield'
import type { Db } from '../../db/postgres.ts'
import type { FlowMatch } from '../../net/flow-match.ts'
import type { Prefix } from '../../net/prefix.ts'
import { Failure } from '../../runtime/error.ts'
import { attackCondition, onsetsOf } from './attack-condition.ts'
import { listAttackWindows, type AttackWindow } from './attack-window.store.ts'
import { asFlowFailure } from './flow-failure.ts'
import { withinCondition } from './flow-key.ts'
import { secondsOf, type Statement } from './flow-query.ts'
import type { FlowStore, Param } from './flow-store.ts'
import { integer, matchCondition } from './match-sql.ts'

/** A rule that is applied; `index` is its place in the request. */
export type WhatIfRule = {
  readonly index: number
  readonly action: ShieldAction
  readonly parsed: { readonly match: FlowMatch }
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

/** `rule` is the position of the rule plus 1; 0: no rule matches. `attack` is null for the onset of an attack. */
export type DecidedRow = {
  readonly rule: number
  readonly attack: 0 | 1 | null
  readonly flows: number
  readonly sum_packets: number
  readonly sum_bytes: number
  readonly least: number
  readonly most: number
}

/** Returns the estimate. Without a store, or if the question is too large for it, `state` is `unavailable`; never throws for that. */
export function createWhatIf({
  db,
  flowStore,
}: WhatIfDeps): (request: WhatIfRequest) => Promise<ShieldWhatIf> {
  return async (request) => {
    const attacks = await listAttackWindows(db, request.teamId, request, request.prefix)
    const { sql, params, limits } = whatIfStatement(request, attacks)
    try {
      return whatIfOf(request, await flowStore.query<DecidedRow>(sql, params, limits))
    } catch (error) {
      if (asFlowFailure(error) instanceof Failure) return whatIfOf(request, undefined)
      throw error
    }
  }
}

/** Traffic towards the prefix, also from the team's own networks. */
export function whatIfStatement(
  { teamId, prefix, rules, startMs, endMs }: WhatIfRequest,
  attacks: readonly AttackWindow[],
): Statement {
  const params: Record<string, Param> = {
    team: teamId,
    from: secondsOf(new Date(startMs)),
    until: secondsOf(new Date(endMs)),
  }
  let bound = 0
  const bind = (type: string, value: Param): string => {
    const name = `n${bound++}`
    params[name] = value
    return `{${name}:${type}}`
  }
  const cases = rules.map(
    ({ parsed }, at) => `${matchCondition(parsed.match, bind, prefix)}, ${integer(at + 1)}`,
  )
  const decided = cases.length === 0 ? '0' : `multiIf(${cases.join(', ')}, 0)`
  const sql =
    `select toUInt16(${decided}) as rule, ` +
    `multiIf(${attackCondition(attacks, bind, endMs)}, 1, ${attackCondition(onsetsOf(attacks), bind, endMs)}, null, 0) as attack, count() as flows, ` +
    `sum(packets * greatest(sampling_rate, 1)) as sum_packets, sum(bytes * greatest(sampling_rate, 1)) as sum_bytes, ` +
    `min(sampling_rate) as least, max(sampling_rate) as most ` +
    `from flows where team_id = {team:UInt32} and time >= toDateTime({from:UInt32}, 'UTC') and time < toDateTime({until:UInt32}, 'UTC') ` +
    `and direction in ('in', 'internal') and ${withinCondition('dst_addr', prefix, bind)} group by rule, attack`
  return { sql, params, limits: { seconds: 10, memoryBytes: 1e9, resultRows: 10_000, rowsToRead: 1e8 } }
}

type Volume = { readonly packets: number; readonly bytes: number }
const nothing: Volume = { packets: 0, bytes: 0 }

const sumOf = (rows: readonly DecidedRow[]): Volume =>
  rows.reduce(
    (sum, row) => ({ packets: sum.packets + row.sum_packets, bytes: sum.bytes + row.sum_bytes }),
    nothing,
  )

/** Pure. `rows`: undefined if the flows cannot be read. A limit counts as if it dropped everything. */
function whatIfOf(
  { rules, startMs, endMs }: WhatIfRequest,
  rows: readonly DecidedRow[] | undefined,
): ShieldWhatIf {
  const known = rows ?? []
  const drops = ({ rule }: DecidedRow): boolean => rule > 0 && rules[rule - 1]!.action !== 'allow'
  const normalRows = known.filter(({ attack }) => attack === 0)
  const attackRows = known.filter(({ attack }) => attack === 1)
  const [normal, attack] = [sumOf(normalRows), sumOf(attackRows)]
  const [droppedNormal, droppedAttack] = [sumOf(normalRows.filter(drops)), sumOf(attackRows.filter(drops))]
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
    rules: rules.map(({ index }, at) => ({
      index,
      normal: sumOf(normalRows.filter(({ rule }) => rule === at + 1)),
      attack: sumOf(attackRows.filter(({ rule }) => rule === at + 1)),
    })),
    sampled: isSampled,
    notes: notesOf(rules, known),
  }
}

const shareOf = (part: number, all: number): number | null => (all === 0 ? null : Math.min(part / all, 1))

function notesOf(rules: readonly WhatIfRule[], rows: readonly DecidedRow[]): ShieldWhatIf['notes'] {
  const has = (test: (match: FlowMatch) => unknown): boolean =>
    rules.some(({ parsed }) => Boolean(test(parsed.match)))
  const notes: readonly (readonly [ShieldWhatIf['notes'][number], boolean])[] = [
    ['length', has((match) => match.packetLength)],
    ['tcp_flags', has((match) => match.tcpFlags)],
    ['fragment', has((match) => match.fragment !== undefined)],
    ['sampled', rows.some(({ most }) => most > 1)],
    ['rate', rules.some(({ action }) => action === 'rate_limit')],
    ['unknown_sampling', rows.some(({ least }) => least === 0)],
  ]
  return notes.flatMap(([note, applies]) => (applies ? [note] : []))
}
