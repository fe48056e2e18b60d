// The guard of a scrubber: what of a plan may be applied, by evidence that the plan was not made from. Taking rules away lets an attack
// in and adding rules drops traffic, so that both need a reason in the database. Pure.
import { createHash } from 'node:crypto'
import type { ShieldHoldReason } from '@pharos/contract/shield-hold'
import { filterRuleText, type FilterRule } from '../../net/filter-rule.ts'
import { coversMatch, matchText } from '../../net/flow-match.ts'
import type { Prefix } from '../../net/prefix.ts'
import type { CompiledList, InstalledList } from './scrubber.ts'

/** A list as its newest version was stored, read apart from the desired lists. */
export type ListEvidence = {
  readonly listId: number
  readonly teamId: number
  readonly prefix: Prefix
  readonly version: number
  /** The rules of the version that are applied now. */
  readonly rules: readonly FilterRule[]
  /** New rules of the team in the last ten minutes. */
  readonly newRules: number
}

export type PlannedChanges = { readonly apply: readonly CompiledList[]; readonly remove: readonly Prefix[] }

export type PlannedHold = {
  /** Null: about the scrubber as a whole. */
  readonly listId: number | null
  readonly teamId: number | null
  readonly reason: ShieldHoldReason
  readonly attrs: Readonly<Record<string, unknown>>
  readonly evidence: string
}

export type GuardedChanges = PlannedChanges & { readonly holds: readonly PlannedHold[] }

/** New rules of one team in ten minutes that need no approval. */
const newRulesMax = 200

/** Returns the changes that may be made; those that need an approval become holds unless `isApproved`. */
export function guardChanges(
  planned: PlannedChanges,
  evidence: readonly ListEvidence[],
  installed: readonly InstalledList[],
  isApproved: (evidence: string) => boolean,
): GuardedChanges {
  const byPrefix = new Map(evidence.map((one) => [one.prefix, one]))
  const holds: PlannedHold[] = []
  const apply = planned.apply.filter((list) => {
    const hold = holdOfList(list, byPrefix.get(list.prefix))
    if (!hold || (hold.reason !== 'plan_differs' && isApproved(hold.evidence))) return true
    holds.push(hold)
    return false
  })
  const isExplained = (prefix: Prefix) => byPrefix.get(prefix)?.rules.length === 0
  const unexplained = planned.remove.filter((prefix) => !isExplained(prefix))
  const removal = unexplained.length > 0 ? holdOfRemovals(unexplained, evidence, installed) : undefined
  const isAllowed = removal === undefined || isApproved(removal.evidence)
  if (!isAllowed) holds.push(removal)
  return { apply, remove: isAllowed ? planned.remove : planned.remove.filter(isExplained), holds }
}

/** The lists for which the plan would do something that only an approval allows. */
function holdOfList(
  { prefix, rules }: CompiledList,
  stored: ListEvidence | undefined,
): PlannedHold | undefined {
  if (!stored || !isPlanOf(rules, stored)) {
    const attrs = { prefix, version: stored?.version ?? null }
    const evidence = hashOf('plan_differs', prefix, rules.map(filterRuleText))
    return {
      listId: stored?.listId ?? null,
      teamId: stored?.teamId ?? null,
      reason: 'plan_differs',
      attrs,
      evidence,
    }
  }
  const { listId, teamId, version, newRules } = stored
  const broad = stored.rules.filter((rule) => dropsWhole(rule, prefix))
  if (broad.length > 0) {
    const texts = broad.map((rule) => filterRuleText({ ...rule, id: 0 }))
    const attrs = { prefix, version, rules: broad.map(({ id }) => id) }
    return { listId, teamId, reason: 'whole_prefix', attrs, evidence: hashOf('whole_prefix', listId, texts) }
  }
  if (newRules > newRulesMax) {
    const attrs = { prefix, version, count: newRules, max: newRulesMax }
    return { listId, teamId, reason: 'many_rules', attrs, evidence: hashOf('many_rules', listId, version) }
  }
  return undefined
}

/**
 * Whether the compiled rules are those of the version: each one is a part of a stored rule with its action, and every stored rule is
 * there, unless an earlier one covers it.
 */
function isPlanOf(rules: readonly FilterRule[], stored: ListEvidence): boolean {
  const byId = new Map(stored.rules.map((rule) => [rule.id, rule]))
  const isPart = ({ id, match, action }: FilterRule): boolean => {
    const origin = byId.get(id)
    return (
      origin !== undefined && isSameAction(origin, { id, match, action }) && coversMatch(origin.match, match)
    )
  }
  const present = new Set(rules.map(({ id }) => id))
  const isHidden = (rule: FilterRule, at: number): boolean =>
    stored.rules.slice(0, at).some(({ match }) => coversMatch(match, rule.match))
  return rules.every(isPart) && stored.rules.every((rule, at) => present.has(rule.id) || isHidden(rule, at))
}

const isSameAction = (a: FilterRule, b: FilterRule): boolean =>
  filterRuleText({ ...a, match: b.match }) === filterRuleText(b)

const dropsWhole = ({ match, action }: FilterRule, prefix: Prefix): boolean =>
  action.kind !== 'allow' && matchText(match) === matchText({ destination: prefix })

function holdOfRemovals(
  prefixes: readonly Prefix[],
  evidence: readonly ListEvidence[],
  installed: readonly InstalledList[],
): PlannedHold {
  const reason = evidence.length === 0 ? 'no_lists' : 'unexplained_removals'
  const counts = new Map(installed.map(({ prefix, ruleCount }) => [prefix, ruleCount]))
  const attrs = {
    count: prefixes.length,
    prefixes: prefixes.slice(0, 1000),
    rules: prefixes.reduce((sum, prefix) => sum + (counts.get(prefix) ?? 0), 0),
  }
  return { listId: null, teamId: null, reason, attrs, evidence: hashOf(reason, prefixes.toSorted()) }
}

/** Identifies exactly what a hold is about. */
export const hashOf = (...parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex')
