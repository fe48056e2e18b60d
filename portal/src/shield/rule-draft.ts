// The rules of a list while they are edited: order and content before and after, and what differs. Pure.
import { networkText } from '@pharos/contract/network-text'
import type { NewShieldRule, ShieldList, ShieldRule } from '@pharos/contract/shield/shield'

/** The content of a rule, all fields set; null is any. */
export type RuleContent = Required<Omit<NewShieldRule, 'sequence'>>

export type DraftRule = RuleContent & {
  /** Stays the same while the rule is edited. */
  readonly key: string
}

export const emptyContent: RuleContent = {
  enabled: true,
  action: 'deny',
  protocol: 'any',
  source: null,
  source_port: null,
  destination: null,
  destination_port: null,
  tcp_flags: null,
  icmp_type: null,
  icmp_code: null,
  fragment: 'any',
  packet_length: null,
  dscp: null,
  rate_bps: null,
  rate_pps: null,
  comment: '',
  expires: null,
}

const names = Object.keys(emptyContent) as (keyof RuleContent)[]

/** Returns the content of a rule of the API; what it leaves out is any. */
export function contentOf(rule: NewShieldRule | ShieldRule | DraftRule): RuleContent {
  const content = wholeOf(rule)
  return { ...content, source: hostOf(content.source), destination: hostOf(content.destination) }
}

/** A single address without its length: the API writes it in both ways. */
const hostOf = (network: string | null): string | null => (network === null ? null : networkText(network))

function wholeOf(rule: NewShieldRule | ShieldRule | DraftRule): RuleContent {
  return Object.fromEntries(names.map((name) => [name, rule[name] ?? emptyContent[name]])) as RuleContent
}

export const draftOf = (rule: NewShieldRule | ShieldRule, key: string): DraftRule => ({
  ...contentOf(rule),
  key,
})

/** Replaces the rule with the same key, or appends the rule. */
export function withRule(list: readonly DraftRule[], rule: DraftRule): readonly DraftRule[] {
  const at = list.findIndex(({ key }) => key === rule.key)
  return at < 0 ? [...list, rule] : list.with(at, rule)
}

/**
 * Returns the version that these rules are. They and the list come from two requests: if the list already has other rules, it is the
 * earlier version, and 0 if that is not known, so that the server refuses a change which is based on it.
 */
export function versionOf(
  rules: readonly Pick<ShieldRule, 'version'>[],
  list: Pick<ShieldList, 'version' | 'rule_count'> | null,
): number {
  return rules[0]?.version ?? (list?.rule_count === 0 ? list.version : 0)
}

/** Returns the rules as the API takes them, numbered by their order. */
export const requestOf = (rules: readonly DraftRule[]): NewShieldRule[] =>
  rules.map((rule) => contentOf(rule))

export const isSame = (a: RuleContent, b: RuleContent): boolean => names.every((name) => a[name] === b[name])

export type RuleChange = 'added' | 'changed' | 'moved'

export type ListPlan = {
  readonly added: readonly DraftRule[]
  readonly removed: readonly DraftRule[]
  readonly changed: readonly { readonly before: DraftRule; readonly after: DraftRule }[]
  readonly moved: readonly DraftRule[]
  readonly count: number
}

/** Returns what differs between two lists. A rule has moved if it is not part of the longest run that kept its order. */
export function planOf(before: readonly DraftRule[], after: readonly DraftRule[]): ListPlan {
  const earlier = new Map(before.map((rule, at) => [rule.key, { rule, at }]))
  const kept = after.filter(({ key }) => earlier.has(key))
  const keys = new Set(after.map(({ key }) => key))
  const changed = kept
    .map((rule) => ({ before: earlier.get(rule.key)!.rule, after: rule }))
    .filter((one) => !isSame(one.before, one.after))
  const changedKeys = new Set(changed.map(({ after: { key } }) => key))
  const inOrder = longestRise(kept.map(({ key }) => earlier.get(key)!.at))
  const moved = kept.filter((rule, at) => !inOrder.has(at) && !changedKeys.has(rule.key))
  const added = after.filter(({ key }) => !earlier.has(key))
  const removed = before.filter(({ key }) => !keys.has(key))
  // A rule that is changed and moved counts once.
  const count = added.length + removed.length + changed.length + moved.length
  return { added, removed, changed, moved, count }
}

/** Returns the indexes of a longest rising subsequence. */
function longestRise(values: readonly number[]): ReadonlySet<number> {
  const length: number[] = []
  const previous: number[] = []
  let last = -1
  values.forEach((value, at) => {
    length[at] = 1
    previous[at] = -1
    for (let earlier = 0; earlier < at; earlier++)
      if (values[earlier]! < value && length[earlier]! >= length[at]!) {
        length[at] = length[earlier]! + 1
        previous[at] = earlier
      }
    if (last < 0 || length[at]! > length[last]!) last = at
  })
  const chosen = new Set<number>()
  for (let at = last; at >= 0; at = previous[at]!) chosen.add(at)
  return chosen
}

/** Returns how a rule differs from the applied list, for its mark; undefined if it does not. */
export function changeOf(plan: ListPlan, key: string): RuleChange | undefined {
  if (plan.added.some((rule) => rule.key === key)) return 'added'
  if (plan.changed.some(({ after }) => after.key === key)) return 'changed'
  return plan.moved.some((rule) => rule.key === key) ? 'moved' : undefined
}

/** Returns the list with one element at another place. */
export function moved<T>(list: readonly T[], from: number, to: number): readonly T[] {
  const target = Math.max(0, Math.min(list.length - 1, to))
  if (from === target || list[from] === undefined) return list
  return list.toSpliced(from, 1).toSpliced(target, 0, list[from])
}
