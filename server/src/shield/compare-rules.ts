// Compares the rules of a request with the stored ones by their meaning, because a condition can be written in several
// ways. Pure.
import { isDeepStrictEqual } from 'node:util'
import type { Prefix } from '../net/prefix.ts'
import type { RuleRow } from './shield-list.store.ts'
import { findStored, identityOf, type ParsedRule, type VersionedRule } from './shield-rule.ts'

/** Whether the list stays as it is, apart from how its conditions are written. */
export const sameRules = (
  stored: readonly RuleRow[],
  rules: readonly ParsedRule[],
  prefix: Prefix,
): boolean =>
  stored.length === rules.length &&
  stored.every((row, at) => {
    const { sequence, enabled, comment, expires, ...rule } = rules[at]!
    return (
      row.sequence === sequence &&
      row.enabled === enabled &&
      row.comment === comment &&
      (row.expires?.getTime() ?? null) === expires &&
      findIdentity(row, prefix) === identityOf(rule)
    )
  })

/** Whether the conditions of rules that are the same are written as they are stored. */
export const sameText = (stored: readonly RuleRow[], rules: readonly ParsedRule[]): boolean =>
  stored.every(({ match }, at) => isDeepStrictEqual(match, rules[at]!.match))

/** Rules whose conditions and action are stored already keep their id, each id once. */
export function withIds(
  rules: readonly ParsedRule[],
  stored: readonly RuleRow[],
  prefix: Prefix,
): VersionedRule[] {
  const ids = new Map<string, number[]>()
  for (const row of stored) {
    const identity = findIdentity(row, prefix)
    if (identity !== undefined) ids.set(identity, [...(ids.get(identity) ?? []), row.id])
  }
  return rules.map((rule) => {
    const { parsed: _parsed, ...written } = rule
    const id = ids.get(identityOf(rule))?.shift()
    return { ...written, ...(id === undefined ? {} : { id }) }
  })
}

/** Undefined if the rule cannot be parsed any more: it counts as missing. */
function findIdentity(row: RuleRow, prefix: Prefix): string | undefined {
  const parsed = findStored(row, prefix)
  return parsed && identityOf({ parsed })
}
