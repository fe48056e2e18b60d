// The guard of a scrubber: decides the allowed part of a plan, by evidence that is independent of the plan. Removing
// rules lets an attack in and adding rules drops traffic, so both need a reason in the database. Pure.
import type { ReasonOf } from '@pharos/contract/reason/approval-reason'
import { evidenceOf, type PlannedApproval } from '../approval/coverage.ts'
import { filterRuleText, type FilterRule, roundedAction } from '../net/filter-rule.ts'
import { coversMatch, type FlowMatch, halvesOfMatch, matchText } from '../net/flow-match.ts'
import { covers, type Prefix } from '../net/prefix.ts'
import type { CompiledList, InstalledList, RuleId, ScrubberCapabilities } from './scrubber.ts'

/** A list as its newest version was stored, read apart from the desired lists. */
export type ListEvidence = {
  readonly listId: number
  readonly teamId: number
  readonly prefix: Prefix
  readonly version: number
  /** The rules of the version that are applied now. */
  readonly rules: readonly FilterRule[]
  readonly manyRules: ManyRules
}

/**
 * Rules of a list that were written with many others. A rule counts if, when it was written, the team had more than
 * `newRulesMax` rules of the ten minutes before, that rule included. This depends only on the times of writing, so that
 * it is the same for every scrubber, after a restart, at any later time and in later versions, which keep unchanged
 * rules. A list that grew slowly never needs approval, even if a scrubber has lost it and gets all of it. Approved
 * rules no longer count.
 */
export type ManyRules = {
  /** The rules concerned that are not approved. */
  readonly rules: readonly RuleId[]
  /** Number of rules that the team had written in the ten minutes. */
  readonly count: number
  /**
   * The rules of each approval that is open or rejected. While all of them are in the list, they wait, even if other rules of the ten
   * minutes have been removed or approved since.
   */
  readonly asked: readonly (readonly RuleId[])[]
}

export type PlannedChanges = { readonly apply: readonly CompiledList[]; readonly remove: readonly Prefix[] }

export type GuardedChanges = PlannedChanges & { readonly approvals: readonly PlannedApproval[] }

/** New rules of one team in ten minutes that need no approval. */
export const newRulesMax = 200

/**
 * Returns the allowed changes; changes that need an approval are returned as `approvals` unless `isApproved`.
 * `evidence`: the resulting lists of the scrubber; for a list that needs approval, the rules that stay.
 */
export function guardChanges(
  planned: PlannedChanges,
  evidence: readonly ListEvidence[],
  installed: readonly InstalledList[],
  isApproved: (evidence: string) => boolean,
  ordering: ScrubberCapabilities['ordering'],
): GuardedChanges {
  // Former holders of a prefix still have lists for it, without rules.
  const byPrefix = new Map(
    evidence.toSorted((a, b) => a.rules.length - b.rules.length).map((one) => [one.prefix, one]),
  )
  const approvals: PlannedApproval[] = []
  const apply = planned.apply.filter((list) => {
    const stored = byPrefix.get(list.prefix)
    const found =
      stored && isPlanOf(list.rules, stored, evidence, ordering)
        ? approvalsOfList(stored).filter((one) => !isApproved(one.evidence))
        : [planDiffers(list, stored)]
    approvals.push(...found.slice(0, 1))
    return found.length === 0
  })
  const isExplained = (prefix: Prefix): boolean => {
    const stored = byPrefix.get(prefix)
    return stored !== undefined && stored.rules.every((_, at) => isHidden(stored, at, evidence))
  }
  const unexplained = planned.remove.filter((prefix) => !isExplained(prefix))
  const removal = unexplained.length > 0 ? approvalOfRemovals(unexplained, evidence, installed) : undefined
  const isAllowed = removal === undefined || isApproved(removal.evidence)
  if (!isAllowed) approvals.push(removal)
  return { apply, remove: isAllowed ? planned.remove : planned.remove.filter(isExplained), approvals }
}

/** `list`: null for the scrubber as a whole. */
const approvalOf = (
  reason: ReasonOf<'shield'>,
  list: Pick<ListEvidence, 'listId' | 'teamId'> | null,
  attrs: Readonly<Record<string, unknown>>,
  change: 'apply' | 'remove',
  prefixes: readonly Prefix[],
  ...covered: readonly unknown[]
): PlannedApproval => ({
  kind: reason,
  listId: list?.listId ?? null,
  teamId: list?.teamId ?? null,
  findings: [{ reason, attrs }],
  items: prefixes.slice(0, storedMax).map((value) => ({ change, value })),
  itemCount: prefixes.length,
  evidence: evidenceOf(reason, ...covered),
})

/** The most prefixes that are stored: the evidence covers all. */
const storedMax = 1_000

function planDiffers({ prefix, rules }: CompiledList, stored: ListEvidence | undefined): PlannedApproval {
  const attrs = { prefix, version: stored?.version ?? null }
  const texts = rules.map(filterRuleText)
  return approvalOf('plan_differs', stored ?? null, attrs, 'apply', [prefix], prefix, texts)
}

/** The reasons for which the list needs an approval. */
function approvalsOfList(list: ListEvidence): PlannedApproval[] {
  const { listId, prefix, version, rules, manyRules } = list
  const approvals: PlannedApproval[] = []
  const broad = rules.filter((rule) => dropsWhole(rule, prefix))
  if (broad.length > 0) {
    const texts = broad.map((rule) => filterRuleText({ ...rule, id: 0 }))
    const attrs = { prefix, version, rules: broad.map(({ id }) => id) }
    approvals.push(approvalOf('whole_prefix', list, attrs, 'apply', [prefix], listId, texts))
  }
  const many = oneOfMany(rules, manyRules)
  if (many.length > 0) {
    const count = Math.max(manyRules.count, many.length)
    const attrs = { prefix, version, count, max: newRulesMax, rules: many }
    approvals.push(approvalOf('many_rules', list, attrs, 'apply', [prefix], listId, many))
  }
  return approvals
}

/**
 * Returns the ids of the rules that need approval because there are many, ascending: moving a rule needs no new
 * approval.
 */
function oneOfMany(rules: readonly FilterRule[], { rules: written, asked }: ManyRules): RuleId[] {
  const applied = new Set(rules.map(({ id }) => id))
  const waiting = asked.filter((ids) => ids.every((id) => applied.has(id)))
  return [...new Set([...written, ...waiting.flat()])]
    .filter((id) => applied.has(id))
    .toSorted((a, b) => a - b)
}

/**
 * Returns whether the compiled rules match the version: each one is a part of a stored rule with its action, and every
 * stored rule is there unless it is hidden.
 */
function isPlanOf(
  rules: readonly FilterRule[],
  stored: ListEvidence,
  evidence: readonly ListEvidence[],
  ordering: ScrubberCapabilities['ordering'],
): boolean {
  const byId = new Map(stored.rules.map((rule) => [rule.id, rule]))
  const isPart = (rule: FilterRule): boolean => {
    const origin = byId.get(rule.id)
    return origin !== undefined && isActionOf(rule, origin, ordering) && coversMatch(origin.match, rule.match)
  }
  const present = new Set(rules.map(({ id }) => id))
  return (
    rules.every(isPart) &&
    stored.rules.every(({ id }, at) => present.has(id) || isHidden(stored, at, evidence))
  )
}

/** FlowSpec has the rate of a limit as float32: the nearest rate matches the rule. */
function isActionOf(
  { id, match, action }: FilterRule,
  origin: FilterRule,
  ordering: ScrubberCapabilities['ordering'],
): boolean {
  const expected = ordering === 'flowspec' ? roundedAction(origin.action) : origin.action
  return filterRuleText({ id, match, action: expected }) === filterRuleText({ id, match, action })
}

/**
 * Returns whether earlier rules match all packets of this rule: earlier rules of the list, and all rules of lists for
 * more specific prefixes, which decide first. A scrubber may get the rule in parts, so that different rules may hide
 * its parts.
 */
function isHidden({ prefix, rules }: ListEvidence, at: number, evidence: readonly ListEvidence[]): boolean {
  const inside = evidence.filter((one) => one.prefix !== prefix && covers(prefix, one.prefix))
  const before = [...inside.flatMap((one) => one.rules), ...rules.slice(0, at)].map(({ match }) => match)
  return isCovered(rules[at]!.match, before)
}

function isCovered(match: FlowMatch, by: readonly FlowMatch[]): boolean {
  if (by.some((one) => coversMatch(one, match))) return true
  return halvesOfMatch(match)?.every((half) => isCovered(half, by)) ?? false
}

const dropsWhole = ({ match, action }: FilterRule, prefix: Prefix): boolean =>
  action.kind !== 'allow' && matchText(match) === matchText({ destination: prefix })

function approvalOfRemovals(
  prefixes: readonly Prefix[],
  evidence: readonly ListEvidence[],
  installed: readonly InstalledList[],
): PlannedApproval {
  const reason = evidence.length === 0 ? 'no_lists' : 'unexplained_removals'
  const counts = new Map(installed.map(({ prefix, ruleCount }) => [prefix, ruleCount]))
  const attrs = {
    count: prefixes.length,
    rules: prefixes.reduce((sum, prefix) => sum + (counts.get(prefix) ?? 0), 0),
  }
  return approvalOf(reason, null, attrs, 'remove', prefixes, prefixes.toSorted())
}
