// Suggests rules against the attack of an event, in front of the rules that the prefix has, with what the list would have done.
// Stores nothing.
import type { NewShieldRule } from '@pharos/contract/shield'
import type {
  ShieldSuggestion,
  ShieldSuggestions,
  suggestShieldRulesRoute,
} from '@pharos/contract/shield-suggestion'
import type { BodyOf } from '@pharos/contract/route'
import type { Postgres } from '../../db/postgres.ts'
import { coversMatch } from '../../net/flow-match.ts'
import type { Prefix } from '../../net/prefix.ts'
import type { Operation } from '../../operation/operation.ts'
import { Failure, invalid, notFound } from '../../runtime/error.ts'
import type { FlowStore } from '../flow/flow-store.ts'
import type { Candidate } from '../flow/suggest.ts'
import type { AttackedTraffic } from '../flow/suggest-query.ts'
import { ruleOf, suggestRules, type SuggestedRules } from '../flow/suggest-rules.ts'
import { asNewRule } from './present-shield.ts'
import { readRules } from './shield-list.store.ts'
import { findStored, isApplied, parseRules, type ParsedRule } from './shield-rule.ts'
import {
  findAttackedEvent,
  findList,
  listRulesAround,
  type AttackedEvent,
  type RuleAround,
} from './suggest.store.ts'
import type { EstimateWhatIf } from './what-if-port.ts'

export type SuggestDeps = {
  readonly postgres: Postgres
  readonly flowStore: FlowStore
  readonly estimate: EstimateWhatIf
  readonly now: () => Date
}

const coverageDefault = 0.95
/** Of a long attack its beginning is enough, and its whole would be too expensive. */
const windowMaxMs = 6 * 3_600_000

/** Throws `not_found` unless the event concerns the team. Without flows the detector's report decides. */
export async function suggestShieldRules(
  deps: SuggestDeps,
  { actor: { teamId } }: Operation,
  eventId: string,
  { action = 'deny', rate_bps: rate, coverage = coverageDefault }: BodyOf<typeof suggestShieldRulesRoute>,
): Promise<ShieldSuggestions> {
  if (rate !== undefined && action === 'deny') throw invalid(['body', 'rate_bps'], 'rateOfDeny')
  const now = deps.now()
  const event = await findAttackedEvent(deps.postgres.front, teamId, eventId)
  if (!event) throw notFound('event')
  const prefix = event.targets[0]?.prefix
  const found = await deps.postgres.inTeam(teamId, async (trx) => {
    const list = prefix && (await findList(trx, teamId, prefix))
    return {
      version: list?.version ?? 0,
      rules: list ? await readRules(trx, teamId, list.id) : [],
      inPlace: prefix ? await listRulesAround(trx, teamId, prefix) : [],
    }
  })
  const { version } = found
  const startMs = event.start.getTime()
  const endMs = Math.max(Math.min((event.end ?? now).getTime(), startMs + windowMaxMs), startMs + 1000)
  const targets = event.targets.filter((target) => target.prefix === prefix).map(({ network }) => network)
  const traffic = { teamId, targets, startMs, endMs }
  const fromFlows = prefix && (await fromFlowsOf(deps, traffic, prefix, coverage))
  const seconds = (endMs - startMs) / 1000
  const suggested = fromFlows
    ? ofFlows(fromFlows, seconds, (candidate, normalBps) =>
        ruleOf(candidate, targets, prefix, actionOf(action, rate ?? normalBps), `Event ${eventId}`),
      )
    : prefix
      ? ofEvent(event, (candidate) =>
          ruleOf(candidate, targets, prefix, actionOf(action, rate ?? limitMin), `Event ${eventId}`),
        )
      : nothing
  const inPlace = appliedOf(found.inPlace, now.getTime())
  const suggestions = suggested.suggestions.map((one) => ({
    ...one,
    rule_id: findInPlace(one.rule, prefix!, inPlace)?.id ?? null,
  }))
  const added = suggestions.filter(({ rule_id }) => rule_id === null).map(({ rule }) => rule)
  const rules = [...added, ...found.rules.map(asNewRule)]
  return {
    event_id: eventId,
    prefix: prefix ?? null,
    start: event.start.toISOString(),
    end: new Date(endMs).toISOString(),
    ...suggested,
    suggestions,
    in_place_share: await inPlaceShare(deps, { ...traffic, startMs, endMs }, prefix, inPlace),
    rules,
    version,
    what_if: await whatIf(deps, teamId, prefix, rules, startMs, endMs),
  }
}

/** Undefined without flows, and without a store that answers. */
async function fromFlowsOf(
  { flowStore }: SuggestDeps,
  traffic: Parameters<typeof suggestRules>[1],
  prefix: Prefix,
  coverage: number,
): Promise<SuggestedRules | undefined> {
  try {
    return await suggestRules(flowStore, traffic, prefix, coverage)
  } catch (error) {
    if (error instanceof Failure) return undefined
    throw error
  }
}

/** The least limit that is suggested: 1 Mbit/s. */
const limitMin = 1_000_000

const actionOf = (action: 'deny' | 'rate_limit', bps: number): Pick<NewShieldRule, 'action' | 'rate_bps'> =>
  action === 'deny' ? { action } : { action, rate_bps: Math.max(8, Math.round(bps)) }

type Suggested = Pick<ShieldSuggestions, 'source' | 'attack_share' | 'normal_share'> & {
  readonly suggestions: readonly Omit<ShieldSuggestion, 'rule_id'>[]
}
const nothing: Suggested = { source: 'none', suggestions: [], attack_share: null, normal_share: null }

function ofFlows(
  { rules, candidates, attackShare, normalShare }: SuggestedRules,
  seconds: number,
  toRule: (candidate: Candidate, normalBps: number) => NewShieldRule,
): Suggested {
  return {
    source: 'flows',
    suggestions: rules.map((chosen) => ({
      rule: toRule(candidates[chosen.index]!, Math.max(limitMin, (chosen.normalBytes * 8) / seconds)),
      attack_share: chosen.attackShare,
      normal_share: chosen.normalShare,
      attack_bps: Math.round((chosen.attackBytes * 8) / seconds),
    })),
    attack_share: attackShare,
    normal_share: normalShare,
  }
}

const portsOfReport = 5

/** From protocols and source ports of the detector's report: a rule only for a port of UDP, which amplification has. */
function ofEvent({ details }: AttackedEvent, toRule: (candidate: Candidate) => NewShieldRule): Suggested {
  const protocols = (details.protocols ?? []).map((name) => name.toLowerCase())
  const ports = (details.source_ports ?? [])
    .map(({ port }) => port)
    .filter((port) => port > 0 && port < 32_768)
  if (!protocols.includes('udp') || ports.length === 0) return nothing
  const suggestions = [...new Set(ports)].slice(0, portsOfReport).map((port) => ({
    rule: toRule({ protocol: 'udp', source_port: String(port) }),
    attack_share: null,
    normal_share: null,
    attack_bps: 0,
  }))
  return { ...nothing, source: 'event', suggestions }
}

type InPlace = ParsedRule & { readonly id: number }

/** The rules that are applied now, in the order in which they are evaluated. One that cannot be read is left out. */
const appliedOf = (rows: readonly RuleAround[], nowMs: number): InPlace[] =>
  rows.flatMap(({ prefix, ...row }) => {
    const parsed = findStored(row, prefix)
    const rule = { ...row, expires: row.expires?.getTime() ?? null }
    return parsed && isApplied(rule, nowMs) ? [{ ...rule, parsed }] : []
  })

const drops = ({ action }: InPlace): boolean => action !== 'allow'

function findInPlace(rule: NewShieldRule, prefix: Prefix, inPlace: readonly InPlace[]): InPlace | undefined {
  const [suggested] = parseRules([rule], prefix)
  return inPlace.find((one) => drops(one) && coversMatch(one.parsed.match, suggested!.parsed.match))
}

/** Null if the flows of the attack cannot be read. Of one target only its own traffic counts. */
async function inPlaceShare(
  { estimate }: SuggestDeps,
  { teamId, targets, startMs, endMs }: Pick<AttackedTraffic, 'teamId' | 'targets' | 'startMs' | 'endMs'>,
  prefix: Prefix | undefined,
  inPlace: readonly InPlace[],
): Promise<number | null> {
  if (prefix === undefined || !inPlace.some(drops)) return prefix === undefined ? null : 0
  const rules = inPlace.map((rule, index) => ({ ...rule, index }))
  const [target] = targets
  const within = targets.length === 1 ? target! : prefix
  return (await estimate({ teamId, prefix: within, rules, startMs, endMs })).dropped_attack_share
}

async function whatIf(
  { estimate, now }: SuggestDeps,
  teamId: number,
  prefix: Prefix | undefined,
  rules: readonly NewShieldRule[],
  startMs: number,
  endMs: number,
) {
  const parsed = prefix === undefined ? [] : parseRules(rules, prefix)
  const applied = parsed
    .map((rule, index) => ({ ...rule, index }))
    .filter((rule) => isApplied(rule, now().getTime()))
  // Without a prefix of the team there is no traffic of it: the estimate of any other network is empty.
  return await estimate({
    teamId,
    prefix: prefix ?? ('192.0.2.0/32' as Prefix),
    rules: applied,
    startMs,
    endMs,
  })
}
