// Holds of publications, of the catalog zone and of transfers that shrink a zone: they wait for staff. An approval covers exactly the removals
// of its evidence and nothing else. A plan that grows or shrinks changes the open hold, which keeps its id.
import { createHash } from 'node:crypto'
import { zoneHoldRemovalsMax, type ZoneHoldKind, type ZoneHoldReason } from '@pharos/contract/zone-hold'
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/postgres.ts'
import { wake } from '../../db/wake.ts'

export type PlannedHold = {
  readonly kind: ZoneHoldKind
  /** Undefined for the catalog zone. */
  readonly zoneId?: number
  readonly reason: ZoneHoldReason
  /** The planned removals. */
  readonly sets: readonly unknown[]
  /** The zones of the planned removals, of the catalog zone. */
  readonly zoneIds?: readonly number[]
}

/** The plan waits for staff. */
export class Guarded extends Error {}

const evidenceOf = ({ kind, zoneId, reason, sets, zoneIds = [] }: PlannedHold): string =>
  createHash('sha256')
    .update(JSON.stringify([kind, zoneId ?? null, reason, sets, ...zoneIds]))
    .digest('hex')

const isOfPlan = ({ kind, zoneId }: PlannedHold) =>
  sql`kind = ${kind} and zone_id is not distinct from ${zoneId ?? null}::integer`

/** Whether staff approved exactly this plan. */
export async function isApproved(db: Db | Trx, planned: PlannedHold): Promise<boolean> {
  const { rows } = await sql`
    select from dns_holds where ${isOfPlan(planned)} and evidence = ${evidenceOf(planned)} and state = 'approved'
    limit 1`.execute(db)
  return rows.length > 0
}

/** Returns the deleted zones about whose removal staff have decided since they were deleted. */
export async function listDecidedZones(
  db: Db | Trx,
): Promise<{ readonly approved: ReadonlySet<number>; readonly rejected: ReadonlySet<number> }> {
  const { rows } = await sql<{ id: number; state: 'approved' | 'rejected' }>`
    select distinct on (z.id) z.id, h.state from dns_holds h, jsonb_array_elements_text(h.attrs -> 'zone_ids') as d (id)
      join dns_zones z on z.id = d.id::integer
    where h.kind = 'catalog' and h.state in ('approved', 'rejected') and h.decided > coalesce(z.deleted, z.touched)
      and z.withdrawn is null
    order by z.id, h.decided desc`.execute(db)
  const inState = (state: string) => new Set(rows.filter((row) => row.state === state).map(({ id }) => id))
  return { approved: inState('approved'), rejected: inState('rejected') }
}

/** Whether staff rejected exactly this plan: nobody is asked again. */
async function isRejected(db: Db | Trx, planned: PlannedHold): Promise<boolean> {
  const { rows } = await sql`
    select from dns_holds where ${isOfPlan(planned)} and evidence = ${evidenceOf(planned)} and state = 'rejected'
    limit 1`.execute(db)
  return rows.length > 0
}

/** Opens a hold for the plan, and closes the open one of another plan. The same plan again changes nothing. */
export async function openHold(db: Db, planned: PlannedHold): Promise<void> {
  const { kind, zoneId, reason, sets, zoneIds } = planned
  const evidence = evidenceOf(planned)
  await db.transaction().execute(async (trx) => {
    if (await isRejected(trx, planned)) return
    // The evidence covers all removals, also those that are not shown.
    const attrs = {
      count: sets.length,
      sets: sets.slice(0, zoneHoldRemovalsMax),
      ...(zoneIds && { zone_ids: zoneIds }),
    }
    await sql`
      insert into dns_holds (kind, zone_id, reason, attrs, evidence)
      values (${kind}, ${zoneId ?? null}, ${reason}, ${JSON.stringify(attrs)}, ${evidence})
      on conflict (kind, zone_id) where state = 'open' do update
        set reason = excluded.reason, attrs = excluded.attrs, evidence = excluded.evidence
        where dns_holds.evidence <> excluded.evidence`.execute(trx)
    await wake(trx, 'hold-alerts')
  })
}

/** Closes the open hold, since none of it is planned any longer. */
export async function closeHold(
  db: Db | Trx,
  { kind, zoneId }: Pick<PlannedHold, 'kind' | 'zoneId'>,
): Promise<void> {
  await sql`
    update dns_holds set state = 'closed', decided = now()
    where kind = ${kind} and zone_id is not distinct from ${zoneId ?? null}::integer and state = 'open'`.execute(
    db,
  )
}
