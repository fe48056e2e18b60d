// The SQL of DNSSEC: the state of a zone, its keys, and the last observed answer of the parent. Callers lock the rows
// of zones.
import { sql } from 'kysely'
import type { DnssecState } from '@pharos/contract/dns/term'
import type { Db, Trx } from '../../db/postgres.ts'
import { wake } from '../../db/wake.ts'
import { compareOctets, type ZoneName } from '../../net/dns/name.ts'
import { isDsOf, keyFlags } from '../sign/dnskey.ts'
import type { NewKey } from './key.ts'
import type { KeyState, ParentFacts, ZoneDnssec, ZoneKey } from '../sign/key-state.ts'

/** The options that the team requested. */
export type DnssecOptions = { readonly nsec3?: boolean; readonly cds?: boolean }

export type StoredKey = ZoneKey & {
  readonly algorithm: number
  readonly flags: number
  readonly tag: number
  readonly dnskey: Uint8Array
  readonly created: Date
}

/** A key of another signer (RFC 8901): a DNSKEY record that the team has added. */
export type OtherKey = { readonly dnskey: Uint8Array; readonly created: Date }

/** The DNSSEC of a zone with the inputs of answers and the state table. Times are Unix seconds. */
export type StoredDnssec = Omit<ZoneDnssec, 'keys'> & {
  readonly zoneId: number
  readonly name: ZoneName
  readonly teamId: number | null
  readonly since: Date | null
  readonly reason: string | null
  readonly options: DnssecOptions
  readonly serial: number | null
  /** See the column `dnssec_serial`. */
  readonly keysSerial: number | null
  readonly isResignRequested: boolean
  /** Seconds that the slowest name server took for the last publication, or takes; with a margin for clocks and rounding. */
  readonly propagation: number
  readonly signer: 'pharos' | 'external'
  /** The largest TTL of the zone's record sets; only while `signing`. */
  readonly zoneTtl: number | null
  readonly keys: readonly StoredKey[]
  readonly otherKeys: readonly OtherKey[]
  readonly parent: StoredParent | undefined
}

export type StoredParent = ParentFacts & {
  readonly ds: readonly Uint8Array[]
  readonly keyTtlMax: number | null
  /** False while the servers of the parent do not answer: the DS records are then of an earlier answer. */
  readonly isAnswered: boolean
}

type Row = {
  readonly id: number
  readonly name: ZoneName
  readonly team_id: number | null
  readonly dnssec: DnssecState
  readonly dnssec_since: Date | null
  readonly dnssec_reason: string | null
  readonly dnssec_removal: boolean
  readonly dnssec_options: DnssecOptions
  readonly serial: number | null
  readonly dnssec_serial: number | null
  readonly is_resign_requested: boolean
  readonly propagation: number
  readonly is_external: boolean
  readonly zone_ttl: number | null
}

type KeyRow = {
  readonly id: number
  readonly algorithm: number
  readonly flags: number
  readonly tag: number
  readonly dnskey: Buffer
  readonly state: KeyState
  readonly created: Date
  readonly introduced: number | null
  readonly ds_seen: number | null
  readonly retired: number | null
}

type DelegationRow = {
  readonly status: string
  readonly checked: number | null
  readonly ds: Buffer[]
  readonly is_ds_everywhere: boolean
  readonly equal_answers: number
  readonly ds_ttl: number | null
  readonly ds_last_seen: number | null
  readonly dnskey_ttl_max: number | null
}

/** Seconds added to the observed time of propagation. */
const margin = 5

/**
 * Seconds from the publication until the slowest server had it, or until now while a server is behind. A server that
 * does not answer cannot give an older version to resolvers.
 */
const propagation = sql`(
  select coalesce(max(greatest(0, extract(epoch from
    case when o.state = 'serving' then coalesce(o.reached, o.checked) else now() end - z.published))), 0)::float8
  from dns_server_zones o join dns_servers v on v.id = o.server_id
  where o.zone_id = z.id and v.signing = 'pharos' and o.state in ('serving', 'behind'))`

/** Equal answers of all servers in a row before a state moves. */
const settledAnswers = 3

/** Returns the DNSSEC of a zone, without private keys. The zone exists. */
export async function readDnssec(db: Db | Trx, zoneId: number): Promise<StoredDnssec> {
  const zones = await sql<Row>`
    select id, name, team_id, dnssec, dnssec_since, dnssec_reason, dnssec_removal, dnssec_options,
      serial::float8 as serial, dnssec_serial::float8 as dnssec_serial, resign_requested is not null as is_resign_requested,
      ${propagation} as propagation, (select coalesce(bool_and(v.signing = 'external'), false) from dns_servers v) as is_external,
      case when dnssec = 'signing' then (select max(ttl) from dns_recordsets r where r.zone_id = z.id) end as zone_ttl
    from dns_zones z where id = ${zoneId}`.execute(db)
  const keys = await sql<KeyRow>`
    select id, algorithm, flags, tag, dnskey, state, created, extract(epoch from introduced)::float8 as introduced,
      extract(epoch from ds_seen)::float8 as ds_seen, extract(epoch from retired)::float8 as retired
    from dns_keys where zone_id = ${zoneId} and state <> 'removed' order by id`.execute(db)
  const delegations = await sql<DelegationRow>`
    select status, extract(epoch from checked)::float8 as checked, ds, is_ds_everywhere, equal_answers, ds_ttl,
      extract(epoch from ds_last_seen)::float8 as ds_last_seen, dnskey_ttl_max
    from dns_delegations where zone_id = ${zoneId}`.execute(db)
  const row = zones.rows[0]!
  const stored = keys.rows.map(keyOf)
  return {
    zoneId: row.id,
    name: row.name,
    teamId: row.team_id,
    status: row.dnssec,
    since: row.dnssec_since,
    reason: row.dnssec_reason,
    isRemovalRequested: row.dnssec_removal,
    options: row.dnssec_options,
    serial: row.serial,
    keysSerial: row.dnssec_serial,
    isResignRequested: row.is_resign_requested,
    propagation: Math.ceil(row.propagation) + margin,
    signer: row.is_external ? 'external' : 'pharos',
    zoneTtl: row.zone_ttl,
    keys: stored,
    otherKeys: await listOtherKeys(db, zoneId, stored),
    parent: delegations.rows[0] && parentOf(row.name, stored, delegations.rows[0]),
  }
}

const keyOf = ({ dnskey, introduced, ds_seen: dsSeen, retired, ...row }: KeyRow): StoredKey => ({
  ...row,
  dnskey: Uint8Array.from(dnskey),
  introduced: introduced ?? undefined,
  dsSeen: dsSeen ?? undefined,
  retired: retired ?? undefined,
})

function parentOf(zone: ZoneName, keys: readonly StoredKey[], row: DelegationRow): StoredParent | undefined {
  if (row.checked === null) return undefined
  const ds = row.ds.map((octets) => Uint8Array.from(octets))
  const withDs = keys.filter(
    ({ flags, dnskey }) =>
      (flags & keyFlags.secureEntryPoint) !== 0 && ds.some((octets) => isDsOf(zone, octets, dnskey)),
  )
  const ids = withDs.map(({ id }) => id)
  return {
    ds,
    keyTtlMax: row.dnskey_ttl_max,
    checked: row.checked,
    isAnswered: row.status !== 'unavailable',
    isSettled: row.equal_answers >= settledAnswers && row.status !== 'unavailable',
    hasDs: ds.length > 0,
    dsAnywhere: ids,
    dsEverywhere: row.is_ds_everywhere ? ids : [],
    dsTtl: row.ds_ttl ?? 0,
    dsLastSeen: row.ds_last_seen ?? undefined,
  }
}

/** DNSKEY is type 48. */
async function listOtherKeys(
  db: Db | Trx,
  zoneId: number,
  own: readonly Pick<StoredKey, 'dnskey'>[],
): Promise<OtherKey[]> {
  const { rows } = await sql<{ rdata: Buffer[]; created: Date }>`
    select r.rdata, r.created from dns_recordsets r join dns_zones z on z.id = r.zone_id and z.name_key = r.name_key
    where r.zone_id = ${zoneId} and r.type = 48`.execute(db)
  return rows.flatMap(({ rdata, created }) =>
    rdata
      .map((octets) => ({ dnskey: Uint8Array.from(octets), created }))
      .filter(({ dnskey }) => !own.some((key) => compareOctets(key.dnskey, dnskey) === 0)),
  )
}

/** Returns the tags of all keys that the zone has or had: a new key gets another one. */
export async function listTags(trx: Trx, zoneId: number): Promise<number[]> {
  const { rows } = await sql<{ tag: number }>`select tag from dns_keys where zone_id = ${zoneId}`.execute(trx)
  return rows.map(({ tag }) => tag)
}

/** Inserts an introduced key. */
export async function insertKey(trx: Trx, zoneId: number, key: NewKey): Promise<void> {
  await sql`
    insert into dns_keys (zone_id, algorithm, flags, tag, dnskey, private_sealed, state)
    values (${zoneId}, ${key.algorithm}, ${key.flags}, ${key.tag}, ${Buffer.from(key.dnskey)}, ${key.privateSealed},
      'introduced')`.execute(trx)
}

export type SavedState = Pick<ZoneDnssec, 'status' | 'isRemovalRequested' | 'keys'> & {
  readonly reason: string | undefined
  /** When it is evaluated next; undefined while DNSSEC is disabled. */
  readonly due: Date | undefined
}

const timeOf = (seconds: number | undefined): Date | null =>
  seconds === undefined ? null : new Date(seconds * 1000)

/** Saves the state after an evaluation or a request. `republish`: keys or CDS differ, and the zone is signed again. */
export async function saveState(
  trx: Trx,
  before: StoredDnssec,
  { status, isRemovalRequested, keys, reason, due }: SavedState,
  republish: boolean,
): Promise<void> {
  for (const key of keys) {
    const old = before.keys.find(({ id }) => id === key.id)
    if (old && isSameKey(old, key)) continue
    const removal = key.state === 'removed' ? sql`, removed = now(), private_sealed = null` : sql``
    await sql`
      update dns_keys set state = ${key.state}, introduced = ${timeOf(key.introduced)}, ds_seen = ${timeOf(key.dsSeen)},
        retired = ${timeOf(key.retired)} ${removal}
      where zone_id = ${before.zoneId} and id = ${key.id}`.execute(trx)
  }
  const isMoved = status !== before.status
  await sql`
    update dns_zones set dnssec = ${status}, dnssec_removal = ${isRemovalRequested}, dnssec_reason = ${reason ?? null},
      dnssec_since = case when ${isMoved} then now() else dnssec_since end, dnssec_due = ${due ?? null},
      dnssec_serial = case when ${republish} then null else dnssec_serial end,
      resign_requested = case when ${republish} then date_trunc('milliseconds', now()) else resign_requested end
    where id = ${before.zoneId}`.execute(trx)
  if (republish) await wake(trx, 'dns')
}

const isSameKey = (a: ZoneKey, b: ZoneKey): boolean =>
  a.state === b.state && a.introduced === b.introduced && a.dsSeen === b.dsSeen && a.retired === b.retired

/** - */
export async function saveDnssecOptions(trx: Trx, zoneId: number, options: DnssecOptions): Promise<void> {
  await sql`update dns_zones set dnssec_options = ${JSON.stringify(options)}::jsonb where id = ${zoneId}`.execute(
    trx,
  )
}
