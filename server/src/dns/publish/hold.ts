// Holds of publications, of the catalog zone and of transfers that shrink a zone: they wait for staff. An approval covers exactly the removals
// of its evidence and nothing else; a plan that differs opens another hold in its place.
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
}

/** The plan waits for staff. */
export class Guarded extends Error {}

const evidenceOf = ({ kind, zoneId, reason, sets }: PlannedHold): string =>
  createHash('sha256')
    .update(JSON.stringify([kind, zoneId ?? null, reason, sets]))
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

/** Returns a function that tells whether staff approved exactly a plan of this kind. */
export async function approvedEvidence(
  db: Db | Trx,
  kind: ZoneHoldKind,
): Promise<(planned: PlannedHold) => boolean> {
  const { rows } = await sql<{ evidence: string }>`
    select evidence from dns_holds where kind = ${kind} and state = 'approved'`.execute(db)
  const approved = new Set(rows.map(({ evidence }) => evidence))
  return (planned) => approved.has(evidenceOf(planned))
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
  const { kind, zoneId, reason, sets } = planned
  const evidence = evidenceOf(planned)
  await db.transaction().execute(async (trx) => {
    if (await isRejected(trx, planned)) return
    await sql`
      update dns_holds set state = 'closed', decided = now()
      where ${isOfPlan(planned)} and state = 'open' and evidence <> ${evidence}`.execute(trx)
    // The evidence covers all removals, also those that are not shown.
    const attrs = { count: sets.length, sets: sets.slice(0, zoneHoldRemovalsMax) }
    await sql`
      insert into dns_holds (kind, zone_id, reason, attrs, evidence)
      values (${kind}, ${zoneId ?? null}, ${reason}, ${JSON.stringify(attrs)}, ${evidence})
      on conflict (kind, zone_id) where state = 'open' do nothing`.execute(trx)
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
