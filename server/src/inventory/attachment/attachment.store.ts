// The SQL of attachments. A team gets its own attachments, and public attachments of its visible subjects.
import type {
  AttachmentKind,
  AttachmentMediaType,
  listDeviceAttachmentsRoute,
} from '@pharos/contract/inventory/attachment'
import type { QueryOf } from '@pharos/contract/route'
import { sql } from 'kysely'
import { columns, type RowOf } from '../../db/columns.ts'
import { andAll, listAll, listInTeam, orderBy, type List, type Page } from '../../db/page.ts'
import type { Db, Postgres, Trx } from '../../db/postgres.ts'
import { seenDevices } from '../assignment/assignment.store.ts'

export const attachmentColumns = columns(
  'attachments',
  'm',
  ['id', 'filename', 'media_type', 'size', 'description', 'created', 'customer_id'],
  {
    kind: sql<AttachmentKind>`m.kind`,
    purpose: sql<'' | 'loa'>`m.purpose`,
    sha256: sql<string>`encode(m.sha256, 'hex')`,
  },
)
export type AttachmentRow = RowOf<typeof attachmentColumns>

type Query = QueryOf<typeof listDeviceAttachmentsRoute>

const ofDevice = (
  deviceId: number,
  { kind, ordering, ...slice }: Query,
  visible: ReturnType<typeof sql>,
  parent: ReturnType<typeof sql>,
): List<AttachmentRow> => ({
  parent: { name: 'device', statement: parent },
  matching: sql`
    select a.* from attachments a where a.subject_kind = 'device' and a.subject_id = ${String(deviceId)} and ${visible} ${andAll(
      kind && sql`a.kind = any(${kind}::text[])`,
    )}`,
  columns: attachmentColumns,
  order: orderBy(
    ordering,
    { id: sql`m.id`, filename: sql`m.filename`, size: sql`m.size`, created: sql`m.created` },
    sql`m.id`,
  ),
  slice,
})

export const listDeviceAttachmentRows = (
  postgres: Postgres,
  teamId: number,
  deviceId: number,
  query: Query,
): Promise<Page<AttachmentRow>> =>
  listInTeam(
    postgres,
    teamId,
    ofDevice(
      deviceId,
      query,
      sql`(a.customer_id = ${teamId} or a.customer_id is null)`,
      sql`select from ${seenDevices(teamId)} d where d.id = ${deviceId}::bigint`,
    ),
  )

export const listAllDeviceAttachmentRows = (
  db: Db,
  deviceId: number,
  query: Query,
): Promise<Page<AttachmentRow>> =>
  listAll(
    db,
    ofDevice(deviceId, query, sql`true`, sql`select from devices d where d.id = ${deviceId}::bigint`),
  )

export type NewAttachment = {
  readonly customerId: number | null
  readonly subject: { readonly kind: 'device' | 'cross_connect'; readonly id: number }
  readonly purpose: '' | 'loa'
  readonly filename: string
  readonly mediaType: AttachmentMediaType
  readonly kind: AttachmentKind
  readonly sha256: Buffer
  readonly description: string
  readonly content: Buffer
  readonly createdBy: string
}

export async function insertAttachment(
  trx: Trx,
  {
    customerId,
    subject,
    purpose,
    filename,
    mediaType,
    kind,
    sha256,
    description,
    content,
    createdBy,
  }: NewAttachment,
): Promise<AttachmentRow> {
  const { rows } = await sql<AttachmentRow>`
    insert into attachments as m (customer_id, subject_kind, subject_id, purpose, filename, media_type, kind, sha256, description,
      content, size, created_by)
    values (${customerId}, ${subject.kind}, ${String(subject.id)}, ${purpose}, ${filename}, ${mediaType}, ${kind}, ${sha256},
      ${description}, ${content}, ${content.length}, ${createdBy})
    returning ${attachmentColumns}`.execute(trx)
  return rows[0]!
}

/** Returns whether the device exists, and the team if given. */
export async function findDeviceAndTeam(
  trx: Trx,
  deviceId: number,
  teamId: number | null,
): Promise<{ readonly hasDevice: boolean; readonly hasTeam: boolean }> {
  const { rows } = await sql<{ hasDevice: boolean; hasTeam: boolean }>`
    select exists (select from devices d where d.id = ${deviceId}::bigint) as "hasDevice",
      ${teamId}::bigint is null or exists (select from teams t where t.id = ${teamId}::bigint) as "hasTeam"`.execute(
    trx,
  )
  return rows[0]!
}

export type AttachmentFile = {
  readonly filename: string
  readonly mediaType: AttachmentMediaType
  readonly bytes: Buffer
}

export type StoredFile = AttachmentFile & {
  readonly subjectKind: string
  readonly subjectId: string
  readonly customerId: number | null
}

/** For a link that has been checked. Undefined if the content was deleted. */
export async function findAttachmentFile(db: Db, id: number): Promise<StoredFile | undefined> {
  const { rows } = await sql<StoredFile>`
    select filename, media_type as "mediaType", content as bytes, subject_kind as "subjectKind", subject_id as "subjectId",
      customer_id as "customerId"
    from attachments where id = ${id}::bigint and content is not null`.execute(db)
  return rows[0]
}

/** Attachment of any team, for staff. */
export async function findAttachment(db: Db, id: number): Promise<AttachmentRow | undefined> {
  const { rows } = await sql<AttachmentRow>`
    select ${attachmentColumns} from attachments m where m.id = ${id}::bigint`.execute(db)
  return rows[0]
}

export async function deleteAttachmentRow(trx: Trx, id: number): Promise<AttachmentRow | undefined> {
  const { rows } = await sql<AttachmentRow>`
    delete from attachments m where m.id = ${id}::bigint returning ${attachmentColumns}`.execute(trx)
  return rows[0]
}
