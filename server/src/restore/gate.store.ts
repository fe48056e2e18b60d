// The SQL of the gate: the values that a process compares with its witness, and the restore that it opens. As the owner
// of the tables.
import type { RestoreReason } from '@pharos/contract/operator/restore'
import { sql } from 'kysely'
import { writeAudit } from '../db/audit.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { wake, type WakeName } from '../db/wake.ts'
import type { Head } from '../audit/seal.store.ts'
import type { DatabaseNow } from './detect.ts'
import type { DatabaseIdentity } from './witness.ts'

type SeenRow = Omit<DatabaseNow, 'head'> & { readonly sequence: number | null; readonly hash: Buffer | null }

const iso = (time: ReturnType<typeof sql>) =>
  sql`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`

/** Reads five index entries: it runs before every run that sends. */
export async function readSeen(db: Db | Trx, known: Head | undefined): Promise<DatabaseNow> {
  const { rows } = await sql<SeenRow>`/* kept */
    select (select uuid::text from installation limit 1) as installation,
      (select id from restores where closed is null) as "openId",
      coalesce((select ${iso(sql`max(closed)`)} from restores), '') as closed,
      h.sequence, h.hash, ${iso(sql`h.entry_at`)} as "headAt",
      ${
        known
          ? sql<boolean>`exists (select from audit_seals where sequence = ${known.sequence}::bigint and hash = ${known.hash}::bytea)`
          : sql<null>`null::boolean`
      } as contained,
      (select sequence from audit_seals order by sequence limit 1) as first, ${iso(sql`now()`)} as at
    from (select) as one
    left join (select sequence, hash, entry_at from audit_seals order by sequence desc limit 1) h on true`.execute(
    db,
  )
  const { sequence, hash, ...seen } = rows[0]!
  return { ...seen, head: sequence === null ? null : { sequence, hash: hash! } }
}

/** Returns where the rows are now, and where they were when that was last confirmed. */
export async function readDatabaseIdentity(
  db: Db,
): Promise<{ readonly stored: DatabaseIdentity | null; readonly found: DatabaseIdentity }> {
  const { rows } = await sql<{ stored: DatabaseIdentity | null; found: DatabaseIdentity }>`
    select (select case when system_identifier is null then null else json_build_object(
        'systemIdentifier', system_identifier::text, 'oid', database_oid, 'timeline', timeline) end
      from installation limit 1) as stored,
      json_build_object('systemIdentifier', (select system_identifier::text from pg_control_system()),
        'oid', (select oid::bigint from pg_database where datname = current_database()),
        'timeline', (select timeline_id from pg_control_checkpoint())) as found`.execute(db)
  return rows[0]!
}

export async function saveDatabaseIdentity(
  db: Db | Trx,
  { systemIdentifier, oid, timeline }: DatabaseIdentity,
): Promise<void> {
  await sql`
    update installation set uuid = coalesce(uuid, gen_random_uuid()), system_identifier = ${systemIdentifier},
      database_oid = ${oid}, timeline = ${timeline}`.execute(db)
}

export type NewRestore = {
  readonly reason: RestoreReason
  readonly evidence: Readonly<Record<string, unknown>>
  /** Actor as in the audit log. */
  readonly actor: string
}

/** Loops whose work changes when a restore is opened or closed. */
const concerned: readonly WakeName[] = [
  'approvals',
  'shield',
  'blackholes',
  'dns',
  'dns-published',
  'mails',
  'webhooks',
  'outbox',
  'approval-alerts',
]

export async function wakeConcerned(trx: Trx): Promise<void> {
  for (const name of concerned) await wake(trx, name)
}

/**
 * Opens a restore and ends all sessions: their refresh tokens have numbers that this database never issued, which would
 * count as theft. Returns undefined if a restore is already open. `inform` queues the mail about it.
 */
export function openRestore(
  db: Db,
  { reason, evidence, actor }: NewRestore,
  inform: (trx: Trx, id: number) => Promise<void>,
): Promise<number | undefined> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ id: number }>`
      insert into restores (reason, evidence) values (${reason}, ${JSON.stringify(evidence)})
      on conflict do nothing returning id`.execute(trx)
    const id = rows[0]?.id
    if (id === undefined) return undefined
    const { numAffectedRows = 0n } = await sql`
      update sessions set revoked = now(), revoked_reason = 'restore' where revoked is null`.execute(trx)
    await sql`update restores set sessions_ended = ${Number(numAffectedRows)} where id = ${id}`.execute(trx)
    await insertQueues(trx, id)
    const after = { reason, ...evidence, sessions_ended: Number(numAffectedRows) }
    await writeAudit(trx, { teamId: null, actor, action: 'restore.open', target: `restore:${id}`, after })
    await inform(trx, id)
    await wakeConcerned(trx)
    return id
  })
}

/** Mails and deliveries that the backup had queued were probably sent before: they are discarded unless staff decide otherwise. */
async function insertQueues(trx: Trx, id: number): Promise<void> {
  await sql`
    insert into restore_items (restore_id, area, source, subject, kind, database, adoptable, decision)
    select ${id}, q.area, '', 'queued', 'queued', jsonb_build_object('count', q.count), false, 'discard'
    from (
      select 'mails' as area, count(*) from mails where sent is null and failed is null
      union all
      select 'deliveries', count(*) from webhook_deliveries where state = 'pending') q
    where q.count > 0`.execute(trx)
}

/** Closes a restore that was opened by mistake, while it has no decisions. */
export async function withdrawRestore(db: Db, id: number): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const { numAffectedRows = 0n } = await sql`
      update restores set closed = now(), closed_by = 'pharos'
      where id = ${id} and closed is null and reason = 'other_database'
        and not exists (select from restore_items where restore_id = ${id} and decided is not null)`.execute(
      trx,
    )
    if (numAffectedRows === 0n) return false
    await writeAudit(trx, {
      teamId: null,
      actor: 'pharos',
      action: 'restore.withdraw',
      target: `restore:${id}`,
    })
    await wakeConcerned(trx)
    return true
  })
}
