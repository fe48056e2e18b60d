// Suggests rules against the attack of an event, before the existing rules of the prefix, with an estimate of the
// list's effect. Does not store them.
import type { NewShieldRule } from '@pharos/contract/shield/shield'
import type {
  ShieldSuggestion,
  ShieldSuggestions,
  suggestShieldRulesRoute,
} from '@pharos/contract/shield/suggestion'
import type { BodyOf } from '@pharos/contract/route'
import type { Postgres } from '../db/postgres.ts'
import { coversMatch } from '../net/flow-match.ts'
import { networkOf, type Prefix } from '../net/prefix.ts'
import type { Operation } from '../operation/operation.ts'
import { Failure, invalid, notFound } from '../runtime/error.ts'
import type { FlowStore } from '../flow/flow-store.ts'
import { listAttackWindows } from '../flow/attack-condition.ts'
import type { Choice, Conditions } from './suggest.ts'
import { spanOf, type AttackedTraffic, type SuggestMeasure } from './suggest-query.ts'
import {
  suggestRules,
  unknownPart,
  type TrafficRate,
  type SuggestedRule,
  type SuggestedRules,
} from './suggest-rules.ts'
import { warningsOfEffect } from './effect-warnings.ts'
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
import { listSessionAddresses } from './session-address.store.ts'
import type { CheckScrubbers } from './update-shield.ts'
import type { EstimateWhatIf } from './what-if-port.ts'

export type SuggestDeps = {
  readonly postgres: Postgres
  readonly flowStore: FlowStore
  readonly estimate: EstimateWhatIf
  readonly checkScrubbers: CheckScrubbers
  /** Networks that no rule may name, beside the addresses of sessions. */
  readonly safelist: readonly Prefix[]
  readonly now: () => Date
}

const coverageDefault = 0.95
/** The beginning of a long attack is enough; all of it would be too expensive. */
const windowMaxMs = 6 * 3_600_000

/** Throws `not_found` unless the event concerns the team. Without flows the detector's report decides. */
export async function suggestShieldRules(
  deps: SuggestDeps,
  { actor: { teamId } }: Operation,
  eventId: string,
  { action, rate_bps: rate, coverage = coverageDefault }: BodyOf<typeof suggestShieldRulesRoute>,
): Promise<ShieldSuggestions> {
  if (rate !== undefined && action !== 'rate_limit') throw invalid(['body', 'rate_bps'], 'rateOfDeny')
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
  const traffic = { teamId, targets, startMs, endMs, measure: measureOf(event) }
  const suggested = prefix
    ? await suggestedOf(deps, { event, eventId, traffic, prefix, coverage, action, rate })
    : nothing
  const inPlace = appliedOf(found.inPlace, now.getTime())
  const suggestions = suggested.suggestions.map((one) => ({
    ...one,
    rule_id: findInPlace(one.rule, prefix!, inPlace)?.id ?? null,
  }))
  const added = suggestions.filter(({ rule_id }) => rule_id === null).map(({ rule }) => rule)
  const rules = [...added, ...found.rules.map(asNewRule)]
  const effect = await whatIf(deps, teamId, prefix, rules, startMs, endMs)
  return {
    event_id: eventId,
    prefix: prefix ?? null,
    start: event.start.toISOString(),
    end: new Date(endMs).toISOString(),
    ...suggested,
    measure: traffic.measure,
    suggestions,
    in_place_share: await inPlaceShare(deps, traffic, prefix, inPlace),
    rules,
    version,
    what_if: effect,
    warnings: warningsOfEffect(effect),
  }
}

/** Average length of packets at which both usual limits of detectors are exceeded equally. */
const usualOctets = 512

/** Returns the measure whose limit the attack exceeds by the larger factor; if the detector reports no limits, by the length of its packets. */
function measureOf({ bps, pps, details: { thresholds = {} } }: AttackedEvent): SuggestMeasure {
  const limitOf = (name: string): number => {
    const value = thresholds[name]
    return typeof value === 'number' && value > 0 ? value : 0
  }
  const [bitLimit, packetLimit] = [limitOf('bps'), limitOf('pps')]
  const octets = bitLimit > 0 && packetLimit > 0 ? bitLimit / 8 / packetLimit : usualOctets
  return pps > 0 && bps / 8 / pps < octets ? 'packets' : 'bytes'
}

type Wanted = {
  readonly event: AttackedEvent
  readonly eventId: string
  readonly traffic: Omit<AttackedTraffic, 'scope' | 'attacks'>
  readonly prefix: Prefix
  readonly coverage: number
  readonly action: 'deny' | 'rate_limit' | undefined
  readonly rate: number | undefined
}

async function suggestedOf(deps: SuggestDeps, wanted: Wanted): Promise<Suggested> {
  const { event, eventId, traffic, prefix, action, rate } = wanted
  const { targets } = traffic
  const comment = `Event ${eventId}`
  const fromFlows = await fromFlowsOf(deps, wanted)
  if (!fromFlows)
    return ofEvent(event, (conditions) =>
      ruleOf(
        conditions,
        targets,
        prefix,
        // Without flows the usual traffic is unknown.
        action === 'deny'
          ? { action }
          : limitTo({ bps: rate ?? Math.max(limitMin, event.bps * unknownPart) }),
        comment,
      ),
    )
  const build = (canLimitPackets: boolean): Suggested =>
    ofFlows(fromFlows, (traffic.endMs - traffic.startMs) / 1000, (suggested) =>
      ruleOf(
        suggested.conditions,
        targets,
        prefix,
        actionOf(suggested, action, rate, canLimitPackets),
        comment,
      ),
    )
  const suggested = build(true)
  const parsed = parseRules(
    suggested.suggestions.map((one) => one.rule),
    prefix,
  )
  const { refusals } = await deps.checkScrubbers(traffic.teamId, prefix, parsed)
  return refusals.some(({ field, max }) => field === 'rate_pps' && max === undefined)
    ? build(false)
    : suggested
}

/** Undefined without flows, and without a store that answers. */
async function fromFlowsOf(
  { flowStore, postgres: { front }, safelist: configured }: SuggestDeps,
  { traffic, prefix, coverage, action }: Wanted,
): Promise<SuggestedRules | undefined> {
  const [only] = traffic.targets
  const scope = traffic.targets.length === 1 ? only! : prefix
  const attacks = await listAttackWindows(front, traffic.teamId, spanOf(traffic), prefix)
  const safelist = [...configured, ...(await listSessionAddresses(front))]
  try {
    return await suggestRules(flowStore, { ...traffic, scope, attacks }, prefix, {
      coverage,
      mayLimit: action !== 'deny',
      safelist,
    })
  } catch (error) {
    if (error instanceof Failure) return undefined
    throw error
  }
}

/** The least limit that is suggested without flows: 1 Mbit/s. */
const limitMin = 1_000_000
/** Octets of a packet, for scrubbers that limit no packets: 512 bits are the least that Ethernet carries. */
const bitsOfPacket = 512

type Treatment = Pick<NewShieldRule, 'action' | 'rate_bps' | 'rate_pps'>

const limitTo = (rate: TrafficRate): Treatment =>
  'pps' in rate
    ? { action: 'rate_limit', rate_pps: rate.pps }
    : { action: 'rate_limit', rate_bps: Math.max(8, Math.round(rate.bps)) }

function actionOf(
  { action: chosen, rate }: SuggestedRule,
  wanted: Wanted['action'],
  bps: number | undefined,
  canLimitPackets: boolean,
): Treatment {
  if (bps !== undefined) return limitTo({ bps })
  if ((wanted ?? chosen) === 'deny' && chosen === 'deny') return { action: 'deny' }
  return limitTo('pps' in rate && !canLimitPackets ? { bps: rate.pps * bitsOfPacket } : rate)
}

type Suggested = Pick<
  ShieldSuggestions,
  'source' | 'attack_share' | 'normal_share' | 'attack_shares' | 'normal_shares' | 'usual'
> & {
  readonly suggestions: readonly Omit<ShieldSuggestion, 'rule_id'>[]
}
const unknownShares = { bytes: null, packets: null, flows: null }
const nothing: Suggested = {
  source: 'none',
  suggestions: [],
  attack_share: null,
  normal_share: null,
  attack_shares: unknownShares,
  normal_shares: unknownShares,
  usual: 'none',
}

function ofFlows(
  { rules, usual, ...all }: SuggestedRules,
  seconds: number,
  toRule: (suggested: SuggestedRule) => NewShieldRule,
): Suggested {
  return {
    source: 'flows',
    suggestions: rules.map((suggested) => ({
      rule: toRule(suggested),
      ...sharesOf(suggested),
      attack_bps: Math.round((suggested.attack.bytes * 8) / seconds),
    })),
    ...sharesOf(all),
    usual,
  }
}

const sharesOf = ({ attackShares, normalShares }: Pick<Choice, 'attackShares' | 'normalShares'>) => ({
  attack_share: attackShares.bytes,
  normal_share: normalShares?.bytes ?? null,
  attack_shares: attackShares,
  normal_shares: normalShares ?? unknownShares,
})

const portsOfReport = 5

/** From protocols and source ports of the detector's report: a rule only for a UDP port, as in amplification. */
function ofEvent({ details }: AttackedEvent, toRule: (conditions: Conditions) => NewShieldRule): Suggested {
  const protocols = (details.protocols ?? []).map((name) => name.toLowerCase())
  const ports = (details.source_ports ?? [])
    .map(({ port }) => port)
    .filter((port) => port > 0 && port < 32_768)
  if (!protocols.includes('udp') || ports.length === 0) return nothing
  const suggestions = [...new Set(ports)].slice(0, portsOfReport).map((port) => ({
    rule: toRule({ protocol: 'udp', source_port: String(port) }),
    attack_share: null,
    normal_share: null,
    attack_shares: unknownShares,
    normal_shares: unknownShares,
    attack_bps: 0,
  }))
  return { ...nothing, source: 'event', suggestions }
}

/** Returns the rule of a candidate. A single target inside the prefix is its destination. */
function ruleOf(
  conditions: Conditions,
  targets: readonly Prefix[],
  prefix: Prefix,
  treatment: Treatment,
  comment: string,
): NewShieldRule {
  const [target] = targets
  const isOne = targets.length === 1 && target !== prefix
  const destination = isOne ? { destination: isHost(target!) ? networkOf(target!) : target! } : {}
  return { ...treatment, ...conditions, ...destination, comment }
}

const isHost = (prefix: Prefix): boolean => prefix.endsWith(prefix.includes(':') ? '/128' : '/32')

type InPlace = ParsedRule & { readonly id: number }

/** The currently applied rules, in order of evaluation, without rules that cannot be parsed. */
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
  // Without a prefix of the team there is no traffic: the estimate of any other network is empty.
  return await estimate({
    teamId,
    prefix: prefix ?? ('192.0.2.0/32' as Prefix),
    rules: applied,
    startMs,
    endMs,
  })
}
