// The SQL of the chain: unsealed entries, seals, and both joined. Seals are only inserted, never changed.
import { sql, type RawBuilder } from 'kysely'
import type { Db, Trx } from '../db/postgres.ts'
import type { EntryText } from './canonical.ts'

/** The columns of entry `e` in the form that canonical.ts requires. */
const entryText = sql`e.id::text as id,
  case when isfinite(e.at) then (extract(epoch from e.at) * 1000000)::bigint::text else e.at::text end as at,
  e.team_id::text as team_id, e.actor, e.credential, e.by_staff::text as by_staff, e.action, e.target,
  e.before::text as before, e.after::text as after, e.request_id,
  host(e.address) || '/' || masklen(e.address) as address`

/**
 * A lateral lookup by key: without statistics of the list, the planner would scan the whole audit log for each batch.
 */
const withEntry = (of: RawBuilder<unknown>) => sql`left join lateral (
  select * from audit_entries where id = ${of}.entry_id and at = ${of}.entry_at limit 1) e on true`

/** If no entry was joined, its id is null as well. */
type JoinedEntry = EntryText | { readonly [Column in keyof EntryText]: null }

export const isEntry = (joined: JoinedEntry): joined is EntryText & { readonly id: string } =>
  joined.id !== null

export type Head = { readonly sequence: number; readonly hash: Buffer }

/** Returns the newest seal; undefined without seals. */
export async function findHead(db: Db | Trx): Promise<Head | undefined> {
  const { rows } =
    await sql<Head>`select sequence, hash from audit_seals order by sequence desc limit 1`.execute(db)
  return rows[0]
}

export type WaitingEntry = JoinedEntry & { readonly entryId: number; readonly entryAt: string }

/** Lists entries without a seal, by id. For an entry deleted in the meantime, the row has no entry. */
export async function listWaiting(trx: Trx, limit: number): Promise<WaitingEntry[]> {
  const { rows } = await sql<WaitingEntry>`
    select u.entry_id as "entryId", ${isoText(sql`u.entry_at`)} as "entryAt", ${entryText}
    from (select * from audit_unsealed order by entry_id limit ${limit}) u ${withEntry(sql`u`)}
    order by u.entry_id`.execute(trx)
  return rows
}

const isoText = (time: RawBuilder<unknown>) =>
  sql`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`

export type NewSeal = {
  readonly sequence: number
  readonly entryId: number
  readonly teamId: number | null
  readonly hash: Buffer
}

/** Inserts seals and removes their entries from the unsealed list; returns how many were still on the list. */
export async function insertSeals(trx: Trx, keyId: string, seals: readonly NewSeal[]): Promise<number> {
  const { numAffectedRows } = await sql`
    with struck as (
      delete from audit_unsealed where entry_id = any(${seals.map(({ entryId }) => entryId)}::bigint[])
      returning entry_id, entry_at)
    insert into audit_seals (sequence, entry_id, entry_at, team_id, key_id, hash)
    select s.sequence, s.entry_id, struck.entry_at, s.team_id, ${keyId}, s.hash
    from unnest(${seals.map(({ sequence }) => sequence)}::bigint[], ${seals.map(({ entryId }) => entryId)}::bigint[],
      ${seals.map(({ teamId }) => teamId)}::integer[], ${seals.map(({ hash }) => hash)}::bytea[])
      as s (sequence, entry_id, team_id, hash)
    join struck using (entry_id)`.execute(trx)
  return Number(numAffectedRows)
}

export async function removeFromUnsealed(trx: Trx, ids: readonly number[]): Promise<void> {
  await sql`delete from audit_unsealed where entry_id = any(${ids}::bigint[])`.execute(trx)
}

export type SealRow = JoinedEntry & {
  readonly sequence: number
  readonly entryId: number
  readonly entryAt: string
  readonly sealTeam: string | null
  readonly keyId: string
  readonly hash: Buffer
}

/** Lists the seals after a sequence in order, each with its entry. */
export async function listSeals(db: Db, after: number, limit: number): Promise<SealRow[]> {
  const { rows } = await sql<SealRow>`
    select s.sequence, s.entry_id as "entryId", ${isoText(sql`s.entry_at`)} as "entryAt",
      s.team_id::text as "sealTeam", s.key_id as "keyId", s.hash, ${entryText}
    from (select * from audit_seals where sequence > ${after}::bigint order by sequence limit ${limit}) s
    ${withEntry(sql`s`)} order by s.sequence`.execute(db)
  return rows
}

/** Returns whether an entry with the id exists, whatever its time. */
export async function hasEntry(db: Db, id: number): Promise<boolean> {
  const { rows } = await sql`select from audit_entries where id = ${id}::bigint`.execute(db)
  return rows.length > 0
}

export async function findSeal(db: Db, sequence: number): Promise<Head | undefined> {
  const { rows } = await sql<Head>`
    select sequence, hash from audit_seals where sequence = ${sequence}::bigint`.execute(db)
  return rows[0]
}

export async function findFirstSequence(db: Db): Promise<number | undefined> {
  const { rows } = await sql<{ sequence: number | null }>`
    select min(sequence) as sequence from audit_seals`.execute(db)
  return rows[0]?.sequence ?? undefined
}

export async function findEntryIds(db: Db): Promise<{ first: number; last: number } | undefined> {
  const { rows } = await sql<{ first: number | null; last: number | null }>`
    select min(id) as first, max(id) as last from audit_entries`.execute(db)
  const { first, last } = rows[0]!
  return first === null || last === null ? undefined : { first, last }
}

export type Unsealed = { readonly id: number; readonly at: string; readonly isWaiting: boolean }

/** Lists entries without a seal that are older than a minute, with ids above `after` up to `last`. */
export async function listUnsealed(db: Db, after: number, last: number): Promise<Unsealed[]> {
  const { rows } = await sql<Unsealed>`
    select e.id, ${isoText(sql`e.at`)} as at, u.entry_id is not null as "isWaiting"
    from audit_entries e
    left join audit_seals s on s.entry_id = e.id
    left join audit_unsealed u on u.entry_id = e.id
    where e.id > ${after}::bigint and e.id <= ${last}::bigint and s.entry_id is null
      and e.at < now() - interval '1 minute'
    order by e.id`.execute(db)
  return rows
}

export type SealExpiry = {
  readonly at: string
  /** Sequence of the oldest kept seal. */
  readonly firstSequence: number
  /** Sequences of kept seals whose entry was dropped: an entry of a later month was sealed before them. */
  readonly withoutEntry: readonly number[]
}

/** Returns the last retention run according to its entry. Anyone who can insert entries can forge it. */
export async function findExpiry(db: Db): Promise<SealExpiry | undefined> {
  const { rows } = await sql<{ at: string; after: unknown }>`
    select ${isoText(sql`at`)} as at, after from audit_entries
    where team_id is null and action = 'audit.expire' and actor = 'pharos' order by id desc limit 1`.execute(
    db,
  )
  const [row] = rows
  if (!row) return undefined
  const { first_sequence: first, without_entry: without } = Object(row.after) as Record<string, unknown>
  return { at: row.at, firstSequence: Number(first), withoutEntry: [without].flat().map(Number) }
}
