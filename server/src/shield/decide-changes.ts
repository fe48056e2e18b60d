// The changes of a scrubber: the plan for all lists, as far as the guard allows it. Pure.
import type { PlannedApproval } from '../approval/coverage.ts'
import type { FilterRule } from '../net/filter-rule.ts'
import type { Prefix } from '../net/prefix.ts'
import type { compileLists, CompileResult, OrderedList } from './compile.ts'
import {
  guardChanges,
  type GuardedChanges,
  type ListEvidence,
  type PlannedChanges,
} from './reconcile-guard.ts'
import type { StoredRule } from './reconcile.store.ts'
import type { InstalledList, planLists, Scrubber } from './scrubber.ts'
import { findStored } from './shield-rule.ts'

export type ListsState = {
  readonly desired: readonly (OrderedList & { readonly listId: number })[]
  /** Lists that are not touched. */
  readonly unreadable: readonly { readonly prefix: Prefix }[]
  readonly evidence: readonly ListEvidence[]
  /** Hashes of approved changes. */
  readonly decided: { readonly approved: ReadonlySet<string> }
  /** Rules of each list on the scrubber when it was last read. */
  readonly held: ReadonlyMap<number, readonly StoredRule[]>
}

export type Planner = {
  readonly can: Scrubber['can']
  readonly compile: typeof compileLists
  readonly plan: typeof planLists
}

/**
 * A list that needs approval stays as it is, and all others are decided again beside its installed rules: no list may
 * rely on rules that are not applied.
 */
export function decideChanges(
  { desired, unreadable, evidence, decided, held }: ListsState,
  before: readonly InstalledList[],
  { can, compile, plan }: Planner,
): { readonly compiled: CompileResult; readonly guarded: GuardedChanges } {
  const waiting = new Map<number, PlannedApproval>()
  const asItStays = <List extends { listId: number; prefix: Prefix; rules: readonly FilterRule[] }>(
    list: List,
  ): List =>
    waiting.has(list.listId)
      ? { ...list, rules: readable(keptBy(before, list.prefix) ?? held.get(list.listId) ?? [], list.prefix) }
      : list
  const isApproved = (hash: string) => decided.approved.has(hash)
  for (;;) {
    const compiled = compile(
      desired.map(asItStays).map(({ prefix, rules }) => ({ prefix, rules })),
      can,
      before,
    )
    const waits = desired.filter(({ listId }) => waiting.has(listId))
    const kept = new Set([...compiled.refused, ...unreadable, ...waits].map(({ prefix }) => prefix))
    const planned = without(kept, plan(compiled.lists, before, can.ordering))
    const guarded = guardChanges(planned, evidence.map(asItStays), before, isApproved, can.ordering)
    const more = guarded.approvals.filter(({ listId }) => listId !== null)
    if (more.length === 0)
      return { compiled, guarded: { ...guarded, approvals: [...waiting.values(), ...guarded.approvals] } }
    for (const one of more) waiting.set(one.listId!, one)
  }
}

/** The scrubber keeps its version of the lists of these prefixes. */
const without = (prefixes: ReadonlySet<Prefix>, planned: PlannedChanges): PlannedChanges => ({
  apply: planned.apply.filter(({ prefix }) => !prefixes.has(prefix)),
  remove: planned.remove.filter((prefix) => !prefixes.has(prefix)),
})

/** The rules on a scrubber of a list that is not applied: empty, or null for the former ones. */
export const keptBy = (installed: readonly InstalledList[], prefix: Prefix): readonly [] | null =>
  installed.some((list) => list.prefix === prefix) ? null : []

const readable = (rules: readonly StoredRule[], prefix: Prefix): FilterRule[] =>
  rules.flatMap((rule) => {
    const parsed = findStored(rule, prefix)
    return parsed ? [{ id: rule.id, ...parsed }] : []
  })
