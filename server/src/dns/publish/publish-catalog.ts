// One run of the catalog loop: publishes the catalog zone with the members as planned, and marks deleted zones as withdrawn once they have left it.
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/postgres.ts'
import { wake } from '../../db/wake.ts'
import { nameKey, type ZoneName } from '../../net/dns/name.ts'
import type { SignedRrset } from '../../net/dns/record.ts'
import { nextSerial, toSerial, type Serial } from '../../net/dns/serial.ts'
import { recordType } from '../../net/dns/type.ts'
import { serialOf } from '../serve/served-zones.ts'
import { readServedSets } from '../serve/served.store.ts'
import { catalogApex, planCatalog, type CatalogZone } from './catalog.ts'
import { withStatusMessages } from '../zone/zone-status.store.ts'
import { planApprovalsIn } from '../../approval/plan-approvals.ts'
import { listDecidedZones, planRemovals, zoneApprovals } from './approval-area.ts'
import { savePublication } from './publish.store.ts'
import { soaWithSerial } from './publish-zone.ts'

const slot = { kind: 'catalog', zoneId: null } as const

export type CatalogDeps = { readonly db: Db; readonly catalog: ZoneName; readonly now: () => Date }

/** Returns the number of members that were added and removed, and of removals that wait for staff. */
export async function publishCatalog({ db, catalog, now }: CatalogDeps): Promise<{
  readonly added: number
  readonly removed: number
  readonly held: number
}> {
  const id = await requireCatalog(db, catalog)
  const served = (await Array.fromAsync(readServedSets(db, [id]))).map(({ set }) => set)
  const members = served.filter(({ type }) => type === recordType.PTR)
  const zones = await listCatalogZones(db)
  const decided = await listDecidedZones(db)
  const plan = planCatalog(catalog, members, zones, await countWithdrawn(db), (zoneId) =>
    decided.approved.has(zoneId),
  )
  const held = plan.held?.zones ?? []
  // Rejected removals are not planned again: these zones stay.
  const asked = held.filter(({ id }) => !decided.rejected.has(id))
  const planned =
    plan.held && asked.length > 0
      ? [
          planRemovals(slot, plan.held.reason, asked.map(({ name }) => name).sort(), {
            attrs: { zone_ids: asked.map(({ id }) => id) },
            // A zone that is restored and deleted again needs another decision.
            covered: asked.map(({ id, deleted }) => [id, deleted]),
          }),
        ]
      : []
  await planApprovalsIn(db, zoneApprovals, slot, planned)
  await markHeld(
    db,
    held.map(({ id }) => id),
    now(),
  )
  const { added, removed, withdrawn } = plan
  const isNew = served.length === 0 || (await readSerial(db, id)) !== servedSerial(served)
  if (isNew || added.length + removed.length > 0 || withdrawn.length > 0) {
    const nowSeconds = now().getTime() / 1000
    await db.transaction().execute(async (trx) => {
      if (isNew || added.length + removed.length > 0)
        await saveMembers(trx, {
          id,
          catalog,
          served,
          nowSeconds,
          added: added.map(unsigned),
          removed: removed.map(unsigned),
        })
      await markWithdrawn(trx, withdrawn)
    })
  }
  return { added: added.length, removed: removed.length, held: held.length }
}

/** The serial of the row is newer after a restore: name servers have seen it. */
async function readSerial(db: Db | Trx, id: number): Promise<Serial | undefined> {
  const { rows } = await sql<{ serial: number | null }>`
    select serial::float8 as serial from dns_zones where id = ${id}`.execute(db)
  const serial = rows[0]?.serial
  return typeof serial === 'number' ? toSerial(serial) : undefined
}

function servedSerial(served: readonly SignedRrset[]): Serial | undefined {
  const soa = served.find(({ type }) => type === recordType.SOA)
  return soa && serialOf(soa)
}

const unsigned = (set: Omit<SignedRrset, 'rrsig'>): SignedRrset => ({ ...set, rrsig: [] })

async function saveMembers(
  trx: Trx,
  change: {
    readonly id: number
    readonly catalog: ZoneName
    readonly served: readonly SignedRrset[]
    readonly nowSeconds: number
    readonly added: readonly SignedRrset[]
    readonly removed: readonly SignedRrset[]
  },
): Promise<void> {
  const { id, catalog, served, nowSeconds, added, removed } = change
  const [first, ...others] = catalogApex(catalog)
  const soa = served.find(({ type }) => type === recordType.SOA)
  await sql`select from dns_zones where id = ${id} for no key update`.execute(trx)
  const former = await readSerial(trx, id)
  const serial = nextSerial(former, nowSeconds)
  const after = unsigned(soaWithSerial(first!, serial))
  const isSaved = await savePublication(trx, {
    zone: { id, serial: former },
    serial,
    version: 1,
    changes: [
      soa ? { before: soa, after } : { after },
      ...(soa ? [] : others.map((set) => ({ after: unsigned(set) }))),
      ...removed.map((before) => ({ before })),
      ...added.map((set) => ({ after: set })),
    ],
    hasStep: soa !== undefined && serialOf(soa) === former,
    resigned: null,
    now: nowSeconds,
  })
  if (!isSaved) throw new Error('the catalog zone was published by another process')
}

/** Returns the id of the catalog zone, which is created if it does not exist. */
async function requireCatalog(db: Db, name: ZoneName): Promise<number> {
  const { rows } = await sql<{ id: number; name: ZoneName }>`
    select id, name from dns_zones where is_catalog and deleted is null`.execute(db)
  const [found] = rows
  if (found?.name === name) return found.id
  return db.transaction().execute(async (trx) => {
    // Name servers that still follow the former catalog zone keep their zones: it is served, and no longer changed.
    if (found) await sql`update dns_zones set deleted = now() where id = ${found.id}`.execute(trx)
    const inserted = await sql<{ id: number }>`
      insert into dns_zones (name, name_key, is_catalog, managed_by)
      values (${name}, ${Buffer.from(nameKey(name))}, true, 'operator') returning id`.execute(trx)
    return inserted.rows[0]!.id
  })
}

/**
 * Returns the published zones and the deleted zones that are not withdrawn yet. A restored zone whose name belongs to
 * another zone counts as deleted.
 */
async function listCatalogZones(db: Db): Promise<CatalogZone[]> {
  const { rows } = await sql<CatalogZone>`
    select id, name, team_id as "teamId", created, coalesce(deleted, case when claimed is null then touched end) as deleted
    from dns_zones
    where not is_catalog and withdrawn is null and (published is not null or deleted is not null) order by id`.execute(
    db,
  )
  return rows
}

async function countWithdrawn(db: Db): Promise<ReadonlyMap<number | null, number>> {
  const { rows } = await sql<{ team_id: number | null; count: number }>`
    select team_id, count(*)::integer as count from dns_zones
    where withdrawn > now() - interval '10 minutes' and published is not null group by team_id`.execute(db)
  return new Map(rows.map(({ team_id: teamId, count }) => [teamId, count]))
}

/** Stores which deleted zones wait for an approval, and notifies their teams: they are still served. */
async function markHeld(db: Db, held: readonly number[], now: Date): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ id: number }>`
      select id from dns_zones
      where (id = any(${held as number[]}) and deletion_held is null)
        or (deletion_held is not null and id <> all(${held as number[]}))
      order by id for no key update`.execute(trx)
    if (rows.length === 0) return
    const ids = rows.map(({ id }) => id)
    await withStatusMessages(trx, ids, now, () =>
      sql`
        update dns_zones set deletion_held = case when id = any(${held as number[]}) then now() end
        where id = any(${ids})`.execute(trx),
    )
  })
}

async function markWithdrawn(trx: Trx, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  await sql`
    update dns_zones set withdrawn = now()
    where id = any(${ids as number[]}) and (deleted is not null or claimed is null)`.execute(trx)
  await wake(trx, 'dns-published')
}
