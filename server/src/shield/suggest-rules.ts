// Suggests rules against an attack from flows: frequent properties become candidates, a second statement measures them
// together, and a third the usual rates of candidates for a limit.
import { overlapMatches, icmpOf, type FlowMatch } from '../net/flow-match.ts'
import { familyOf, parseAddress } from '../net/address.ts'
import { overlaps, prefixAround, type Prefix } from '../net/prefix.ts'
import { parseRuleMatch } from './rule.ts'
import { asFlowFailure } from '../flow/flow-failure.ts'
import type { FlowStatement } from '../flow/flow-query.ts'
import type { FlowStore } from '../flow/flow-store.ts'
import {
  bandRange,
  cellsStatement,
  frequentStatement,
  knownStatement,
  ratesStatement,
  usualTrafficOf,
  type AttackedTraffic,
  type CellRow,
  type FrequentRow,
  type KnownRow,
  type RateRow,
  type UsualTraffic,
} from './suggest-query.ts'
import {
  candidatesOf,
  chooseRules,
  type Candidate,
  type Choice,
  type Chosen,
  type Conditions,
  type Frequent,
} from './suggest.ts'

/** Packets or bits a second. */
export type TrafficRate = { readonly pps: number } | { readonly bps: number }

export type SuggestedRule = Chosen & {
  readonly conditions: Conditions
  /** The rate that a limit lets pass. */
  readonly rate: TrafficRate
}

export type SuggestedRules = Omit<Choice, 'rules'> & {
  readonly rules: readonly SuggestedRule[]
  readonly usual: UsualTraffic['kind']
}

export type SuggestOptions = {
  /** The part of the attack after which no further rule is added. */
  readonly coverage: number
  readonly mayLimit: boolean
  /** Senders that no rule names: sessions of the provider. */
  readonly safelist: readonly Prefix[]
}

/** The part of the attack that must have these lengths for them to be a condition. */
const lengthShareMin = 0.8
/** A property of less than this part of the attack is no candidate. */
const propertyShareMin = 0.02

/**
 * Suggests rules of the list of `prefix` for traffic towards the targets, which are inside it. Undefined if there are no flows of the
 * attack. Throws `unavailable` without the store, and `query_too_expensive`.
 */
export async function suggestRules(
  flowStore: FlowStore,
  traffic: AttackedTraffic,
  prefix: Prefix,
  { coverage, mayLimit, safelist }: SuggestOptions,
): Promise<SuggestedRules | undefined> {
  const run = async <T>({ sql, params, limits }: FlowStatement): Promise<T[]> => {
    try {
      return await flowStore.query<T>(sql, params, limits)
    } catch (error) {
      throw asFlowFailure(error)
    }
  }
  const usual = usualTrafficOf(traffic, await run<KnownRow>(knownStatement(traffic)))
  const rows = await run<FrequentRow>(frequentStatement(traffic, usual))
  const all = rows.filter(({ kind }) => kind === 'protocol').reduce((sum, { attack }) => sum + attack, 0)
  if (all === 0) return undefined
  const frequent = rows
    .filter(({ attack, normal }) => attack - normal >= all * propertyShareMin)
    .toSorted((a, b) => b.attack - b.normal - (a.attack - a.normal))
    .map((row) => frequentOf(row, prefix))
  const matched = candidatesOf(frequent)
    .map((candidate) => ({ candidate, match: parseRuleMatch(candidate.conditions, prefix) }))
    .filter(({ match }) => mayBeSuggested(match, prefix, safelist))
  const candidates = matched.map(({ candidate }) => candidate)
  const matches = matched.map(({ match }) => match)
  const cells = await run<CellRow>(cellsStatement(traffic, usual, matches))
  const isUsualKnown = usual.kind !== 'none'
  const { measure } = traffic
  const choice = chooseRules(cells.map(cellOf), candidates, { measure, coverage, isUsualKnown, mayLimit })
  const chosen = choice.rules.map(({ index }) => matches[index]!)
  const rates =
    isUsualKnown && chosen.length > 0 ? await run<RateRow>(ratesStatement(traffic, usual, chosen)) : []
  const seconds = Math.max(1, (traffic.endMs - traffic.startMs) / 1000)
  return {
    ...choice,
    usual: usual.kind,
    rules: choice.rules.map((rule, at) => {
      const candidate = candidates[rule.index]!
      const measured = rates.find(({ place }) => place === at) ?? { pps: 0, bps: 0 }
      const rate = isUsualKnown
        ? { pps: measured.pps * usualTimes, bps: measured.bps * usualTimes }
        : {
            pps: (rule.attack.packets / seconds) * unknownPart,
            bps: ((rule.attack.bytes * 8) / seconds) * unknownPart,
          }
      return { ...rule, conditions: candidate.conditions, rate: limitOf(candidate, traffic, rate) }
    }),
  }
}

/** A limit lets twice the usual rate pass; if it is not known, a tenth of the attack. */
const usualTimes = 2
export const unknownPart = 0.1
/** The least limits that are suggested. */
const ppsMin = 100
const bpsMin = 1_000_000

/** Packets that open connections, and ICMP packets, are limited by number, whatever their octets are. */
function limitOf(
  { conditions }: Candidate,
  { measure }: Pick<AttackedTraffic, 'measure'>,
  { pps, bps }: { readonly pps: number; readonly bps: number },
): TrafficRate {
  return measure === 'packets' || conditions.tcp_flags !== undefined || conditions.protocol === 'icmp'
    ? { pps: Math.max(ppsMin, Math.ceil(pps)) }
    : { bps: Math.max(bpsMin, Math.ceil(bps)) }
}

const cellOf = (row: CellRow) => ({
  mask: row.mask,
  attack: { bytes: row.attack_bytes, packets: row.attack_packets, flows: row.attack_flows },
  normal: { bytes: row.normal_bytes, packets: row.normal_packets, flows: row.normal_flows },
})

/** Types of ICMPv6 without which a link has no neighbors (RFC 4861). */
const neighborDiscovery = [133, 137] as const

/** Whether a rule may be suggested: it matches no neighbor discovery, and names no sender of the safelist. */
function mayBeSuggested(match: FlowMatch, prefix: Prefix, safelist: readonly Prefix[]): boolean {
  const protocol = icmpOf(6)
  const discovery: FlowMatch = {
    destination: prefix,
    protocol: [[protocol, protocol]],
    icmpType: [neighborDiscovery],
    // RFC 6980: it is never fragmented.
    fragment: false,
  }
  const { source } = match
  return (
    !(familyOf(prefix) === 6 && overlapMatches(match, discovery)) &&
    !(source !== undefined && safelist.some((one) => overlaps(one, source)))
  )
}

function frequentOf(
  { kind, protocol, value, band, in_band: inBand, exact, in_exact: inExact, attack }: FrequentRow,
  prefix: Prefix,
): Frequent {
  const { low, high } = bandRange(band)
  const isBandTold = inBand >= attack * lengthShareMin && (low > 0 || high < 65_535)
  return {
    kind: kind as Frequent['kind'],
    protocol,
    value: kind === 'source' ? sourceOf(value, prefix) : value,
    lengths: [
      ...(inExact >= attack * lengthShareMin ? [[exact, exact] as const] : []),
      ...(isBandTold ? [[low, high] as const] : []),
    ],
  }
}

/** Flags and a network; the store has IPv4 as ::ffff:a.b.c.d. */
function sourceOf(value: string, prefix: Prefix): string {
  const [flags, stored] = value.split(' ') as [string, string]
  const text = stored.replace(/^::ffff:(?=[0-9.]+$)/, '')
  return `${flags} ${prefixAround(parseAddress(text), prefix.includes(':') ? 48 : 24)}`
}
