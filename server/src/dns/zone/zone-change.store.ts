// The SQL of a zone's content: read record sets, write a difference with its journal row, version and counters. The
// caller has locked the zone. Every statement contains the id of the zone, which was found by its team.
import { sql } from 'kysely'
import type { RecordSetSource } from '@pharos/contract/dns/recordset'
import { columns, type RowOf } from '../../db/columns.ts'
import type { Trx } from '../../db/postgres.ts'
import { executeLater } from '../../db/team-transactions.ts'
import { nameKey, type DomainName } from '../../net/dns/name.ts'
import type { Rrset } from '../../net/dns/record.ts'
import { encodeRrsets } from '../sign/rrset-list.ts'
import { journalOf, setId, type StoredSet, type ZoneDifference } from './zone-change.ts'
import type { Zone } from './zone.ts'

export const setColumns = columns(
  'dns_recordsets',
  'r',
  ['type', 'ttl', 'content', 'comment', 'created', 'touched'],
  {
    name: sql<DomainName>`r.name`,
    rdata: sql<Buffer[]>`r.rdata`,
    source: sql<RecordSetSource>`r.source`,
  },
)
export type SetRow = RowOf<typeof setColumns>

export const keyOf = (name: DomainName): Buffer => Buffer.from(nameKey(name))

/** Returns all stored sets of these names. */
export async function readNames(trx: Trx, zoneId: number, names: Iterable<DomainName>): Promise<StoredSet[]> {
  const { rows } = await sql<SetRow>`
    select ${setColumns} from dns_recordsets r
    where r.zone_id = ${zoneId} and r.name_key = any(${Array.from(names, keyOf)}::bytea[])`.execute(trx)
  return rows
}

/** Returns the number of record sets of a type, of which a zone has few. */
export async function countType(trx: Trx, zone: Pick<Zone, 'id'>, type: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from dns_recordsets r where r.zone_id = ${zone.id} and r.type = ${type}`.execute(
    trx,
  )
  return rows[0]!.count
}

/** Returns all sets of the zone in canonical order. */
export async function readAllSets(trx: Trx, zoneId: number): Promise<StoredSet[]> {
  const { rows } = await sql<SetRow>`
    select ${setColumns} from dns_recordsets r where r.zone_id = ${zoneId} order by r.name_key, r.type`.execute(
    trx,
  )
  return rows
}

/** Returns all stored sets of the names, and the NS and DNAME sets of the names above, which decide whether others are answered. */
export async function readWithAbove(
  trx: Trx,
  zoneId: number,
  names: ReadonlySet<DomainName>,
  above: ReadonlySet<DomainName>,
): Promise<StoredSet[]> {
  const keys = Array.from(names, keyOf)
  const { rows } = await sql<SetRow>`
    select ${setColumns} from dns_recordsets r
    where r.zone_id = ${zoneId} and r.name_key = any(${[...keys, ...Array.from(above, keyOf)]}::bytea[])
      and (r.type in (2, 39) or r.name_key = any(${keys}::bytea[]))`.execute(trx)
  return rows
}

/** Returns for each of the names the first sets below it, if any. */
export async function readBelow(trx: Trx, zoneId: number, cuts: readonly DomainName[]): Promise<StoredSet[]> {
  if (cuts.length === 0) return []
  const { rows } = await sql<SetRow>`
    select b.* from unnest(${cuts.map(keyOf)}::bytea[], ${cuts.map(keyAfterDescendants)}::bytea[]) as w (first, last),
      lateral (
        select ${setColumns} from dns_recordsets r
        where r.zone_id = ${zoneId} and r.name_key > w.first and r.name_key < w.last limit ${belowMax}) b`.execute(
    trx,
  )
  return rows
}

/** Returns the sets of one type. */
export async function readSetsOfType(trx: Trx, zoneId: number, type: number): Promise<StoredSet[]> {
  const { rows } = await sql<SetRow>`
    select ${setColumns} from dns_recordsets r where r.zone_id = ${zoneId} and r.type = ${type}`.execute(trx)
  return rows
}

/** Sets below a new cut that an error lists. */
const belowMax = 100

/** Returns the first key after all names below: a label of a key ends with 00, and no label continues with 01. */
export function keyAfterDescendants(name: DomainName): Buffer {
  const key = keyOf(name)
  key[key.length - 1] = 1
  return key
}

export type ZoneChangeAuthor = { readonly actor: string; readonly what: string }

/**
 * Writes the difference as the next version of the zone and returns the version. Deletes run first; deleted and
 * inserted rows are disjoint.
 */
export async function writeDifference(
  trx: Trx,
  zone: Zone,
  difference: ZoneDifference,
  { actor, what }: ZoneChangeAuthor,
): Promise<Zone> {
  const { added, changed, removed } = difference
  await deleteSets(trx, zone, removed)
  await upsertSets(trx, zone, [...added, ...changed.map(({ after }) => after)])
  await saveComments(trx, zone, difference)
  const journal = journalOf(difference)
  const version = zone.version + 1
  await executeLater(
    trx,
    trx.insertInto('dns_versions').values({
      zone_id: zone.id,
      version,
      team_id: zone.teamId,
      actor,
      what,
      removed: encodeRrsets(journal.removed),
      added: encodeRrsets(journal.added),
      removed_count: removed.length,
      changed_count: changed.length,
      added_count: added.length,
    }),
  )
  const recordsetCount = zone.recordsetCount + added.length - removed.length
  const recordCount = zone.recordCount + countRecords(journal.added) - countRecords(journal.removed)
  await executeLater(
    trx,
    sql`
      update dns_zones set version = ${version}, recordset_count = ${recordsetCount}, record_count = ${recordCount},
        touched = now(), status = case when claimed is null then status else 'updating' end
      where id = ${zone.id} and team_id is not distinct from ${zone.teamId}`,
  )
  await countBlocks(trx, zone, recordsetCount, difference)
  const status = zone.claimed === null ? zone.status : 'updating'
  return { ...zone, version, recordsetCount, recordCount, status, touched: zone.now }
}

const countRecords = (sets: readonly Rrset[]): number =>
  sets.reduce((sum, { rdata }) => sum + rdata.length, 0)

async function deleteSets(trx: Trx, zone: Zone, sets: readonly StoredSet[]): Promise<void> {
  if (sets.length === 0) return
  await executeLater(
    trx,
    sql`
    delete from dns_recordsets r
    using unnest(${sets.map(({ name }) => keyOf(name))}::bytea[], ${sets.map(({ type }) => type)}::integer[])
      as w (name_key, type)
    where r.zone_id = ${zone.id} and r.name_key = w.name_key and r.type = w.type`,
  )
}

/** Rows of one statement: a parameter has at most 1 GB, and a plan with a few thousand rows is as fast per row. */
const rowsAtOnce = 10_000

async function upsertSets(trx: Trx, zone: Zone, sets: readonly StoredSet[]): Promise<void> {
  for (let at = 0; at < sets.length; at += rowsAtOnce) {
    const part = sets.slice(at, at + rowsAtOnce)
    await executeLater(
      trx,
      sql`
      insert into dns_recordsets (zone_id, team_id, name_key, type, name, ttl, rdata, content, source, comment, created, touched)
      select ${zone.id}, ${zone.teamId}::integer, w.name_key, w.type, w.name, w.ttl, w.rdata::bytea[], w.content, w.source, w.comment,
        w.created, w.touched
      from unnest(${part.map(({ name }) => keyOf(name))}::bytea[], ${part.map(({ type }) => type)}::integer[],
        ${part.map(({ name }) => name)}::text[], ${part.map(({ ttl }) => ttl)}::integer[],
        ${part.map(({ rdata }) => arrayText(rdata))}::text[], ${part.map(({ content }) => content)}::text[],
        ${part.map(({ source }) => source)}::text[], ${part.map(({ comment }) => comment)}::text[],
        ${part.map(({ created }) => created)}::timestamptz[], ${part.map(({ touched }) => touched)}::timestamptz[])
        as w (name_key, type, name, ttl, rdata, content, source, comment, created, touched)
      on conflict (zone_id, name_key, type) do update
      set ttl = excluded.ttl, rdata = excluded.rdata, content = excluded.content, source = excluded.source,
        comment = excluded.comment, touched = excluded.touched`,
    )
  }
}

/** The text of an array of bytea: arrays of arrays of different lengths do not exist in PostgreSQL. */
const arrayText = (rdata: readonly Uint8Array[]): string =>
  `{${rdata.map((octets) => `"\\\\x${Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString('hex')}"`).join()}}`

/** Comments are not part of a version. */
export async function saveComments(trx: Trx, zone: Zone, { commented }: ZoneDifference): Promise<void> {
  if (commented.length === 0) return
  const sets = commented.map(({ after }) => after)
  await sql`
    update dns_recordsets r set comment = w.comment, touched = now()
    from unnest(${sets.map(({ name }) => keyOf(name))}::bytea[], ${sets.map(({ type }) => type)}::integer[],
      ${sets.map(({ comment }) => comment)}::text[]) as w (name_key, type, comment)
    where r.zone_id = ${zone.id} and r.name_key = w.name_key and r.type = w.type`.execute(trx)
}

/** Number of record sets from which pages are found by blocks instead of by counting rows. */
const blocksFrom = 4_000
const blockSize = 1_000
/** Changes of more sets count the zone anew, which takes about a second for a million. */
const countedSingly = 200

/**
 * Keeps the number of record sets of each block exact. A block that grows by many changes is split when the zone is counted anew; until then
 * a page in it takes longer, and is right.
 */
async function countBlocks(
  trx: Trx,
  before: Zone,
  recordsetCount: number,
  { added, removed }: ZoneDifference,
): Promise<void> {
  const changes = [...added.map((set) => ({ set, by: 1 })), ...removed.map((set) => ({ set, by: -1 }))]
  if (changes.length === 0) return
  if (recordsetCount < blocksFrom) {
    if (before.recordsetCount >= blocksFrom) await deleteBlocks(trx, before)
    return
  }
  if (changes.length <= countedSingly && (await addToBlocks(trx, before.id, changes))) return
  await deleteBlocks(trx, before)
  // PostgreSQL has min(bytea) from version 18 on. Hexadecimal digits have the same order, and need no sort.
  await sql`
    insert into dns_blocks (zone_id, first, count)
    select ${before.id}, case b.block when 0 then ''::bytea else decode(min(encode(b.name_key, 'hex')), 'hex') end, sum(b.sets)
    from (
      select n.name_key, n.sets, (n.before / ${blockSize})::integer as block from (
        select r.name_key, count(*) as sets, sum(count(*)) over (order by r.name_key) - count(*) as before
        from dns_recordsets r where r.zone_id = ${before.id} group by r.name_key) n) b
    group by b.block`.execute(trx)
}

const deleteBlocks = (trx: Trx, { id }: Zone): Promise<void> =>
  executeLater(trx, sql`delete from dns_blocks where zone_id = ${id}`)

/** Returns false if the zone has no blocks, or a block has grown to four times its size. */
async function addToBlocks(
  trx: Trx,
  zoneId: number,
  changes: readonly { readonly set: StoredSet; readonly by: number }[],
): Promise<boolean> {
  const { rows } = await sql<{ count: number }>`
    with changes as (
      select (select b.first from dns_blocks b where b.zone_id = ${zoneId} and b.first <= w.name_key
          order by b.first desc limit 1) as first,
        sum(w.by)::integer as by
      from unnest(${changes.map(({ set }) => keyOf(set.name))}::bytea[], ${changes.map(({ by }) => by)}::integer[])
        as w (name_key, by)
      group by 1)
    update dns_blocks b set count = b.count + c.by from changes c
    where b.zone_id = ${zoneId} and b.first = c.first
    returning b.count`.execute(trx)
  return rows.length > 0 && rows.every(({ count }) => count <= 4 * blockSize)
}

/** Returns the known sets as stored after the difference, by `setId`. */
export function applyTo(stored: readonly StoredSet[], difference: ZoneDifference): Map<string, StoredSet> {
  const sets = new Map(stored.map((set) => [setId(set), set]))
  for (const set of difference.removed) sets.delete(setId(set))
  for (const set of difference.added) sets.set(setId(set), set)
  for (const { after } of [...difference.changed, ...difference.commented]) sets.set(setId(after), after)
  return sets
}
