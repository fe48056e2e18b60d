// Holds of publications, of the catalog zone and of transfers that shrink a zone: they wait for staff. An approval covers exactly the removals
// of its evidence and nothing else; a plan that differs opens another hold in its place.
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { writeAudit } from '../../db/audit.ts'
import type { Db, Trx } from '../../db/postgres.ts'
import { wake } from '../../db/wake.ts'

export type HoldKind = 'publish' | 'catalog' | 'shrink'

export type PlannedHold = {
  readonly kind: HoldKind
  /** Undefined for the catalog zone. */
  readonly zoneId?: number
  readonly reason: string
  /** What would be removed. */
  readonly sets: readonly unknown[]
}

/** What was planned waits for staff. */
export class Guarded extends Error {}

/** The first removals are stored for staff to see; the evidence covers all of them. */
const shownMax = 1_000

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
  kind: HoldKind,
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
    const attrs = { count: sets.length, sets: sets.slice(0, shownMax) }
    await sql`
      insert into dns_holds (kind, zone_id, reason, attrs, evidence)
      values (${kind}, ${zoneId ?? null}, ${reason}, ${JSON.stringify(attrs)}, ${evidence})
      on conflict (kind, zone_id) where state = 'open' do nothing`.execute(trx)
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

export type DnsHold = {
  readonly id: number
  readonly kind: HoldKind
  readonly zone: string | null
  readonly reason: string
  readonly state: string
  readonly created: Date
  readonly attrs: { readonly count: number; readonly sets: readonly unknown[] }
}

/** Returns the holds with a state, newest first. */
export async function listDnsHolds(db: Db, state: string, limit: number): Promise<DnsHold[]> {
  const { rows } = await sql<DnsHold>`
    select h.id, h.kind, z.name as zone, h.reason, h.state, h.created, h.attrs
    from dns_holds h left join dns_zones z on z.id = h.zone_id
    where h.state = ${state} order by h.id desc limit ${limit}`.execute(db)
  return rows
}

/** Decides about an open hold, with an entry in the audit log; returns false if it is not open. The loops run again at once. */
export async function decideDnsHold(
  db: Db,
  id: number,
  state: 'approved' | 'rejected',
  actor: string,
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ kind: HoldKind; zone_id: number | null; reason: string }>`
      update dns_holds set state = ${state}, decided = now(), decided_by = ${actor}
      where id = ${id} and state = 'open' returning kind, zone_id, reason`.execute(trx)
    const [hold] = rows
    if (!hold) return false
    // A held transfer is repeated now, and what is held otherwise is planned again.
    await sql`update dns_secondaries set due = now() where zone_id = ${hold.zone_id}`.execute(trx)
    const after = { ...hold, state }
    await writeAudit(trx, { teamId: null, actor, action: 'hold.decide', target: `dns-hold:${id}`, after })
    await wake(trx, 'dns')
    return true
  })
}
