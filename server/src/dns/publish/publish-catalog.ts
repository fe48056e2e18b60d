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
import { approvedEvidence, closeHold, openHold, type PlannedHold } from './hold.ts'
import { savePublication } from './publish.store.ts'
import { withSerial } from './publish-zone.ts'

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
  const isApproved = await approvedEvidence(db, 'catalog')
  const holdOf = (held: Pick<PlannedHold, 'reason' | 'sets'>): PlannedHold => ({ kind: 'catalog', ...held })
  const zones = await listCatalogZones(db)
  const plan = planCatalog(catalog, members, zones, await countWithdrawn(db), (held) =>
    isApproved(holdOf(held)),
  )
  if (plan.held) await openHold(db, holdOf(plan.held))
  else await closeHold(db, { kind: 'catalog' })
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
  return { added: added.length, removed: removed.length, held: plan.held?.sets.length ?? 0 }
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
  const after = unsigned(withSerial(first!, serial))
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

/** Returns the zones that are published, and those that are not withdrawn yet: deleted ones, and restored ones whose name another zone has. */
async function listCatalogZones(db: Db): Promise<CatalogZone[]> {
  const { rows } = await sql<{ id: number; name: ZoneName; created: Date; is_deleted: boolean }>`
    select id, name, created, deleted is not null or claimed is null as is_deleted from dns_zones
    where not is_catalog and withdrawn is null and (published is not null or deleted is not null) order by id`.execute(
    db,
  )
  return rows.map(({ is_deleted: isDeleted, ...zone }) => ({ ...zone, isDeleted }))
}

async function countWithdrawn(db: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from dns_zones
    where withdrawn > now() - interval '10 minutes' and published is not null`.execute(db)
  return rows[0]!.count
}

async function markWithdrawn(trx: Trx, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  await sql`
    update dns_zones set withdrawn = now()
    where id = any(${ids as number[]}) and (deleted is not null or claimed is null)`.execute(trx)
  await wake(trx, 'dns-published')
}
