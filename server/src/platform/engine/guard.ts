// The limit of deletions without approval: a wrong or incomplete document must not empty the platform, and removals of
// unbilled objects need a person. Pure.
import { createHash } from 'node:crypto'
import { removalsMax } from '../../approval/budget.ts'
import { rowsByKey } from './define-kind.ts'
import type { PlatformChange, Current, PlanOptions } from './kind.ts'
import { managerOf, type Desired, type ApplyPlan } from './plan.ts'
import type { Registry } from './registry.ts'

/** More deletions of one kind than are made without approval. */
export type HeldDeletions = {
  readonly kind: string
  readonly deletions: number
  readonly limit: number
  readonly keys: readonly string[]
}

/**
 * Returns the kinds of which the plan deletes more than 3 and more than 5 % of the rows that the source manages, or
 * rows that always need approval.
 */
export function findHeldDeletions(
  registry: Registry,
  plan: ApplyPlan,
  desired: Desired,
  current: Current,
  { source = 'platform' }: PlanOptions,
): HeldDeletions[] {
  const named = new Set(desired.entries.map(({ kind, key }) => `${kind} ${key}`))
  /** An element in use that the document does not name is first taken out of use. */
  const isRemoval = ({ action, kind, key }: PlatformChange) =>
    action === 'delete' || (action === 'update' && !named.has(`${kind} ${key}`))
  return registry.kinds
    .map((kind) => {
      const rows = [...rowsByKey(current, kind).values()].filter((row) => managerOf(row) === source)
      const limit = removalsMax(rows.length)
      const removals = plan.changes.filter((change) => change.kind === kind.name && isRemoval(change))
      const keys = removals.map(({ key }) => key).toSorted()
      const areHeld = keys.some((key) => rowsByKey(current, kind).get(key)?.isRemovalHeld)
      return { kind: kind.name, deletions: removals.length, limit: areHeld ? 0 : limit, keys }
    })
    .filter(({ deletions, limit }) => deletions > limit)
}

/** Returns a hash of the elements that need approval. */
export const evidenceOfHeld = (held: readonly HeldDeletions[]): string =>
  createHash('sha256')
    .update(JSON.stringify(held.map(({ kind, keys }) => [kind, keys])))
    .digest('hex')

export const countHeld = (held: readonly Pick<HeldDeletions, 'deletions'>[]): number =>
  held.reduce((sum, { deletions }) => sum + deletions, 0)

/** `12 devices (limit 3)`. */
export const describeHeld = (registry: Registry, held: readonly Omit<HeldDeletions, 'keys'>[]): string =>
  held
    .map(({ kind, deletions, limit }) => `${deletions} ${registry.get(kind).plural} (limit ${limit})`)
    .join(', ')
