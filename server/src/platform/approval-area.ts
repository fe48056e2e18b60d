// Approvals about the platform: deletions of an import. An approval covers exactly these elements; the next import deletes them.
import type { ApprovalArea } from '../approval/area.ts'
import type { PlannedApproval } from '../approval/coverage.ts'
import { countHeld, evidenceOfHeld, type HeldDeletions } from './engine/guard.ts'
import type { Registry } from './engine/registry.ts'

export const platformApprovals: ApprovalArea<'platform'> = {
  name: 'platform',
  covers: 'exact',
  approvalMinutes: 24 * 60,
  rejectionHours: null,
  wakes: 'imports',
}

export const importSlot = { kind: 'import' } as const

/** The most elements that are stored: the evidence covers all. */
const storedMax = 1_000

/** `source`: as people write it, such as NetBox. */
export function planDeletions(
  registry: Registry,
  source: string,
  held: readonly HeldDeletions[],
): PlannedApproval {
  const deletions = held.map(({ kind, deletions: count, limit: max }) => ({
    count,
    noun: registry.get(kind).plural,
    max,
  }))
  const elements = held.flatMap(({ kind, keys }) => keys.map((key) => `${kind} ${key}`))
  return {
    ...importSlot,
    findings: [{ reason: 'many_deletions', attrs: { source, deletions } }],
    items: elements.slice(0, storedMax).map((value) => ({ change: 'remove', value })),
    itemCount: countHeld(held),
    evidence: evidenceOfHeld(held),
  }
}
