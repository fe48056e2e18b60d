// Approvals about DNS: publications, the catalog zone and transfers that shrink a zone. An approval covers exactly the
// removals of its evidence, which stay served until then.
import type { ReasonOf } from '@pharos/contract/reason/approval-reason'
import { sql } from 'kysely'
import type { ApprovalArea } from '../../approval/area.ts'
import { decidedOf } from '../../approval/approval-sql.ts'
import { evidenceOf, type ApprovalSlot, type PlannedApproval } from '../../approval/coverage.ts'
import { findDecision, planApprovalsIn } from '../../approval/plan-approvals.ts'
import type { Db, Trx } from '../../db/postgres.ts'
import type { DomainName } from '../../net/dns/name.ts'
import { typeName } from '../../net/dns/type.ts'

export const zoneApprovals: ApprovalArea<'dns'> = {
  name: 'dns',
  covers: 'exact',
  approvalMinutes: null,
  rejectionHours: null,
  wakes: 'dns',
  // A transfer that waits for approval is repeated immediately.
  async onDecided(trx, { zone_id }) {
    await sql`update dns_secondaries set due = now() where zone_id = ${zone_id}`.execute(trx)
  },
}

/** `publish`: of a zone; `catalog`: of zones from all name servers; `shrink`: a secondary zone by its primary. */
export type ZoneSlot = ApprovalSlot & {
  readonly kind: 'publish' | 'catalog' | 'shrink'
  /** Null for the catalog zone. */
  readonly zoneId: number | null
}

/** The plan waits for staff. */
export class Guarded extends Error {}

/** Limit of the stored removals. The evidence covers all removals, also above this limit. */
const storedMax = 1_000

/** `sets`: the names of zones, or the names and types of record sets. `covered`: additional values for the evidence. */
export function planRemovals(
  { kind, zoneId }: ZoneSlot,
  reason: ReasonOf<'dns'>,
  sets: readonly (string | { readonly name: DomainName; readonly type: number })[],
  { attrs = {}, covered = [] }: { readonly attrs?: object; readonly covered?: readonly unknown[] } = {},
): PlannedApproval {
  return {
    kind,
    zoneId,
    findings: [{ reason, attrs: { ...attrs } }],
    items: sets.slice(0, storedMax).map((set) => ({
      change: 'remove',
      value: typeof set === 'string' ? set : `${set.name} ${typeName(set.type)}`,
    })),
    itemCount: sets.length,
    evidence: evidenceOf(kind, zoneId, reason, sets, ...covered),
  }
}

/** Returns if staff approved exactly this plan; otherwise opens an approval and returns false. */
export async function isApprovedOrAsked(
  db: Db,
  slot: ZoneSlot,
  planned: PlannedApproval,
  mayApprove = true,
): Promise<boolean> {
  if (mayApprove && (await findDecision(db, zoneApprovals, planned.evidence)) === 'approved') return true
  await planApprovalsIn(db, zoneApprovals, slot, [planned])
  return false
}

/** Closes the open approval of the slot. */
export const closeApproval = (db: Db, slot: ZoneSlot): Promise<unknown> =>
  planApprovalsIn(db, zoneApprovals, slot, [])

/** Returns the deleted zones about whose removal staff have decided since they were deleted. */
export async function listDecidedZones(
  db: Db | Trx,
): Promise<{ readonly approved: ReadonlySet<number>; readonly rejected: ReadonlySet<number> }> {
  const { rows } = await sql<{ id: number; state: 'approved' | 'rejected' }>`
    select distinct on (z.id) z.id, d.state
    from (select a.* ${decidedOf('dns')} and a.kind = 'catalog') d
      cross join jsonb_array_elements_text(d.findings -> 0 -> 'attrs' -> 'zone_ids') as i (id)
      join dns_zones z on z.id = i.id::integer
    where d.decided > coalesce(z.deleted, z.touched) and z.withdrawn is null
    order by z.id, d.id desc`.execute(db)
  const inState = (state: string) => new Set(rows.filter((row) => row.state === state).map(({ id }) => id))
  return { approved: inState('approved'), rejected: inState('rejected') }
}
