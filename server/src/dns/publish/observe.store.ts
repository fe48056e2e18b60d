// The SQL of observation: the expected and the observed zones of name servers, and the resulting status of zones. As
// the owner, across all teams.
import type { ZoneStatus } from '@pharos/contract/dns/zone'
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/postgres.ts'
import type { DomainName, ZoneName } from '../../net/dns/name.ts'
import { toSerial, type Serial } from '../../net/dns/serial.ts'
import { recordType, typeName } from '../../net/dns/type.ts'
import { isGeneratedType } from '../sign/authority.ts'
import { statusOfZone } from '../zone/zone-status.store.ts'
import { decodeSignedRrsets } from '../sign/rrset-list.ts'

export type ServerRow = {
  readonly id: number
  readonly name: DomainName
  readonly kind: 'dns' | 'sandbox'
  readonly address: string | null
  readonly port: number
  readonly catalog: boolean
  readonly keyName: DomainName | null
  readonly keyAlgorithm: string | null
  readonly keySealed: Buffer | null
}

export async function listServers(db: Db): Promise<ServerRow[]> {
  const { rows } = await sql<ServerRow>`
    select s.id, s.name, s.kind, s.address, s.port, s.catalog, k.name as "keyName",
      k.algorithm as "keyAlgorithm", k.secret_sealed as "keySealed"
    from dns_servers s left join dns_tsig_keys k on k.id = s.tsig_key_id order by s.id`.execute(db)
  return rows
}

export type ZoneState = 'serving' | 'behind' | 'absent' | 'failing' | 'unreachable'

export type ExpectedZone = {
  readonly id: number
  readonly name: ZoneName
  readonly serial: Serial
  readonly isCatalog: boolean
}

type ExpectedRow = { id: number; name: ZoneName; serial: number; is_catalog: boolean }

const expectedOf = ({ id, name, serial, is_catalog }: ExpectedRow): ExpectedZone => ({
  id,
  name,
  serial: toSerial(serial),
  isCatalog: is_catalog,
})

const isServed = sql`z.published is not null and z.serial is not null and z.withdrawn is null and z.deleted is null`

/** Returns the zones that were published since `since`, and these. */
export async function listRecentZones(db: Db, since: Date, ids: readonly number[]): Promise<ExpectedZone[]> {
  const { rows } = await sql<ExpectedRow>`
    select z.id, z.name, z.serial::float8 as serial, z.is_catalog from dns_zones z
    where (z.published >= ${since} or z.id = any(${ids as number[]})) and ${isServed} order by z.id`.execute(
    db,
  )
  return rows.map(expectedOf)
}

export async function listAllZones(db: Db): Promise<ExpectedZone[]> {
  const { rows } = await sql<ExpectedRow>`
    select z.id, z.name, z.serial::float8 as serial, z.is_catalog from dns_zones z where ${isServed} order by z.id`.execute(
    db,
  )
  return rows.map(expectedOf)
}

export type ServerObservation = {
  readonly zoneId: number
  readonly serial: Serial | null
  readonly state: ZoneState
}

/** Saves the observations that differ from the stored ones; returns the ids of zones whose state or serial changed. */
export async function saveServerObservations(
  trx: Trx,
  serverId: number,
  observations: readonly ServerObservation[],
): Promise<number[]> {
  const { rows } = await sql<{ zone_id: number }>`
    insert into dns_server_zones as s (server_id, zone_id, serial, state, checked, reached)
    select ${serverId}, o.zone_id, o.serial, o.state, now(), case when o.serial is not null then now() end
    from unnest(${observations.map(({ zoneId }) => zoneId)}::integer[],
      ${observations.map(({ serial }) => serial)}::bigint[], ${observations.map(({ state }) => state)}::text[])
      o (zone_id, serial, state)
    join dns_zones z on z.id = o.zone_id
    on conflict (server_id, zone_id) do update
      set serial = coalesce(excluded.serial, s.serial), state = excluded.state, checked = now(),
        reached = case when s.serial is distinct from coalesce(excluded.serial, s.serial) then now() else s.reached end,
        since = case when s.state = excluded.state then s.since else now() end
      where (s.state, s.serial) is distinct from (excluded.state, coalesce(excluded.serial, s.serial))
    returning s.zone_id`.execute(trx)
  return rows.map(({ zone_id }) => zone_id)
}

/** Deletes the observations of withdrawn zones. */
export async function deleteObservations(db: Db): Promise<void> {
  await sql`
    delete from dns_server_zones s using dns_zones z where z.id = s.zone_id and z.withdrawn is not null`.execute(
    db,
  )
}

export type ZoneStatusChange = {
  readonly id: number
  readonly teamId: number | null
  readonly name: ZoneName
  readonly serial: number | null
  readonly before: ZoneStatus
  readonly after: ZoneStatus
}

/**
 * A name server that stays behind for this time while another one serves the newest version refuses the zone. With the
 * pause between two observations it is found within a minute.
 */
const refusedSeconds = 25

/** Whether another zone was also late on this server: the server is slow and does not refuse the zone. */
const isLate = sql`exists (
  select from dns_server_zones o join dns_zones other on other.id = o.zone_id
  where o.server_id = v.id and o.zone_id <> z.id and o.reached > now() - make_interval(secs => ${2 * refusedSeconds})
    and o.reached > other.published + make_interval(secs => ${refusedSeconds}))`

/** Whether the server is public and in the NS records of the zone: resolvers ask it. */
const isAssigned = sql`(v.is_public and v.name = any(string_to_array((
  select r.content from dns_recordsets r
  where r.zone_id = z.id and r.name_key = z.name_key and r.type = ${recordType.NS}), E'\n')))`

/** Whether the zone is to be on the server, or is found there. */
const isServer = sql`(v.catalog or ${isAssigned} or exists (
  select from dns_server_zones o where o.server_id = v.id and o.zone_id = z.id and o.state <> 'absent'))`

/** Whether the server serves the newest publication. A server that signs itself has its own serials. */
const isServing = sql`s.state = 'serving' and (v.signing = 'external' or s.serial is not distinct from z.serial)`

/** The status of these zones derived from the observations of their name servers: `derived`. */
const derivation = (zoneIds: readonly number[]) => sql`
    expected as (
      select z.id, v.name, s.state, s.serial, greatest(s.since, s.reached) as moved,
        ${isServing} as is_serving,
        s.state in ('behind', 'failing')
          and greatest(s.since, s.reached) < now() - make_interval(secs => ${refusedSeconds}) and not ${isLate} as is_refusing,
        ${isAssigned} and s.state = 'absent' and greatest(s.since, z.published) < now() - make_interval(secs => ${refusedSeconds})
          and not ${isLate} as is_absent
      from dns_zones z
        left join dns_servers v on ${isServer}
        left join dns_server_zones s on s.server_id = v.id and s.zone_id = z.id
      where z.id = any(${zoneIds as number[]}) and z.claimed is not null and z.deleted is null
        and z.version <= z.published_version and (z.reason is null or z.reason in ('zone_servers_behind', 'zone_refused', 'zone_absent'))),
    observed as (
      select id, count(name) as total, count(name) filter (where is_serving) as serving,
        coalesce(bool_or(state = 'failing'), false) as is_failing,
        json_agg(name order by name) filter (where is_absent) as absent,
        coalesce(bool_or(is_refusing), false) and coalesce(bool_or(is_serving), false) as is_refused,
        json_agg(name order by name) filter (where name is not null and is_serving is not true) as servers,
        jsonb_build_object('servers', json_agg(name order by name) filter (where is_refusing),
          'serial', (array_agg(serial order by moved, name) filter (where is_refusing))[1],
          'since', min(moved) filter (where is_refusing)) as refusal
      from expected group by id),
    derived as (
      select id,
        case when is_failing or is_refused or absent is not null then 'error' when serving < total then 'updating' else 'ok' end as status,
        case when is_refused then 'zone_refused' when absent is not null then 'zone_absent' when serving < total then 'zone_servers_behind' end as reason,
        case when is_refused then jsonb_build_object('serving', serving, 'total', total) || refusal
          when absent is not null then jsonb_build_object('serving', serving, 'total', total, 'servers', absent)
          when serving < total
            then jsonb_build_object('serving', serving, 'total', total, 'servers', servers) end as attrs
      from observed)`

/** `sets` are added once the reason is stored: `nameRefusedSets`. */
const isDerived = sql`(z.status, z.reason, z.attrs - 'sets') is not distinct from (d.status, d.reason, d.attrs)`

/**
 * Derives the status of these zones from the observations of their name servers, and returns the changed ones;
 * `changed` are the zones with a new observation in this transaction. A zone that has its own problem, or unpublished
 * versions, keeps its status. A server that signs itself has its own serials. Without name servers a published zone is
 * `ok`: the built-in server has it.
 */
export async function updateStatuses(
  trx: Trx,
  zoneIds: readonly number[],
  changed: readonly number[],
): Promise<{
  readonly changes: ZoneStatusChange[]
  readonly refused: RefusedZoneChange[]
  /** The seconds of the changes of zones that all their name servers serve now, once for each. */
  readonly servedSeconds: readonly number[]
}> {
  // Two servers may be observed at the same time: after the zone is locked, the next statement sees the rows of the
  // other transaction.
  const { rows: locked } = await sql<{ id: number; before: ZoneStatus }>`
    with ${derivation(zoneIds)}
    select z.id, ${statusOfZone} as before from dns_zones z left join derived d on d.id = z.id
    where z.id = any(${changed as number[]}) or (d.id is not null and not ${isDerived})
    order by z.id for no key update of z`.execute(trx)
  if (locked.length === 0) return { changes: [], refused: [], servedSeconds: [] }
  const { rows } = await sql<Omit<ZoneStatusChange, 'before'> & { readonly reason: string | null }>`
    with ${derivation(locked.map(({ id }) => id))}
    update dns_zones z set status = d.status, reason = d.reason, attrs = d.attrs
    from derived d where z.id = d.id and not ${isDerived}
    returning z.id, z.team_id as "teamId", z.name, z.serial::float8 as serial, ${statusOfZone} as after, z.reason`.execute(
    trx,
  )
  const before = new Map(locked.map((zone) => [zone.id, zone.before]))
  const refusedIds = rows.filter(({ reason }) => reason === 'zone_refused').map(({ id }) => id)
  return {
    changes: rows
      .map(({ id, teamId, name, serial, after }) => ({
        id,
        teamId,
        name,
        serial,
        before: before.get(id)!,
        after,
      }))
      .filter((zone) => zone.before !== zone.after),
    refused: refusedIds.length > 0 ? await nameRefusedSets(trx, refusedIds) : [],
    servedSeconds: await saveServed(trx, changed),
  }
}

/**
 * Saves the newest version of these locked zones that all their name servers have served; returns the duration of each
 * version since the previous one, without the time before the zone had its name. A serial that is in no transfer is
 * older than all of them.
 */
async function saveServed(trx: Trx, zoneIds: readonly number[]): Promise<number[]> {
  const { rows } = await sql<{ seconds: number }>`
    with reached as (
      select z.id, z.claimed, z.served_version as before,
        min(case when ${isServing} then z.published_version else coalesce((
          select max(t.version) from dns_transfers t where t.zone_id = z.id and t.serial_to = s.serial), 0) end) as after
      from dns_zones z join dns_servers v on ${isServer} left join dns_server_zones s on s.server_id = v.id and s.zone_id = z.id
      where z.id = any(${zoneIds as number[]}) and z.claimed is not null and z.deleted is null
      group by z.id),
    raised as (
      update dns_zones z set served_version = r.after from reached r
      where z.id = r.id and r.after > coalesce(r.before, 0) returning z.id)
    select extract(epoch from now() - greatest(c.at, r.claimed))::float8 as seconds
    from raised join reached r on r.id = raised.id
      join dns_versions c on c.zone_id = r.id and c.version > r.before and c.version <= r.after`.execute(trx)
  return rows.map(({ seconds }) => seconds)
}

/** A zone that a name server refuses while another one serves it. */
export type RefusedZoneChange = {
  readonly id: number
  readonly name: ZoneName
  readonly servers: readonly DomainName[]
  /** Serial of the served version; null if it is unknown. */
  readonly serial: number | null
  /** Start of serving, as PostgreSQL prints it. */
  readonly since: string
  /** Record sets of the first publication after that, such as `www.example. NAPTR`; empty if it is not known. */
  readonly sets: readonly string[]
}

/** The most record sets that are named. */
const refusedSetsMax = 5

/** Adds the changes of the first publication that the name server refused to the reason of these zones. */
async function nameRefusedSets(trx: Trx, ids: readonly number[]): Promise<RefusedZoneChange[]> {
  type Row = Omit<RefusedZoneChange, 'sets'> & {
    readonly removed: Buffer | null
    readonly added: Buffer | null
  }
  const { rows } = await sql<Row>`
    select z.id, z.name, z.attrs -> 'servers' as servers, (z.attrs -> 'serial')::float8 as serial,
      z.attrs ->> 'since' as since, t.removed, t.added
    from dns_zones z left join dns_transfers t on t.zone_id = z.id and t.serial_from = (z.attrs ->> 'serial')::bigint
    where z.id = any(${ids as number[]}) order by z.id`.execute(trx)
  const refused = rows.map(({ removed, added, ...zone }) => ({ ...zone, sets: changedSets(removed, added) }))
  await sql`
    update dns_zones z set attrs = z.attrs || jsonb_build_object('sets', r.sets)
    from unnest(${refused.map(({ id }) => id)}::integer[], ${refused.map(({ sets }) => JSON.stringify(sets))}::jsonb[]) r (id, sets)
    where z.id = r.id`.execute(trx)
  return refused
}

/** Names of the changed sets of a step without DNSSEC and SOA; added and changed sets before removed ones. */
function changedSets(removed: Buffer | null, added: Buffer | null): string[] {
  if (!removed || !added) return []
  const names = [...decodeSignedRrsets(added), ...decodeSignedRrsets(removed)]
    .filter(({ type }) => type !== recordType.SOA && !isGeneratedType(type))
    .map(({ name, type }) => `${name} ${typeName(type)}`)
  return [...new Set(names)].slice(0, refusedSetsMax)
}

/**
 * Saves the identity of a server that answered, or the code of its failure. An unchanged row is written at most once a
 * minute.
 */
export async function saveServer(
  db: Db,
  serverId: number,
  { error, identity }: { readonly error: string | null; readonly identity?: object },
): Promise<void> {
  await sql`
    update dns_servers set checked = now(), seen = case when ${error}::text is null then now() else seen end, error = ${error},
      identity = coalesce(${identity ? JSON.stringify(identity) : null}::jsonb, identity)
    where id = ${serverId} and (error is distinct from ${error} or checked is null or checked < now() - interval '1 minute'
      or identity is distinct from coalesce(${identity ? JSON.stringify(identity) : null}::jsonb, identity))`.execute(
    db,
  )
}
