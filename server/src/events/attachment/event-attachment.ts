// Attachments of events: detectors push them, teams list and download their part.
import { createHash } from 'node:crypto'
import type { Attachment } from '@pharos/contract/inventory/attachment'
import {
  eventFilesMax,
  type AcceptedEventFile,
  type listEventAttachmentsRoute,
} from '@pharos/contract/events/event-attachment'
import type { QueryOf } from '@pharos/contract/route'
import {
  presentAttachment,
  type AttachmentFile,
  type LinkDeps,
  type StoredFile,
} from '../../inventory/attachment/attachment.ts'
import type { Postgres } from '../../db/postgres.ts'
import { seesAllTeams } from '../../operation/grant.ts'
import type { Actor, ReadingActor } from '../../operation/operation.ts'
import { fail, invalid, notFound } from '../../runtime/error.ts'
import type { KeyRing } from '../../runtime/secrets.ts'
import { checkSource, type SourceCredential } from '../ingest/delivery.ts'
import { eventIdOf } from '../event/event.ts'
import { listSourceRows, type SourceRow } from '../ingest/source.store.ts'
import { sourceOfKind } from '../sources/index.ts'
import { writtenKey } from '../sources/reading.ts'
import { CaptureError } from './capture.ts'
import {
  countEventFiles,
  findContent,
  findAttachmentView,
  insertEventFile,
  listEventFiles,
  listNetworks,
  lockEventFiles,
  type EventFileRow,
  type AttachmentView,
} from './event-attachment.store.ts'
import { acceptFile, cutCapture, type EventFile } from './event-file.ts'

export type EventAttachmentDeps = LinkDeps & { readonly postgres: Postgres }

type Query = QueryOf<typeof listEventAttachmentsRoute>

/** A file as the team sees it. */
type ShownFile = EventFileRow & { readonly teamId: number | null }

/** Throws `not_found` unless the event concerns the team. */
export async function listEventAttachments(
  deps: EventAttachmentDeps,
  { actor }: { readonly actor: Actor },
  eventId: string,
  query: Query,
): Promise<{ results: Attachment[]; count: number }> {
  const view = await findAttachmentView(deps.postgres, actor.teamId, eventId)
  if (!view) throw notFound('event')
  const files = await listShownFiles(deps.postgres, actor, eventId, view, query.kind)
  const page = files.toSorted(byOrdering(query.ordering)).slice(query.offset, query.offset + query.limit)
  return { results: page.map((file) => present(deps, file)), count: files.length }
}

/** Returns whether the team has a part of any file of an event that is related to it only in part. */
export async function hasPartOfFile(
  postgres: Postgres,
  actor: ReadingActor['actor'],
  eventId: string,
): Promise<boolean> {
  const view = await findAttachmentView(postgres, actor.teamId, eventId)
  return view !== undefined && (await listShownFiles(postgres, actor, eventId, view, undefined)).length > 0
}

/**
 * Staff, and teams that hold every network of the event, see every file. Any other team sees its own, and the part of each capture with its own
 * addresses. An event has few files, so that they are read and cut each time.
 */
async function listShownFiles(
  { front }: Postgres,
  reader: ReadingActor['actor'],
  eventId: string,
  view: AttachmentView,
  kinds: Query['kind'],
): Promise<ShownFile[]> {
  const { teamId } = reader
  const isWhole = seesAllTeams(reader)
  const files = await listEventFiles(front, eventId, isWhole ? null : teamId, kinds)
  if (isWhole) return files.map((file) => ({ ...file, teamId: null }))
  if (view.isWhole) return files.map((file) => ({ ...file, teamId }))
  const networks = await listNetworks(front, eventId)
  const shown: ShownFile[] = []
  for (const file of files) {
    if (file.customer_id !== null) shown.push({ ...file, teamId })
    else if (file.kind === 'pcap' && file.isKept) {
      const bytes = await findContent(front, file.id)
      const part = bytes && cutCapture(bytes, { networks, own: view.own })
      if (part) shown.push({ ...file, teamId, size: part.length, sha256: hashOf(part).toString('hex') })
    }
  }
  return shown
}

type Order = (a: EventFileRow, b: EventFileRow) => number

const orders: Readonly<Record<string, Order>> = {
  id: (a, b) => a.id - b.id,
  filename: (a, b) => (a.filename < b.filename ? -1 : a.filename > b.filename ? 1 : 0),
  size: (a, b) => (a.size ?? 0) - (b.size ?? 0),
  created: (a, b) => a.created.getTime() - b.created.getTime(),
}

function byOrdering(text: string): Order {
  const keys = text.split(',').map((word) => ({
    order: orders[word.replace(/^-/, '')]!,
    sign: word.startsWith('-') ? -1 : 1,
  }))
  return (a, b) => {
    for (const { order, sign } of keys) {
      const result = order(a, b)
      if (result !== 0) return result * sign
    }
    return a.id - b.id
  }
}

function present(deps: LinkDeps, { teamId, isKept, ...row }: ShownFile): Attachment {
  const shown = presentAttachment(deps, row, teamId)
  return isKept ? shown : { ...shown, url: null, url_expires: null }
}

/**
 * Returns the file of a verified link; `teamId` null: a link of staff. The team's part is determined again, because it
 * may have changed since.
 */
export async function findEventFile(
  postgres: Postgres,
  file: StoredFile,
  teamId: number | null,
): Promise<AttachmentFile | undefined> {
  if (teamId === null) return file
  const view = await findAttachmentView(postgres, teamId, file.subjectId)
  if (!view || (file.customerId !== null && file.customerId !== teamId)) return undefined
  if (view.isWhole || file.customerId === teamId) return file
  if (file.mediaType !== 'application/vnd.tcpdump.pcap') return undefined
  const networks = await listNetworks(postgres.front, file.subjectId)
  const bytes = cutCapture(file.bytes, { networks, own: view.own })
  return bytes && { ...file, bytes }
}

export type EventFileRequest = SourceCredential & {
  readonly sourceEventId: string
  readonly filename: string | undefined
  readonly body: Buffer
}

/** Files of one source whose events have not appeared. */
const waitingMax = 1_000

/**
 * Stores a file of a detector for the event with this id of the source, whether or not the event exists. The same file under the same name is
 * stored once. Throws `unsupported_media_type` for other content, and `quota_exceeded`.
 */
export async function receiveEventFile(
  { postgres, keys }: { readonly postgres: Postgres; readonly keys: KeyRing },
  request: EventFileRequest,
): Promise<AcceptedEventFile> {
  await checkSource(postgres, keys, request)
  const [source] = await listSourceRows(postgres.front, [request.sourceKey])
  const id = eventIdOf(source!.key, keyOf(source!, request.sourceEventId))
  const file = accepted(request.body, request.filename ?? 'file')
  const sha256 = hashOf(file.bytes)
  await postgres.front.transaction().execute(async (trx) => {
    await lockEventFiles(trx, id)
    const counts = await countEventFiles(trx, source!.key, id, file, sha256)
    if (counts.isStored) return
    if (counts.ofEvent >= eventFilesMax) throw fail('quota_exceeded', 'eventFiles', { limit: eventFilesMax })
    if (counts.waiting >= waitingMax) throw fail('quota_exceeded', 'waitingFiles', { limit: waitingMax })
    await insertEventFile(trx, {
      ...file,
      eventId: id,
      teamId: null,
      sha256,
      description: '',
      createdBy: `source:${source!.key}`,
    })
  })
  const { filename, kind, bytes } = file
  return { event_id: id, filename, kind, size: bytes.length, sha256: sha256.toString('hex') }
}

const hashOf = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest()

/** The id as deliveries of the source have it. */
const keyOf = ({ kind, settings }: SourceRow, text: string): string =>
  sourceOfKind(kind)?.eventKeyOf?.(text, settings) ?? writtenKey(text)

function accepted(body: Buffer, filename: string): EventFile {
  try {
    const file = acceptFile(body, filename)
    if (file) return file
  } catch (error) {
    if (!(error instanceof CaptureError)) throw error
    throw invalid(['body'], 'capture', { reason: error.message })
  }
  throw fail('unsupported_media_type', 'eventFile')
}
