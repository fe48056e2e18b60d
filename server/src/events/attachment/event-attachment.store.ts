// The SQL of the attachments of events. The caller has determined the team's part of the event.
import type { AttachmentKind } from '@pharos/contract/inventory/attachment'
import { sql } from 'kysely'
import { attachmentColumns } from '../../inventory/attachment/attachment.ts'
import { withExpressions, type RowOf } from '../../db/columns.ts'
import type { Db, Postgres, Trx } from '../../db/postgres.ts'
import type { Prefix } from '../../net/prefix.ts'
import type { EventFile } from './event-file.ts'

/** The team's view of an event; `own` are the networks of its part. */
export type AttachmentView = {
  readonly isWhole: boolean
  readonly own: readonly Prefix[]
}

/** Undefined if the event does not concern the team. */
export async function findAttachmentView(
  postgres: Postgres,
  teamId: number,
  eventId: string,
): Promise<AttachmentView | undefined> {
  const [row] = await postgres.readInTeam(
    teamId,
    sql<AttachmentView>`
      select t.parsed_data is null as "isWhole",
        case when t.parsed_data is null then '[]'::json
          else coalesce(t.parsed_data::json -> 'networks', json_build_array(t.affected_network::text)) end as own
      from team_events t where t.team_id = ${teamId} and t.event_id = ${eventId}`,
  )
  return row && { ...row, own: row.own.filter((prefix) => prefix !== null) }
}

/** All networks of the event. */
export async function listNetworks(db: Db | Trx, eventId: string): Promise<Prefix[]> {
  const { rows } = await sql<{ networks: Prefix[] }>`
    select coalesce(e.parsed_data -> 'networks', to_jsonb(array[e.affected_network::text])) as networks
    from events e where e.id = ${eventId} and e.affected_network is not null`.execute(db)
  return rows[0]?.networks ?? []
}

const filed = withExpressions(attachmentColumns, {
  isKept: sql<boolean>`m.content is not null`,
})
export type EventFileRow = RowOf<typeof filed>

/** The files of the event that are for everybody or for this team, oldest first; `teamId` null: of every team, for staff. */
export async function listEventFiles(
  db: Db | Trx,
  eventId: string,
  teamId: number | null,
  kinds: readonly AttachmentKind[] | undefined,
): Promise<EventFileRow[]> {
  const { rows } = await sql<EventFileRow>`
    select ${filed} from attachments m where m.subject_kind = 'event' and m.subject_id = ${eventId}
      and (${teamId}::integer is null or m.customer_id is null or m.customer_id = ${teamId})
      and (${kinds ?? null}::text[] is null or m.kind = any(${kinds ?? null}::text[]))
    order by m.id`.execute(db)
  return rows
}

export async function findContent(db: Db | Trx, id: number): Promise<Buffer | undefined> {
  const { rows } = await sql<{ content: Buffer | null }>`
    select m.content from attachments m where m.id = ${id} and m.subject_kind = 'event'`.execute(db)
  return rows[0]?.content ?? undefined
}

/** The first half of the advisory locks' keys; the second is a hash of the event. */
const LOCK_CLASS = 7_002

/** Locks the files of the event: no other transaction adds files until the end of this one. */
export async function lockEventFiles(trx: Trx, eventId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${LOCK_CLASS}, hashtext(${eventId}))`.execute(trx)
}

export type FileCounts = {
  readonly isStored: boolean
  readonly ofEvent: number
  /** Recent files of the source whose events have not appeared. */
  readonly waiting: number
}

export async function countEventFiles(
  trx: Trx,
  sourceKey: string,
  eventId: string,
  { filename }: EventFile,
  sha256: Buffer,
): Promise<FileCounts> {
  const { rows } = await sql<FileCounts>`
    select exists (select from attachments a where a.subject_kind = 'event' and a.subject_id = ${eventId}
        and a.customer_id is null and a.sha256 = ${sha256} and a.filename = ${filename}) as "isStored",
      (select count(*)::integer from attachments a where a.subject_kind = 'event' and a.subject_id = ${eventId}
        and a.customer_id is null) as "ofEvent",
      (select count(*)::integer from attachments a where a.subject_kind = 'event' and a.created_by = ${`source:${sourceKey}`}
        and a.created > now() - interval '7 days' and not exists (select from events e where e.id = a.subject_id)) as waiting`.execute(
    trx,
  )
  return rows[0]!
}

export type NewEventFile = EventFile & {
  readonly eventId: string
  /** The team that sees it; null: every team that the event concerns, each its part. */
  readonly teamId: number | null
  readonly sha256: Buffer
  readonly description: string
  /** `source:<key>`, or `pharos`. */
  readonly createdBy: string
}

export async function insertEventFile(
  trx: Trx,
  { eventId, teamId, filename, mediaType, kind, sha256, description, bytes, createdBy }: NewEventFile,
): Promise<void> {
  await sql`
    insert into attachments (customer_id, subject_kind, subject_id, filename, media_type, kind, sha256, description, content, size,
      created_by)
    values (${teamId}, 'event', ${eventId}, ${filename}, ${mediaType}, ${kind}, ${sha256}, ${description}, ${bytes}, ${bytes.length},
      ${createdBy})`.execute(trx)
}
