// Whether an approval covers a plan. Pure. Staff approve only what they have seen: a plan with more or other changes
// needs another approval.
import { createHash } from 'node:crypto'
import type { ApprovalChange } from '@pharos/contract/operator/approval'
import type { ApprovalFinding, ApprovalReason } from '@pharos/contract/reason/approval-reason'

/**
 * `subset`: an approval covers each of its changes, so that a plan with some of them is covered, and repeats join it. `exact`: it covers
 * the plan with its evidence and no other.
 */
export type Coverage = 'subset' | 'exact'

/** A change as it is stored. */
export type StoredItem = {
  readonly change: ApprovalChange
  readonly value: string
  /** Name of the router or scrubber. */
  readonly router?: string
  /** Values of `replace`. */
  readonly from?: string
  readonly to?: string
}

/** The slot of an approval: at most one is open per slot. */
export type ApprovalSlot = {
  readonly kind: string
  readonly regionId?: number | null
  readonly zoneId?: number | null
  readonly listId?: number | null
  readonly scrubber?: string | null
}

/** Changes of one place that need an approval. */
export type PlannedApproval = ApprovalSlot & {
  readonly teamId?: number | null
  /** The reasons, the gravest first; at least one. */
  readonly findings: readonly ApprovalFinding[]
  /** All changes of a subset; for an exact plan the stored part. */
  readonly items: readonly StoredItem[]
  /** All changes, if not all of them are stored. */
  readonly itemCount?: number
  /** Identifies everything that a decision covers: evidenceOf(). */
  readonly evidence: string
  /** State that the loop needs while the changes wait. */
  readonly context?: readonly unknown[]
}

/** An open approval, as far as it is compared with a plan. */
export type OpenApproval = {
  readonly id: number
  readonly reason: ApprovalReason
  readonly evidence: string
  /** Keys of itemKey(). */
  readonly covered: ReadonlySet<string>
}

/** Returns the digest of everything that a decision covers. */
export const evidenceOf = (...parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex')

/**
 * Identifies a change in its slot. For a replaced route only the result counts, since the router may have another route
 * by then.
 */
export const itemKey = ({ change, value, router = '', to = '' }: StoredItem): string =>
  [change, value, router, to].join(' ')

/** Decides about the open approval of a place. Its reason must be that of the plan, since staff decide for a reason. */
export function approvalChange(
  covers: Coverage,
  open: Omit<OpenApproval, 'id'> | null | undefined,
  planned: Pick<PlannedApproval, 'findings' | 'items' | 'evidence'> | undefined,
): 'keep' | 'close' | 'open' {
  if (!planned) return open ? 'close' : 'keep'
  if (!open || open.reason !== planned.findings[0]?.reason) return 'open'
  const isCovered =
    covers === 'exact'
      ? open.evidence === planned.evidence
      : planned.items.every((item) => open.covered.has(itemKey(item)))
  return isCovered ? 'keep' : 'open'
}
