// The SQL of zones above and below a zone that have the same owner: a team, or null for the operator. Zones of others are not read, so that no answer
// depends on them, and zones that wait for their name are not served, and are no part of it.
import { sql } from 'kysely'
import type { Trx } from '../../db/postgres.ts'
import { isBelow, parentOf, type DomainName } from '../../net/dns/name.ts'
import type { DsFacts, ParentKey } from './delegation-sets.ts'
import { setId, type StoredSet } from './zone-change.ts'
import { keyAfterDescendants, keyOf, setColumns, type SetRow } from './zone-change.store.ts'
import { lockZone } from './zone.store.ts'
import type { Zone } from './zone.ts'

type Named = Pick<Zone, 'teamId' | 'name'>

const isServed = sql`z.deleted is null and z.claimed is not null`

/** Returns the names above, the closest first. */
export function ancestorNames(name: DomainName): DomainName[] {
  const names: DomainName[] = []
  for (let one = parentOf(name); one !== undefined; one = parentOf(one)) names.push(one)
  return names
}

async function findParentId(trx: Trx, { teamId, name }: Named): Promise<number | undefined> {
  const { rows } = await sql<{ id: number }>`
    select z.id from dns_zones z
    where z.team_id is not distinct from ${teamId} and ${isServed} and z.name_key = any(${ancestorNames(name).map(keyOf)}::bytea[])
    order by z.name_key desc limit 1`.execute(trx)
  return rows[0]?.id
}

/**
 * Locks and returns the closest zone above. It is looked up again under the lock: another request may have created or
 * deleted a zone in the meantime.
 */
export async function lockParentZone(trx: Trx, child: Named): Promise<Zone | undefined> {
  for (;;) {
    const id = await findParentId(trx, child)
    if (id === undefined) return undefined
    const zone = await lockZone(trx, child.teamId, { id })
    if (zone && zone.deleted === null && (await findParentId(trx, child)) === id) return zone
  }
}

export type ChildZone = Pick<Zone, 'id' | 'teamId' | 'name'>

/** Returns the zones whose names are among these. */
export async function listZonesAmong(
  trx: Trx,
  teamId: number | null,
  names: readonly DomainName[],
): Promise<ChildZone[]> {
  if (names.length === 0) return []
  const { rows } = await sql<ChildZone>`
    select z.id, z.team_id as "teamId", z.name from dns_zones z
    where z.team_id is not distinct from ${teamId} and ${isServed} and z.name_key = any(${names.map(keyOf)}::bytea[])`.execute(
    trx,
  )
  return rows
}

/** Returns the closest child zones, without zones below other child zones. */
export async function listChildZones(trx: Trx, { teamId, name }: Named): Promise<ChildZone[]> {
  const { rows } = await sql<ChildZone>`
    select z.id, z.team_id as "teamId", z.name from dns_zones z
    where z.team_id is not distinct from ${teamId} and ${isServed} and z.name_key > ${keyOf(name)}
      and z.name_key < ${keyAfterDescendants(name)}
    order by z.name_key`.execute(trx)
  const children: ChildZone[] = []
  // In canonical order a zone is followed by its child zones.
  for (const row of rows)
    if (children.length === 0 || !isBelow(row.name, children.at(-1)!.name)) children.push(row)
  return children
}

/** Returns the stored sets at and below a name. */
export async function readAtOrBelow(trx: Trx, zoneId: number, name: DomainName): Promise<StoredSet[]> {
  const { rows } = await sql<SetRow>`
    select ${setColumns} from dns_recordsets r
    where r.zone_id = ${zoneId} and r.name_key >= ${keyOf(name)} and r.name_key < ${keyAfterDescendants(name)}
    order by r.name_key, r.type`.execute(trx)
  return rows
}

/** Returns the stored sets below the name of the zone that Pharos wrote: its delegations. */
export async function readManagedBelow(trx: Trx, zone: Pick<Zone, 'id' | 'name'>): Promise<StoredSet[]> {
  const { rows } = await sql<SetRow>`
    select ${setColumns} from dns_recordsets r
    where r.zone_id = ${zone.id} and r.source = 'system' and r.name_key <> ${keyOf(zone.name)}`.execute(trx)
  return rows
}

/** Returns the facts from which the DS records of a zone follow. */
export async function readDsFacts(trx: Trx, zoneId: number): Promise<DsFacts> {
  const { rows } = await sql<Omit<DsFacts, 'keys'>>`
    select z.name, z.dnssec as status, z.published is not null as "isPublished",
      z.kind = 'primary' and coalesce((z.settings->>'multi_signer')::boolean, false) = false
        and coalesce((z.dnssec_options->>'cds')::boolean, true)
        and not (select coalesce(bool_and(v.signing = 'external'), false) from dns_servers v) as "hasManagedDs"
    from dns_zones z where z.id = ${zoneId}`.execute(trx)
  const keys = await sql<ParentKey>`
    select id, flags, dnskey, state from dns_keys where zone_id = ${zoneId} and state <> 'removed' order by id`.execute(
    trx,
  )
  return { ...rows[0]!, keys: keys.rows }
}

/** Marks sets as written by Pharos: a team that delegated a name itself used its own sets. */
export async function markManaged(trx: Trx, zoneId: number, sets: readonly StoredSet[]): Promise<void> {
  const own = new Map(sets.filter(({ source }) => source !== 'system').map((set) => [setId(set), set]))
  if (own.size === 0) return
  const marked = [...own.values()]
  await sql`
    update dns_recordsets r set source = 'system', touched = now()
    from unnest(${marked.map(({ name }) => keyOf(name))}::bytea[], ${marked.map(({ type }) => type)}::integer[])
      as w (name_key, type)
    where r.zone_id = ${zoneId} and r.name_key = w.name_key and r.type = w.type`.execute(trx)
}
