// Attachments of devices: list and download for teams; add and delete for staff. Files are never run: they are downloaded with a
// type from their content.
import type {
  Attachment as Wire,
  getAttachmentFileRoute,
  listDeviceAttachmentsRoute,
  StaffAttachment,
} from '@pharos/contract/inventory/attachment'
import { createHash } from 'node:crypto'
import type { QueryOf } from '@pharos/contract/route'
import { auditOf, writeAudit } from '../../db/audit.ts'
import type { Db, Postgres } from '../../db/postgres.ts'
import { runOwnerChange, type ChangeAnswer } from '../../db/run-change.ts'
import { etagOf, requireMatch } from '../../operation/etag.ts'
import { actorName, type Operation, type StaffOperation } from '../../operation/operation.ts'
import { invalid, notFound } from '../../runtime/error.ts'
import type { KeyRing } from '../../runtime/secrets.ts'
import {
  deleteAttachmentRow,
  findAttachment,
  findAttachmentFile,
  findDeviceAndTeam,
  insertAttachment,
  listAllDeviceAttachmentRows,
  listDeviceAttachmentRows,
  type AttachmentFile,
  type AttachmentRow,
  type StoredFile,
} from './attachment.store.ts'
import { detectFile } from './detect-file.ts'
import { createFileLink, linkPeriodOf, readFileLink } from './file-link.ts'

export {
  attachmentColumns,
  type AttachmentFile,
  type AttachmentRow,
  type StoredFile,
} from './attachment.store.ts'

export type AttachmentDeps = {
  readonly postgres: Postgres
  readonly db: Db
  readonly ring: KeyRing
  /** URL of the API for browsers. */
  readonly publicUrl: string
  readonly now: () => Date
}

export type AttachmentFileDeps = Pick<AttachmentDeps, 'db' | 'ring' | 'now'> & {
  /** Returns the part of a file of an event for the team of the link; null: a link of staff. */
  readonly findEventFile: (file: StoredFile, teamId: number | null) => Promise<AttachmentFile | undefined>
}

type Query = QueryOf<typeof listDeviceAttachmentsRoute>

/** Throws `not_found` if the team may not see the device. */
export async function listDeviceAttachments(
  deps: AttachmentDeps,
  { actor }: Operation,
  deviceId: number,
  query: Query,
): Promise<{ results: Wire[]; count: number }> {
  const { page, count } = await listDeviceAttachmentRows(deps.postgres, actor.teamId, deviceId, query)
  return { results: page.map((row) => presentAttachment(deps, row)), count }
}

/** Any link that is not valid is `not_found`. */
export async function getAttachmentFile(
  { db, ring, now, findEventFile }: AttachmentFileDeps,
  _guest: unknown,
  id: number,
  { token }: QueryOf<typeof getAttachmentFileRoute>,
): Promise<AttachmentFile> {
  const link = readFileLink(ring, id, token, now())
  const stored = link && (await findAttachmentFile(db, id))
  const file = stored?.subjectKind === 'event' ? await findEventFile(stored, link!.teamId) : stored
  if (!file) throw notFound('attachment')
  const { filename, mediaType, bytes } = file
  return { filename, mediaType, bytes }
}

export async function listAllDeviceAttachments(
  deps: AttachmentDeps,
  _operation: unknown,
  deviceId: number,
  query: Query,
): Promise<{ results: StaffAttachment[]; count: number }> {
  const { page, count } = await listAllDeviceAttachmentRows(deps.db, deviceId, query)
  return { results: page.map((row) => presentForStaff(deps, row)), count }
}

export async function getStaffAttachment(
  deps: AttachmentDeps,
  _operation: unknown,
  id: number,
): Promise<Tagged> {
  const row = await findAttachment(deps.db, id)
  if (!row) throw notFound('attachment')
  return taggedForStaff(deps, row)
}

type Upload = {
  readonly file: { readonly filename: string; readonly bytes: Buffer }
  readonly description?: string
  readonly team_id?: number
}

export function addDeviceAttachment(
  deps: AttachmentDeps,
  operation: StaffOperation,
  deviceId: number,
  { file, description = '', team_id: teamId }: Upload,
): Promise<ChangeAnswer<StaffAttachment>> {
  return runOwnerChange(deps.db, operation, async (trx) => {
    const { hasDevice, hasTeam } = await findDeviceAndTeam(trx, deviceId, teamId ?? null)
    if (!hasDevice) throw notFound('device')
    if (!hasTeam) throw invalid(['body', 'team_id'], 'teamOfAttachment')
    const row = await insertAttachment(trx, {
      customerId: teamId ?? null,
      subject: { kind: 'device', id: deviceId },
      purpose: '',
      description,
      createdBy: actorName(operation.actor),
      ...fileOf(file),
    })
    await writeAudit(trx, {
      ...auditOf(operation),
      teamId: row.customer_id,
      action: 'attachment.add',
      target: `attachment:${row.id}`,
      after: { device_id: deviceId, filename: row.filename, sha256: row.sha256 },
    })
    return taggedForStaff(deps, row)
  })
}

/** The stored values of an uploaded file. */
export function fileOf({ filename, bytes }: { readonly filename: string; readonly bytes: Buffer }) {
  return {
    filename: filename.replaceAll(/[^\p{L}\p{N} ._()-]+/gu, '_').slice(-120) || 'file',
    content: bytes,
    sha256: createHash('sha256').update(bytes).digest(),
    ...detectFile(bytes, filename),
  }
}

export function deleteAttachment(
  { db }: AttachmentDeps,
  operation: StaffOperation,
  id: number,
): Promise<ChangeAnswer<null>> {
  return runOwnerChange(db, operation, async (trx) => {
    const row = await deleteAttachmentRow(trx, id)
    if (!row) throw notFound('attachment')
    requireMatch(operation.ifMatch, etagOf(row))
    await writeAudit(trx, {
      ...auditOf(operation),
      teamId: row.customer_id,
      action: 'attachment.delete',
      target: `attachment:${id}`,
      before: { filename: row.filename, sha256: row.sha256 },
    })
    return { body: null }
  })
}

export type LinkDeps = Pick<AttachmentDeps, 'ring' | 'publicUrl' | 'now'>

export function presentAttachment(
  { ring, publicUrl, now }: LinkDeps,
  row: AttachmentRow,
  teamId: number | null = null,
): Wire {
  const { media_type, created, customer_id: _team, size, ...rest } = row
  return {
    ...rest,
    size: size ?? 0,
    content_type: media_type,
    created: created.toISOString(),
    ...createFileLink(ring, publicUrl, row.id, now(), teamId),
  }
}

type Tagged = { readonly body: StaffAttachment; readonly etag: string }
const taggedForStaff = (deps: LinkDeps, row: AttachmentRow): Tagged => ({
  body: presentForStaff(deps, row),
  etag: etagOf(row, linkPeriodOf(deps.now())),
})

const presentForStaff = (deps: LinkDeps, row: AttachmentRow): StaffAttachment => ({
  ...presentAttachment(deps, row),
  team_id: row.customer_id,
})
