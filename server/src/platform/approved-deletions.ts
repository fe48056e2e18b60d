// Deletions over HTTP that need a person: the request repeats their number and the evidence of the dry run that the person saw.
import { fail } from '../runtime/error.ts'
import type { Prepared } from './engine/apply.ts'
import { countHeld, describeHeld, evidenceOfHeld } from './engine/guard.ts'
import { platformKinds } from './kinds/index.ts'

export type ApprovedDeletions = {
  readonly deletions?: number | undefined
  readonly evidence?: string | undefined
}

/** Throws `conflict` for held deletions without their approval, or with that of other ones. */
export function requireApproved(
  { held }: Pick<Prepared, 'held'>,
  { deletions = 0, evidence }: ApprovedDeletions,
): void {
  const count = countHeld(held)
  if (count === 0) return
  const described = describeHeld(platformKinds, held)
  const found = evidenceOfHeld(held)
  if (count > deletions || evidence === undefined)
    throw fail('conflict', 'heldDeletions', { held: described, deletions: count, evidence: found })
  if (evidence !== found) throw fail('conflict', 'otherDeletions', { held: described })
}
