// Whether installed rules drop or limit an attack. Pure.
import type { FilterRule } from '../net/filter-rule.ts'
import { coversMatch, overlapMatches, rangeConditions, type FlowMatch } from '../net/flow-match.ts'
import { covers, lengthOf, type Prefix } from '../net/prefix.ts'
import { createPrefixMap, type PrefixMap } from '../net/prefix-map.ts'
import { sourcesOf, attackVectorsOf, type ReportedAttack } from './attack-match.ts'

/** The installed rules of a list, in order, with the time of writing. */
export type HeldList = {
  readonly prefix: Prefix
  readonly rules: readonly (FilterRule & { readonly created: Date })[]
}

export type Mitigation = {
  /** Whether a rule for the whole network drops or limits anything: others need no comparison. */
  mayConcern(network: Prefix): boolean
  /**
   * Returns a rule that drops or limits the attack: it applies to a whole network of the attack, and the known
   * properties of the attack meet its conditions and are not allowed by an earlier rule. A condition on an unknown
   * property counts as met only if the rule was written after the attack began: otherwise an older rule would make
   * every attack of an unknown kind look mitigated.
   */
  ruleAgainst(attack: ReportedAttack): HeldList['rules'][number] | undefined
}

type Ranked = { readonly rank: number; readonly rule: HeldList['rules'][number] }

/** Of the lists of one team on one scrubber. The list of the more specific prefix comes first, as the scrubber applies it. */
export function createMitigation(lists: readonly HeldList[]): Mitigation {
  const rules = lists
    .toSorted((a, b) => lengthOf(b.prefix) - lengthOf(a.prefix))
    .flatMap((list) => list.rules)
    .map((rule, rank): Ranked => ({ rank, rule }))
  const byDestination = createPrefixMap(rules.map((ranked) => [ranked.rule.match.destination, ranked]))
  return {
    mayConcern: (network) => byDestination.covering(network).some(({ rule }) => rule.action.kind !== 'allow'),
    ruleAgainst: (attack) => findRule(attack, byDestination),
  }
}

function findRule(attack: ReportedAttack, byDestination: PrefixMap<Ranked>): Ranked['rule'] | undefined {
  const vectors = attackVectorsOf(attack)
  const sources = sourcesOf(attack)
  for (const destination of attack.networks)
    for (const vector of vectors) {
      const packets: FlowMatch = { ...vector, destination }
      let first: Ranked | undefined
      byDestination.forEachCovering(destination, (ranked) => {
        if (
          (first === undefined || ranked.rank < first.rank) &&
          decides(ranked.rule, packets, attack.start, sources)
        )
          first = ranked
      })
      const rule = (first as Ranked | undefined)?.rule
      if (rule !== undefined && rule.action.kind !== 'allow') return rule
    }
  return undefined
}

/** Whether the rule decides about the packets: a rule that allows only a part of them does not. */
function decides(
  { match, action, created }: Ranked['rule'],
  packets: FlowMatch,
  start: Date,
  sources: readonly Prefix[],
): boolean {
  if (action.kind === 'allow') return coversMatch(match, packets)
  return (
    overlapMatches(match, packets) &&
    includesSource(match, sources) &&
    (created >= start || !hasUnknown(match, packets, sources))
  )
}

/** Sources are sampled: a single source inside is enough. */
const includesSource = ({ source }: FlowMatch, sources: readonly Prefix[]): boolean =>
  source === undefined || sources.length === 0 || sources.some((one) => covers(source, one))

/** Whether the match has a condition on something that is not known of the packets. */
const hasUnknown = (match: FlowMatch, packets: FlowMatch, sources: readonly Prefix[]): boolean =>
  [...rangeConditions, 'tcpFlags' as const, 'fragment' as const].some(
    (name) => match[name] !== undefined && packets[name] === undefined,
  ) ||
  (match.source !== undefined && sources.length === 0)
