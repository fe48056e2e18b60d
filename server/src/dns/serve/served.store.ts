// The SQL of serving: published zones and who may transfer them. It only reads, as the owner and across all teams: a
// name server serves all teams.
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/postgres.ts'
import { nameFromKey, type DomainName, type ZoneName } from '../../net/dns/name.ts'
import type { SignedRrset } from '../../net/dns/record.ts'
import { toSerial, type Serial } from '../../net/dns/serial.ts'
import { decodeSignedRrsets } from '../sign/rrset-list.ts'

export type ServedZoneRow = {
  readonly id: number
  readonly name: ZoneName
  readonly serial: Serial
  readonly kind: 'primary' | 'secondary'
  readonly published: Date
  /** When the zone got its name: of several zones with a name, the last one is served. */
  readonly claimed: Date | null
  /** When the zone was withdrawn; null while it is served. */
  readonly withdrawn: Date | null
  /** When the data of a secondary zone may no longer be served. */
  readonly expires: Date | null
}

/**
 * Returns the zones that are or were published: changed since `since`, by default all. A zone that waits for its name
 * is not served, even if it was published. A zone that is missing in the result is not withdrawn: only its row can
 * withdraw it.
 */
export async function listServedZones(db: Db | Trx, since?: Date): Promise<ServedZoneRow[]> {
  const { rows } = await sql<ServedZoneRow>`
    select z.id, z.name, z.serial::float8 as serial, z.kind, z.published, z.claimed,
      case when z.claimed is null then coalesce(z.withdrawn, now()) else z.withdrawn end as withdrawn, s.expires
    from dns_zones z left join dns_secondaries s on s.zone_id = z.id
    where z.published is not null and z.serial is not null
      ${since ? sql`and (z.published >= ${since} or z.withdrawn >= ${since} or z.claimed is null)` : sql``}
    order by z.id`.execute(db)
  return rows
}

/** A step of publication with whole sets, signatures included, as stored. */
export type StoredStep = {
  readonly zoneId: number
  readonly position: number
  readonly from: Serial
  readonly to: Serial
  readonly removed: readonly SignedRrset[]
  readonly added: readonly SignedRrset[]
}

type StepRow = {
  readonly zone_id: number
  readonly position: number
  readonly serial_from: number
  readonly serial_to: number
  readonly removed: Buffer
  readonly added: Buffer
}

function stepOf({ zone_id, position, serial_from, serial_to, removed, added }: StepRow): StoredStep {
  return {
    zoneId: zone_id,
    position,
    from: toSerial(serial_from),
    to: toSerial(serial_to),
    removed: decodeSignedRrsets(removed),
    added: decodeSignedRrsets(added),
  }
}

const stepColumns = sql`zone_id, position::float8 as position, serial_from::float8 as serial_from,
  serial_to::float8 as serial_to, removed, added`

/** Returns up to `limit` steps of all zones after a position, in their order. */
export async function listStepsAfter(db: Db, position: number, limit: number): Promise<StoredStep[]> {
  const { rows } = await sql<StepRow>`/* kept */
    select ${stepColumns} from dns_transfers t where t.position > ${position} order by t.position limit ${limit}`.execute(
    db,
  )
  return rows.map(stepOf)
}

/** Returns the steps of a zone up to a position, in their order. */
export async function listStepsOf(db: Db, zoneId: number, until: number): Promise<StoredStep[]> {
  const { rows } = await sql<StepRow>`
    select ${stepColumns} from dns_transfers t where t.zone_id = ${zoneId} and t.position <= ${until}
    order by t.position`.execute(db)
  return rows.map(stepOf)
}

/** The last position of all steps; 0 without steps. */
export async function lastPosition(db: Db | Trx): Promise<number> {
  const { rows } = await sql<{ last: number }>`
    select coalesce(max(position), 0)::float8 as last from dns_transfers`.execute(db)
  return rows[0]!.last
}

/** Returns the id of the database. */
export async function readDatabaseId(db: Db | Trx): Promise<string | undefined> {
  const { rows } = await sql<{ uuid: string | null }>`select uuid::text as uuid from installation`.execute(db)
  return rows[0]?.uuid ?? undefined
}

/** Runs with one snapshot of the database: several statements see the same zones. */
export const withSnapshot = <T>(db: Db, work: (trx: Trx) => Promise<T>): Promise<T> =>
  db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work)

export type ServedSetRow = { readonly zoneId: number; readonly set: SignedRrset }

type SetRow = {
  readonly zone_id: number
  readonly name_key: Buffer
  readonly type: number
  readonly ttl: number
  readonly rdata: Buffer[]
  readonly rrsig: Buffer[]
}

/** Rows of one query: about 50 ms of work, after which others get their turn. */
const pageRows = 5_000

/** Yields the published sets of these zones, zone by zone, in canonical order of names. */
export async function* readServedSets(
  trx: Db | Trx,
  zoneIds: readonly number[],
): AsyncGenerator<ServedSetRow> {
  let last: SetRow | undefined
  for (;;) {
    const after: ReturnType<typeof sql> = last
      ? sql`and (zone_id, name_key, type) > (${last.zone_id}, ${last.name_key}, ${last.type})`
      : sql``
    const { rows }: { rows: SetRow[] } = await sql<SetRow>`
      select zone_id, name_key, type, ttl, rdata, rrsig from dns_served
      where zone_id = any(${zoneIds as number[]}) ${after}
      order by zone_id, name_key, type limit ${pageRows}`.execute(trx)
    let key: Buffer | undefined
    let name = '' as DomainName
    for (const row of rows) {
      if (!key?.equals(row.name_key)) name = nameFromKey((key = row.name_key))
      const { zone_id: zoneId, type, ttl } = row
      yield { zoneId, set: { name, type, ttl, rdata: row.rdata.map(copy), rrsig: row.rrsig.map(copy) } }
    }
    last = rows.at(-1)
    if (rows.length < pageRows) return
  }
}

/** The driver's buffers are slices of large ones, which would stay in memory as long as a slice is used. */
const copy = (octets: Buffer): Uint8Array => Uint8Array.from(octets)

/** Returns the SOA of each zone. */
export async function readSoas(
  trx: Db | Trx,
  zoneIds: readonly number[],
): Promise<ReadonlyMap<number, SignedRrset>> {
  const { rows } = await sql<SetRow>`
    select s.zone_id, s.name_key, s.type, s.ttl, s.rdata, s.rrsig from dns_served s
    join dns_zones z on z.id = s.zone_id and z.name_key = s.name_key
    where s.zone_id = any(${zoneIds as number[]}) and s.type = 6`.execute(trx)
  return new Map(
    rows.map(({ zone_id, name_key, type, ttl, rdata, rrsig }) => [
      zone_id,
      { name: nameFromKey(name_key), type, ttl, rdata: rdata.map(copy), rrsig: rrsig.map(copy) },
    ]),
  )
}

/** A follower of all zones, from the platform file. */
export type FollowerRow = {
  readonly address: string | null
  readonly key: DomainName | null
  readonly signing: 'pharos' | 'external'
}

/** Further rights, by the settings of a zone. */
export type ZoneAccessRow = {
  readonly id: number
  readonly networks: readonly string[]
  readonly keys: readonly DomainName[]
}

export type KeyRow = {
  readonly name: DomainName
  readonly algorithm: string
  readonly secret_sealed: Buffer
  /** Empty: from everywhere. */
  readonly networks: readonly string[]
  readonly expires: Date | null
  /** Zones that the key may transfer by itself, without the settings of the zone. */
  readonly transfers: readonly number[]
  /**
   * The only zones that a limited key may transfer; null: no limit. Zones limited to names or types are not included.
   */
  readonly limited_to: readonly number[] | null
}

/** The primaries of secondary zones, which may send NOTIFY. */
export type PrimaryRow = {
  readonly id: number
  readonly zone: ZoneName
  readonly address: string
  readonly key: DomainName | null
}

export type AccessRows = {
  readonly followers: readonly FollowerRow[]
  readonly zones: readonly ZoneAccessRow[]
  readonly keys: readonly KeyRow[]
  readonly primaries: readonly PrimaryRow[]
}

export async function readAccess(db: Db): Promise<AccessRows> {
  const [followers, zones, keys, primaries] = await Promise.all([
    sql<FollowerRow>`
      select s.address, k.name as key, s.signing
      from dns_servers s left join dns_tsig_keys k on k.id = s.tsig_key_id where s.kind = 'dns'`.execute(db),
    sql<ZoneAccessRow>`
      select z.id,
        array(select jsonb_array_elements_text(coalesce(z.settings -> 'allow_transfer', '[]'))) as networks,
        array(select k.name from jsonb_array_elements_text(coalesce(z.settings -> 'tsig_key_ids', '[]')) i (id)
          join dns_tsig_keys k on k.id = i.id::integer
            and (k.team_id is null or k.team_id = z.team_id)) as keys
      from dns_zones z where z.settings ?| array['allow_transfer', 'tsig_key_ids']`.execute(db),
    sql<KeyRow>`
      select k.name, k.algorithm, k.secret_sealed, k.allowed_networks::text[] as networks, k.expires,
        array(select z.id from dns_zones z where k.may_transfer and z.team_id = k.team_id and z.deleted is null) as transfers,
        case when k.is_limited then array(select l.zone_id from resource_limits l
          where l.tsig_key_id = k.id and l.names is null and l.types is null) end as limited_to
      from dns_tsig_keys k`.execute(db),
    sql<PrimaryRow>`
      select s.zone_id as id, z.name as zone, p.value ->> 'address' as address, k.name as key
      from dns_secondaries s join dns_zones z on z.id = s.zone_id and z.deleted is null and z.claimed is not null
      cross join jsonb_array_elements(s.primaries) p (value)
      left join dns_tsig_keys k on k.id = (p.value ->> 'tsig_key_id')::integer`.execute(db),
  ])
  return { followers: followers.rows, zones: zones.rows, keys: keys.rows, primaries: primaries.rows }
}
