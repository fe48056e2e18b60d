// The SQL of publication: pending versions, published content, and the transaction that replaces it. It works as the
// owner, across all teams.
import type { StateMessageTag } from '@pharos/contract/reason/state-message'
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/postgres.ts'
import { wake, waking } from '../../db/wake.ts'
import { nameFromKey, nameKey, type ZoneName } from '../../net/dns/name.ts'
import type { Rrset, SignedRrset } from '../../net/dns/record.ts'
import { toSerial, type Serial } from '../../net/dns/serial.ts'
import { recordType } from '../../net/dns/type.ts'
import type { KeyState } from '../sign/key-state.ts'
import type { StoredStep } from '../serve/served.store.ts'
import { expirationOf } from '../sign/signature.ts'
import type { ServedChange } from '../sign/served-index.ts'
import { decodeRrsets, decodeSignedRrsets, encodeSignedRrsets } from '../sign/rrset-list.ts'

export type PublishedZone = {
  readonly id: number
  readonly teamId: number | null
  readonly name: ZoneName
  readonly version: number
  readonly publishedVersion: number
  readonly serial: Serial | undefined
  readonly isPublished: boolean
  readonly resignRequested: Date | null
  /** Addresses of ALIAS records changed. */
  readonly aliasRequested: Date | null
  readonly hasAliases: boolean
  /** Its last publication needed an approval. */
  readonly isWaiting: boolean
  readonly dnssec: string
  readonly dnssecOptions: unknown
  /** The entries after the published version, in order; empty before the first publication, which does not use it. */
  readonly journal: readonly JournalEntry[]
  readonly keys: readonly PublishedKey[]
}

export type JournalEntry = {
  readonly version: number
  readonly removed: readonly Rrset[]
  readonly added: readonly Rrset[]
}

export type PublishedKey = {
  readonly id: number
  readonly algorithm: number
  readonly flags: number
  readonly tag: number
  readonly dnskey: Buffer
  readonly privateSealed: Buffer | null
  readonly state: KeyState
}

/** Octets as hexadecimal digits. */
type Hex = string

type ZoneRow = {
  readonly id: number
  readonly team_id: number | null
  readonly name: ZoneName
  readonly version: number
  readonly published_version: number
  readonly serial: number | null
  readonly is_published: boolean
  readonly resign_requested: Date | null
  readonly alias_requested: Date | null
  readonly has_aliases: boolean
  readonly is_waiting: boolean
  readonly dnssec: string
  readonly dnssec_options: unknown
  readonly journal: readonly { version: number; removed: Hex; added: Hex }[] | null
  readonly keys:
    | readonly (Omit<PublishedKey, 'dnskey' | 'privateSealed'> & { dnskey: Hex; sealed: Hex | null })[]
    | null
}

// One statement, so one snapshot: the journal ends at the version of the row.
const zoneColumns = sql`z.id, z.team_id, z.name, z.version::float8 as version, z.published_version::float8 as published_version,
  z.serial::float8 as serial, z.published is not null as is_published, z.resign_requested, z.alias_requested, z.dnssec, z.dnssec_options,
  z.reason is not distinct from 'zone_held' as is_waiting,
  exists (select from dns_recordsets r where r.zone_id = z.id and r.type = ${sql.lit(recordType.ALIAS)}) as has_aliases,
  (select json_agg(json_build_object('version', v.version, 'removed', encode(v.removed, 'hex'), 'added', encode(v.added, 'hex'))
      order by v.version)
    from dns_versions v where z.published is not null and v.zone_id = z.id and v.version > z.published_version) as journal,
  (select json_agg(json_build_object('id', k.id, 'algorithm', k.algorithm, 'flags', k.flags, 'tag', k.tag,
      'dnskey', encode(k.dnskey, 'hex'), 'sealed', encode(k.private_sealed, 'hex'), 'state', k.state) order by k.id)
    from dns_keys k where k.zone_id = z.id) as keys`

const fromHex = (digits: Hex): Buffer => Buffer.from(digits, 'hex')

const zoneOf = (row: ZoneRow): PublishedZone => ({
  id: row.id,
  teamId: row.team_id,
  name: row.name,
  version: row.version,
  publishedVersion: row.published_version,
  serial: row.serial === null ? undefined : toSerial(row.serial),
  isPublished: row.is_published,
  resignRequested: row.resign_requested,
  aliasRequested: row.alias_requested,
  hasAliases: row.has_aliases,
  isWaiting: row.is_waiting,
  dnssec: row.dnssec,
  dnssecOptions: row.dnssec_options,
  journal: (row.journal ?? []).map(({ version, removed, added }) => ({
    version,
    removed: decodeRrsets(fromHex(removed)),
    added: decodeRrsets(fromHex(added)),
  })),
  keys: (row.keys ?? []).map(({ dnskey, sealed, ...key }) => ({
    ...key,
    dnskey: fromHex(dnskey),
    privateSealed: sealed === null ? null : fromHex(sealed),
  })),
})

/** A zone with something to publish; `zone` is undefined if it was not read with the list. */
export type UnpublishedZone = { readonly id: number; readonly zone: PublishedZone | undefined }

/** Returns the primary zones with something to publish, longest waiting first, and reads the first `count` of them. */
export async function listUnpublished(db: Db, count: number): Promise<UnpublishedZone[]> {
  const { rows } = await sql<{ waiting: number } & (ZoneRow | { readonly id: null })>`/* kept */
    select w.id as waiting, p.* from (
      select id, row_number() over (order by touched) as place from dns_zones
      where (version > published_version or resign_requested is not null or alias_requested is not null)
        and claimed is not null and deleted is null
        and kind = 'primary' and not is_catalog) w
    left join lateral (select ${zoneColumns} from dns_zones z where z.id = w.id and w.place <= ${count}) p on true
    order by w.place`.execute(db)
  return rows.map(({ waiting, ...row }) => ({ id: waiting, zone: row.id === null ? undefined : zoneOf(row) }))
}

/** Returns a zone that is to be published; undefined if it is deleted or does not exist. */
export async function findPublishedZone(db: Db | Trx, id: number): Promise<PublishedZone | undefined> {
  const { rows } = await sql<ZoneRow>`
    select ${zoneColumns} from dns_zones z where z.id = ${id} and z.deleted is null and z.claimed is not null`.execute(
    db,
  )
  return rows[0] && zoneOf(rows[0])
}

/** Returns the desired record sets of a zone, for its first publication. */
export async function listRecordsets(db: Db | Trx, zoneId: number): Promise<Rrset[]> {
  const { rows } = await sql<{ name_key: Buffer; type: number; ttl: number; rdata: Buffer[] }>`
    select name_key, type, ttl, rdata from dns_recordsets where zone_id = ${zoneId}
    order by name_key, type`.execute(db)
  return rows.map(({ name_key, type, ttl, rdata }) => ({ name: nameFromKey(name_key), type, ttl, rdata }))
}

export type Publication = {
  readonly zone: { readonly id: number; readonly serial: Serial | undefined }
  readonly serial: Serial
  /** The version that is then published. */
  readonly version: number
  readonly changes: readonly ServedChange[]
  /** A step of IXFR is stored; otherwise followers transfer the zone whole. */
  readonly hasStep: boolean
  /** The request to sign again that this publication fulfils. */
  readonly resigned: Date | null
  /** The request to publish addresses of ALIAS records that this publication fulfils. */
  readonly aliased?: Date | null
  /** Unix time in seconds. */
  readonly now: number
}

/** `step` is undefined if no step was stored. */
export type Saved = { readonly step: StoredStep | undefined }

/** Like `savePublication`; a small publication is one statement without a transaction around it. */
export const commitPublication = (db: Db, publication: Publication): Promise<Saved | undefined> =>
  publication.changes.length <= rowsPerInsert
    ? savePublication(db, publication)
    : db.transaction().execute((trx) => savePublication(trx, publication))

/**
 * Writes a publication: the rows, the step and the serial. Returns undefined without writing if the zone was deleted,
 * or another process has published it since (its serial differs). Without name servers to observe, the zone is `ok`.
 */
export async function savePublication(trx: Db | Trx, publication: Publication): Promise<Saved | undefined> {
  const { zone, serial, version, changes, resigned, aliased = null, now } = publication
  const removed = changes.flatMap(({ before, after }) => (before && !after ? [before] : []))
  const added = changes.flatMap(({ after }) => (after ? [after] : []))
  const step = encodeStep(publication)
  // The other statements depend on the row of the zone: without it they write no rows.
  const { rows } = await sql<{ position: number | null }>`/* kept */
    with saved as (
      update dns_zones set serial = ${serial}, published_version = ${version}, published = now(), reason = null,
        status = case when exists (select from dns_servers) then 'updating' else 'ok' end,
        attrs = null, dnssec_serial = coalesce(dnssec_serial, ${serial}),
        resign_requested = case when resign_requested < ${justAfter(resigned)} then null else resign_requested end,
        alias_requested = case when alias_requested < ${justAfter(aliased)} then null else alias_requested end
      where id = ${zone.id} and serial is not distinct from ${zone.serial ?? null}::bigint and published_version <= ${version}
        and deleted is null
      returning id),
    ${removed.length > 0 ? sql`${deletingServed(removed)},` : sql``}
    ${insertingServed(added.slice(0, rowsPerInsert), now)},
    ${insertingStep(publication, step)}
    select ${waking('dns-published')}, (select position::float8 from step) as position from saved`.execute(
    trx,
  )
  const [row] = rows
  if (!row) return undefined
  for (let at = rowsPerInsert; at < added.length; at += rowsPerInsert)
    await sql`
      with saved as (select ${zone.id}::integer as id),
      ${insertingServed(added.slice(at, at + rowsPerInsert), now)}
      select count(*) from added`.execute(trx)
  if (!step || row.position === null) return { step: undefined }
  return {
    step: {
      zoneId: zone.id,
      position: row.position,
      from: zone.serial!,
      to: serial,
      removed: decodeSignedRrsets(step.removed),
      added: decodeSignedRrsets(step.added),
    },
  }
}

/** A later request than the fulfilled one stays. A Date has milliseconds, the column microseconds. */
const justAfter = (fulfilled: Date | null) => sql`${fulfilled}::timestamptz + interval '1 millisecond'`

/** Marks versions that together change no set as published. */
export async function skipVersions(
  db: Db,
  zoneId: number,
  version: number,
  { resignRequested, aliasRequested }: Pick<PublishedZone, 'resignRequested' | 'aliasRequested'>,
): Promise<void> {
  await sql`
    update dns_zones set published_version = greatest(published_version, ${version}),
      dnssec_serial = coalesce(dnssec_serial, serial),
      resign_requested = case when resign_requested < ${justAfter(resignRequested)} then null else resign_requested end,
      alias_requested = case when alias_requested < ${justAfter(aliasRequested)} then null else alias_requested end
    where id = ${zoneId}`.execute(db)
}

function deletingServed(sets: readonly SignedRrset[]) {
  const keys = keysOf()
  return sql`
    removed as (
      delete from dns_served s using saved, unnest(${sets.map(({ name }) => keys(name))}::bytea[],
        ${sets.map(({ type }) => type)}::integer[]) r (name_key, type)
      where s.zone_id = saved.id and s.name_key = r.name_key and s.type = r.type)`
}

function insertingServed(sets: readonly SignedRrset[], now: number) {
  const keys = keysOf()
  return sql`
    added as (
      insert into dns_served (zone_id, name_key, type, ttl, rdata, rrsig, expires)
      select saved.id, a.name_key, a.type, a.ttl, a.rdata::bytea[], a.rrsig::bytea[], to_timestamp(a.expires)
      from saved, unnest(${sets.map(({ name }) => keys(name))}::bytea[], ${sets.map(({ type }) => type)}::integer[],
        ${sets.map(({ ttl }) => ttl)}::integer[], ${sets.map(({ rdata }) => arrayText(rdata))}::text[],
        ${sets.map(({ rrsig }) => arrayText(rrsig))}::text[],
        ${sets.map((set) => expirationOf(set, now) ?? null)}::float8[]) a (name_key, type, ttl, rdata, rrsig, expires)
      on conflict (zone_id, name_key, type) do update
        set ttl = excluded.ttl, rdata = excluded.rdata, rrsig = excluded.rrsig, expires = excluded.expires
      returning 1)`
}

const rowsPerInsert = 5_000

/** Sets of one name follow each other: its key is made once. */
function keysOf(): (name: SignedRrset['name']) => Buffer {
  let last: SignedRrset['name'] | undefined
  let key = Buffer.alloc(0)
  return (name) => {
    if (name !== last) key = Buffer.from(nameKey((last = name)))
    return key
  }
}

/** PostgreSQL's text of a bytea[]: a parameter cannot be an array of arrays of different lengths. */
function arrayText(list: readonly Uint8Array[]): string {
  return `{${list.map((octets) => `"\\\\x${Buffer.from(octets).toString('hex')}"`).join(',')}}`
}

const stepsMax = 100
/** Old steps are deleted every 16 publications, and with large steps: searching them takes a third of the statement. */
const trimmedEvery = 16
const largeStepOctets = 64 * 1024
/** Octets of the stored steps of a zone. */
const stepOctetsMax = 32 * 1024 * 1024

type EncodedStep = { readonly removed: Uint8Array; readonly added: Uint8Array }

/** The SOA comes first. */
function encodeStep({ zone, changes, hasStep }: Publication): EncodedStep | undefined {
  if (!hasStep || zone.serial === undefined) return undefined
  const isSoa = ({ before, after }: ServedChange): boolean => (after ?? before)!.type === recordType.SOA
  const ordered = [...changes.filter(isSoa), ...changes.filter((change) => !isSoa(change))]
  return {
    removed: encodeSignedRrsets(ordered.flatMap(({ before }) => (before ? [before] : []))),
    added: encodeSignedRrsets(ordered.flatMap(({ after }) => (after ? [after] : []))),
  }
}

/** Inserts the step of the publication and deletes old steps; all of them if there is no step. */
function insertingStep({ zone, serial, version }: Publication, step: EncodedStep | undefined) {
  if (!step)
    return sql`
      trimmed as (delete from dns_transfers t using saved where t.zone_id = saved.id),
      step as (select null::bigint as position)`
  const { removed, added } = step
  const octets = removed.length + added.length
  // The new row has the first place and is never deleted here.
  const trimming = sql`
    trimmed as (
      delete from dns_transfers t using saved, (
        select position, 1 + row_number() over w as place,
          ${octets}::bigint + sum(octet_length(removed) + octet_length(added)) over w as octets
        from dns_transfers where zone_id = ${zone.id} window w as (order by position desc)) old
      where t.zone_id = saved.id and t.position = old.position
        and (old.place > ${stepsMax} or old.octets > ${stepOctetsMax})),`
  return sql`
    ${serial % trimmedEvery === 0 || octets > largeStepOctets ? trimming : sql``}
    step as (
      insert into dns_transfers (zone_id, serial_from, serial_to, version, removed, added)
      select saved.id, ${zone.serial}, ${serial}, ${version}, ${removed}, ${added} from saved
      on conflict (zone_id, serial_from) do nothing returning position)`
}

/** Why a zone is not published: tags of state messages. */
export type ZoneProblem = Extract<StateMessageTag, 'zone_held' | 'zone_not_signed' | 'zone_not_published'>

/** Stores why a zone is not published. */
export async function savePublishProblem(
  db: Db,
  zoneId: number,
  reason: ZoneProblem,
  attrs: Readonly<Record<string, unknown>>,
): Promise<void> {
  await sql`
    update dns_zones set status = 'error', reason = ${reason}, attrs = ${JSON.stringify(attrs)}::jsonb
    where id = ${zoneId} and (status, reason) is distinct from ('error', ${reason})`.execute(db)
}

/** Whether a signature of the zone expires before a time. */
export async function hasExpiring(db: Db, zoneId: number, before: Date): Promise<boolean> {
  const { rows } = await sql`
    select from dns_served where zone_id = ${zoneId} and expires < ${before} limit 1`.execute(db)
  return rows.length > 0
}

/** Requests to sign again the zones whose signatures expire before a time; returns their number. */
export async function requestResigning(db: Db, before: Date): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const { numAffectedRows = 0n } = await sql`
      update dns_zones set resign_requested = date_trunc('milliseconds', now())
      where id in (select zone_id from dns_served where expires < ${before}) and resign_requested is null
        and deleted is null and kind = 'primary' and exists (
          select from dns_keys k where k.zone_id = dns_zones.id and k.state <> 'removed')`.execute(trx)
    if (numAffectedRows > 0n) await wake(trx, 'dns')
    return Number(numAffectedRows)
  })
}
