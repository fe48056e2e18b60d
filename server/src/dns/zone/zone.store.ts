// The SQL of zones: list, find, lock, insert, delete. Every statement names the team; `null` is the operator.
import { sql, type RawBuilder } from 'kysely'
import type { AliasReason } from '@pharos/contract/reason/alias-reason'
import type { ZoneSettingsUpdate } from '@pharos/contract/dns/settings'
import type { DelegationStatus, listZonesRoute, Primary, ServerZoneState } from '@pharos/contract/dns/zone'
import type { QueryOf } from '@pharos/contract/route'
import { columns, jsonOf, parseJsonRow, withExpressions, type RowOf } from '../../db/columns.ts'
import { andAll, listInTeam, orderBy, type Page } from '../../db/page.ts'
import type { Db, Postgres, Trx } from '../../db/postgres.ts'
import { nameKey, parentOf, type DomainName, type ZoneName } from '../../net/dns/name.ts'
import { recordType } from '../../net/dns/type.ts'
import { deletionOf, statusOfZone } from './zone-status.store.ts'
import type { Limits } from '../../operation/limits.ts'
import { noNameserver, type DnsDefaults, type Zone } from './zone.ts'

const zoneColumns = columns(
  'dns_zones',
  'z',
  [
    'id',
    'team_id',
    'kind',
    'status',
    'is_reverse',
    'version',
    'published_version',
    'serial',
    'recordset_count',
    'record_count',
    'settings_version',
    'dnssec',
    'claimed',
    'created',
    'touched',
    'deleted',
  ],
  {
    name: sql<ZoneName>`z.name`,
    settings: sql<ZoneSettingsUpdate>`z.settings`,
    now: sql<Date>`now()`,
  },
)
type ZoneRow = RowOf<typeof zoneColumns>

/** A row changes only with the served zone, so its time applies to the serial. */
const serverColumns = columns('dns_server_zones', 's', ['serial', 'checked'], {
  since: sql<Date>`case when s.state = 'serving' then s.checked else s.since end`,
  name: sql<string>`v.name`,
  region: sql<string>`v.region`,
  state: sql<ServerZoneState>`s.state`,
})
const serverJson = jsonOf(serverColumns)

/** NS is type 2. A secondary zone has no record sets before its first transfer. */
const shownColumns = withExpressions(zoneColumns, {
  is_generated: sql<boolean>`z.is_generated`,
  published: sql<Date | null>`z.published`,
  shown_status: statusOfZone,
  deletion: deletionOf,
  dnssec_reason: sql<string | null>`z.dnssec_reason`,
  reason: sql<string | null>`z.reason`,
  attrs: sql<Readonly<Record<string, unknown>> | null>`z.attrs`,
  nameservers: sql<string | null>`(
    select r.content from dns_recordsets r where r.zone_id = z.id and r.name_key = z.name_key and r.type = 2)`,
  delegated: sql<string[] | null>`(select d.ns from dns_delegations d where d.zone_id = z.id)`,
  delegation_status: sql<DelegationStatus | null>`(
    select d.status from dns_delegations d where d.zone_id = z.id)`,
  delegation_checked: sql<Date | null>`(select d.checked from dns_delegations d where d.zone_id = z.id)`,
  was_delegated: sql<boolean>`exists (
    select from dns_delegations d where d.zone_id = z.id and d.delegated_seen is not null)`,
})
const withServers = withExpressions(shownColumns, {
  servers: sql<RowOf<typeof serverJson>[]>`coalesce((
    select json_agg(${serverJson} order by v.name) from dns_server_zones s join dns_servers v on v.id = s.server_id
    where s.zone_id = z.id), '[]')`,
  primaries: sql<
    (Primary & { readonly tsig_key_id?: number })[] | null
  >`(select p.primaries from dns_secondaries p where p.zone_id = z.id)`,
  failing_aliases: sql<readonly FailingAlias[] | null>`(
    select json_agg(json_build_object('name', r.name, 'reason', a.reason, 'isUnserved', a.is_unserved,
      'resolved', to_char(a.resolved at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) order by r.name_key)
    from dns_aliases a join dns_recordsets r on r.zone_id = a.zone_id and r.name_key = a.name_key
    where a.zone_id = z.id and a.reason is not null and r.type = ${sql.lit(recordType.ALIAS)})`,
})

/** An ALIAS record whose target was not resolved at the last attempt, with the time of the last success. */
type FailingAlias = {
  readonly name: DomainName
  readonly reason: AliasReason
  readonly resolved: string | null
  /** The name has no published address. */
  readonly isUnserved: boolean
}

type ShownRow = RowOf<typeof shownColumns> &
  Partial<Pick<RowOf<typeof withServers>, 'servers' | 'primaries' | 'failing_aliases'>>

const zoneOf = (row: ZoneRow): Zone => ({
  id: row.id,
  teamId: row.team_id,
  name: row.name,
  kind: row.kind,
  status: row.status,
  isReverse: row.is_reverse,
  version: row.version,
  publishedVersion: row.published_version,
  serial: row.serial,
  recordsetCount: row.recordset_count,
  recordCount: row.record_count,
  settings: row.settings,
  settingsVersion: row.settings_version,
  dnssec: row.dnssec,
  claimed: row.claimed,
  created: row.created,
  touched: row.touched,
  deleted: row.deleted,
  now: row.now,
})

const shownOf = (row: ShownRow) => ({
  ...zoneOf(row),
  isGenerated: row.is_generated,
  published: row.published,
  shownStatus: row.shown_status,
  deletion: row.deletion,
  dnssecReason: row.dnssec_reason,
  reason: row.reason,
  attrs: row.attrs,
  nameservers: row.nameservers,
  delegated: row.delegated,
  delegationStatus: row.delegation_status,
  delegationChecked: row.delegation_checked,
  wasDelegated: row.was_delegated,
  servers: (row.servers ?? []).map((one) =>
    parseJsonRow<RowOf<typeof serverColumns>>(one, { since: true, checked: true }),
  ),
  primaries: row.primaries,
  failingAliases: row.failing_aliases,
})

/** A zone with the additional fields of answers. */
export type ShownZone = Readonly<ReturnType<typeof shownOf>>

/** Identifies a zone in a request: by id or by name. */
export type ZoneRef = { readonly id: number } | { readonly name: ZoneName }

/** Includes deleted zones. */
const isNamed = (ref: ZoneRef): RawBuilder<unknown> =>
  'id' in ref ? sql`z.id = ${ref.id}::bigint` : sql`z.name_key = ${keyOf(ref.name)}`

const isRef = (ref: ZoneRef): RawBuilder<unknown> =>
  'id' in ref ? isNamed(ref) : sql`${isNamed(ref)} and z.deleted is null`

const keyOf = (name: DomainName): Buffer => Buffer.from(nameKey(name))

/** Days for which a deleted zone can be restored. */
const restorableDays = 7
const isRestorable = sql`(z.deleted is null or z.deleted > now() - make_interval(days => ${restorableDays}))`

/**
 * Returns a zone of the team. `isDeleted`: a deleted zone that can be restored; if several have the name, the last
 * deleted one.
 */
export async function findShownZone(
  postgres: Postgres,
  teamId: number,
  ref: ZoneRef,
  isDeleted: boolean,
): Promise<ShownZone | undefined> {
  const isWanted = isDeleted ? sql`z.deleted is not null and ${isRestorable}` : sql`z.deleted is null`
  const [row] = await postgres.readInTeam(
    teamId,
    sql<ShownRow>`select ${withServers} from dns_zones z
      where z.team_id = ${teamId} and ${isNamed(ref)} and ${isWanted} order by z.deleted desc, z.id desc limit 1`,
  )
  return row && shownOf(row)
}

/** Returns a zone of the team, deleted or not, for the answer of an operation. */
export async function readShownZone(trx: Trx, teamId: number, id: number): Promise<ShownZone> {
  const { rows } = await sql<ShownRow>`
    select ${withServers} from dns_zones z where z.team_id = ${teamId} and z.id = ${id} and ${isRestorable}`.execute(
    trx,
  )
  return shownOf(rows[0]!)
}

/** Returns a zone of the team that is not deleted. */
export async function findZone(postgres: Postgres, teamId: number, ref: ZoneRef): Promise<Zone | undefined> {
  const [row] = await postgres.readInTeam(
    teamId,
    sql<ZoneRow>`select ${zoneColumns} from dns_zones z
      where z.team_id = ${teamId} and ${isRef(ref)} and z.deleted is null`,
  )
  return row && zoneOf(row)
}

/** Locks and returns a zone of the team, or of the operator, until the end of the transaction; a deleted one too, if it can be restored. */
export async function lockZone(trx: Trx, teamId: number | null, ref: ZoneRef): Promise<Zone | undefined> {
  const { rows } = await sql<ZoneRow>`
    select ${zoneColumns} from dns_zones z
    where z.team_id is not distinct from ${teamId} and ${isRef(ref)} and ${isRestorable} for no key update`.execute(
    trx,
  )
  return rows[0] && zoneOf(rows[0])
}

export type ZoneListQuery = QueryOf<typeof listZonesRoute>

/** `names`: only these zones. `owners`: only the closest of these names, from the longest on. */
export async function listZoneRows(
  postgres: Postgres,
  teamId: number,
  query: ZoneListQuery,
  names: readonly ZoneName[] | undefined,
  qname: DomainName | undefined,
  withAll: boolean,
  limits: Limits | null,
): Promise<Page<ShownZone>> {
  const { kind, dnssec, status, reverse, search } = query
  const owners = qname && ancestorsOf(qname)
  const { page, count } = await listInTeam<ShownRow>(postgres, teamId, {
    matching: sql`
      select z.* from dns_zones z where z.team_id = ${teamId} ${andAll(
        query.deleted ? sql`z.deleted is not null and ${isRestorable}` : sql`z.deleted is null`,
        limits && sql`z.id = any(${[...limits.zones.keys()]}::integer[])`,
        names && sql`z.name_key = any(${names.map(keyOf)}::bytea[])`,
        search !== undefined && sql`strpos(z.name, lower(${search})) > 0`,
        kind && sql`z.kind = any(${kind}::text[])`,
        dnssec && sql`z.dnssec = any(${dnssec}::text[])`,
        status && sql`${statusOfZone} = any(${status}::text[])`,
        reverse !== undefined && sql`z.is_reverse = ${reverse}`,
        owners &&
          sql`z.name_key = (
            select o.name_key from dns_zones o
            where o.team_id = ${teamId} and o.deleted is null and o.name_key = any(${owners}::bytea[])
            order by o.name_key desc limit 1)`,
      )}`,
    columns: withAll ? withServers : shownColumns,
    order: orderBy(
      query.ordering,
      {
        id: sql`z.id`,
        name: sql`z.name_key`,
        created: sql`z.created`,
        touched: sql`z.touched`,
        published: sql`z.published`,
        record_count: sql`z.record_count`,
        status: statusOfZone,
      },
      sql`z.id`,
    ),
    slice: query,
  })
  return { page: page.map(shownOf), count }
}

/** The keys of a name and of all above it; the keys of names above are prefixes of it, so the longest is the closest. */
function ancestorsOf(name: DomainName): Buffer[] {
  const keys: Buffer[] = []
  for (let one: DomainName | undefined = name; one !== undefined; one = parentOf(one)) keys.push(keyOf(one))
  return keys
}

export type ZoneClaim = { readonly isSame: boolean; readonly isRelated: boolean }

/** Returns whether another team, or the operator, has the name, or a zone above or below it. */
export async function readClaim(trx: Trx, teamId: number, name: ZoneName): Promise<ZoneClaim> {
  const key = keyOf(name)
  const before = Buffer.from(key)
  // Each label of a key ends with 00: the first key after its descendants ends with 01 instead.
  before[before.length - 1] = 1
  const { rows } = await sql<ZoneClaim>`
    select c.is_same as "isSame", c.is_related as "isRelated"
    from zone_is_claimed(${teamId}, ${key}, ${ancestorsOf(name).slice(1)}::bytea[], ${before}) c`.execute(trx)
  return rows[0]!
}

/** Returns whether the team is the most specific holder of a network. */
export async function holdsNetwork(trx: Trx, teamId: number, network: string): Promise<boolean> {
  const { rows } = await sql<{
    holds: boolean
  }>`select holds_network(${teamId}, ${network}::cidr) as holds`.execute(trx)
  return rows[0]!.holds
}

/** Returns whether the team has verified a domain that is the name or above it. */
export async function hasVerifiedDomain(
  trx: Trx,
  teamId: number,
  names: readonly string[],
): Promise<boolean> {
  const { rows } = await sql`
    select from domains d where d.team_id = ${teamId} and d.verified is not null and d.domain = any(${names}::text[])
    limit 1`.execute(trx)
  return rows.length > 0
}

/** Prevents other transactions from adding zones to the team until this one ends, and returns how many it has. */
export async function countZones(trx: Trx, teamId: number): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`zones of ${teamId}`}, 0))`.execute(trx)
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from dns_zones where team_id = ${teamId} and deleted is null
      and not is_generated`.execute(trx)
  return rows[0]!.count
}

export type NewZone = Pick<Zone, 'teamId' | 'name' | 'kind' | 'isReverse' | 'serial' | 'settings'> & {
  readonly isGenerated: boolean
  readonly managedBy: 'operator' | 'team'
  readonly isClaimed: boolean
}

/**
 * Inserts a zone without records, with version 0: the first change makes it 1. Undefined if the team has a zone of the
 * name.
 */
export async function insertZone(trx: Trx, zone: NewZone): Promise<Zone | undefined> {
  const { rows } = await sql<ZoneRow>`
    insert into dns_zones as z (team_id, name, name_key, kind, is_reverse, is_generated, managed_by, version, serial, settings,
      status, claimed)
    values (${zone.teamId}, ${zone.name}, ${keyOf(zone.name)}, ${zone.kind}, ${zone.isReverse}, ${zone.isGenerated},
      ${zone.managedBy}, 0, ${zone.serial}::bigint, ${JSON.stringify(zone.settings)}::jsonb,
      ${zone.isClaimed ? 'updating' : 'pending_verification'}, case when ${zone.isClaimed} then now() end)
    on conflict do nothing
    returning ${zoneColumns}`.execute(trx)
  return rows[0] && zoneOf(rows[0])
}

/** Stores the primaries of a secondary zone. It is due immediately. */
export async function insertSecondary(trx: Trx, zoneId: number, primaries: readonly object[]): Promise<void> {
  await sql`insert into dns_secondaries (zone_id, primaries) values (${zoneId}, ${JSON.stringify(primaries)}::jsonb)`.execute(
    trx,
  )
}

/** Returns whether the team has a zone of the name that is not deleted. */
export async function isNameTaken(trx: Trx, teamId: number, name: ZoneName): Promise<boolean> {
  const { rows } = await sql`
    select from dns_zones z where z.team_id = ${teamId} and z.name_key = ${keyOf(name)} and z.deleted is null`.execute(
    trx,
  )
  return rows.length > 0
}

export async function markZoneDeleted(trx: Trx, zone: Zone, actor: string): Promise<void> {
  await sql`update dns_zones set deleted = now(), deleted_by = ${actor}, touched = now()
    where team_id is not distinct from ${zone.teamId} and id = ${zone.id}`.execute(trx)
}

/** Restores the zone; it gets the name only if no other team has it. Until then it leaves the catalog zone as a deleted one does. */
export async function markZoneRestored(trx: Trx, zone: Zone, isClaimed: boolean): Promise<void> {
  const status = isClaimed ? 'updating' : 'pending_verification'
  await sql`update dns_zones set deleted = null, deleted_by = null, deletion_held = null, touched = now(), status = ${status},
      claimed = case when ${isClaimed} then now() end,
      withdrawn = case when not ${isClaimed} then withdrawn end,
      published = case when ${isClaimed} and published is not null and withdrawn is not null then now() else published end
    where team_id is not distinct from ${zone.teamId} and id = ${zone.id}`.execute(trx)
}

/**
 * Gives the name of a deleted zone to the zone of any team that waited longest for it. If that zone was published
 * before, its publication time is set to now, because name servers read changed rows. Its delegation is due
 * immediately, and is written into a zone of its owner above. In a transaction of the owner.
 */
export async function claimWaiting(trx: Trx, name: ZoneName): Promise<void> {
  await sql`
    with claimed as (update dns_zones set claimed = now(), status = 'updating', withdrawn = null,
      published = case when published is not null then now() end
    where id = (
      select z.id from dns_zones z where z.name_key = ${keyOf(name)} and z.claimed is null and z.deleted is null
      order by z.created limit 1)
    and not exists (
      select from dns_zones o where o.name_key = ${keyOf(name)} and o.claimed is not null and o.deleted is null)
    returning id, kind, published)
    insert into dns_delegations (zone_id, due) select id, now() from claimed where kind = 'primary' and published is not null
    on conflict (zone_id) do update set due = now()`.execute(trx)
}

const defaultColumns = columns('dns_defaults', 'd', [
  'hostmaster',
  'default_ttl',
  'minimum_ttl',
  'refresh',
  'retry',
  'expire',
  'negative_ttl',
  'history_days',
  'zones_max',
  'recordsets_max',
  'aliases_max',
  'is_apex_ns_editable',
])

/** The columns' own defaults apply without a section `dns` in the platform file. */
const withoutSection: Omit<DnsDefaults, 'nameservers'> = {
  hostmaster: 'hostmaster.invalid.',
  defaultTtl: 3600,
  minimumTtl: 300,
  refresh: 3600,
  retry: 900,
  expire: 1_209_600,
  negativeTtl: 300,
  historyDays: 90,
  zonesMax: 1000,
  recordsetsMax: 50_000,
  aliasesMax: 50,
  isApexNsEditable: false,
}

/** One row: the section of the platform file, if present, and the names of its public servers. */
const defaultsRow = sql<RowOf<typeof defaultColumns> & { names: string[] }>`
  select ${defaultColumns},
    (select coalesce(array_agg(s.name order by s.name), '{}') from dns_servers s where s.is_public) as names
  from (select) one left join dns_defaults d on true`

export async function readDefaults(db: Db | Trx): Promise<DnsDefaults> {
  const { rows } = await defaultsRow.execute(db)
  return defaultsOf(rows[0]!)
}

/** Like `readDefaults`, on the connections that requests share. */
export async function readDefaultsInTeam(postgres: Postgres, teamId: number): Promise<DnsDefaults> {
  const [row] = await postgres.readInTeam(teamId, defaultsRow)
  return defaultsOf(row!)
}

/** All columns are null without the section. */
const defaultsOf = ({ names, ...row }: RowOf<typeof defaultColumns> & { names: string[] }): DnsDefaults => ({
  ...((row.hostmaster as string | null) === null ? withoutSection : sectionOf(row)),
  nameservers: names.length > 0 ? names : [noNameserver],
})

const sectionOf = (row: RowOf<typeof defaultColumns>): Omit<DnsDefaults, 'nameservers'> => ({
  hostmaster: row.hostmaster,
  defaultTtl: row.default_ttl,
  minimumTtl: row.minimum_ttl,
  refresh: row.refresh,
  retry: row.retry,
  expire: row.expire,
  negativeTtl: row.negative_ttl,
  historyDays: row.history_days,
  zonesMax: row.zones_max,
  recordsetsMax: row.recordsets_max,
  aliasesMax: row.aliases_max,
  isApexNsEditable: row.is_apex_ns_editable,
})

/** Returns the id of a TSIG key of the provider or the team; undefined if there is no such key. */
export async function findTsigKeyId(db: Db, teamId: number, name: DomainName): Promise<number | undefined> {
  const { rows } = await sql<{ id: number }>`
    select k.id from dns_tsig_keys k where k.name = ${name} and (k.team_id is null or k.team_id = ${teamId})`.execute(
    db,
  )
  return rows[0]?.id
}

/** Filters the ids: only keys of the provider or the team. */
export async function listTsigKeyIds(
  db: Db,
  teamId: number,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  const { rows } = await sql<{ id: number }>`
    select k.id from dns_tsig_keys k
    where k.id = any(${ids}::bigint[]) and (k.team_id is null or k.team_id = ${teamId})`.execute(db)
  return new Set(rows.map(({ id }) => id))
}

/** Has the parent of a zone checked now, instead of within the hour. */
export async function requestDelegationCheck(db: Db | Trx, zoneId: number): Promise<void> {
  await sql`
    insert into dns_delegations (zone_id, due) values (${zoneId}, now())
    on conflict (zone_id) do update set due = now()`.execute(db)
}
