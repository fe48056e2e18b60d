// Cross connects as a team sees them: their state, who has to act, and the letter that it uploads.
import {
  crossConnectStates,
  letterArrivedText,
  type CrossConnect as Wire,
  type getCrossConnectRoute,
  type listCrossConnectsRoute,
} from '@pharos/contract/inventory/cross-connect'
import type { QueryOf } from '@pharos/contract/route'
import { auditOf, writeAudit } from '../../db/audit.ts'
import { runChange, type ChangeAnswer } from '../../db/run-change.ts'
import { etagOf } from '../../operation/etag.ts'
import { actorName, type Operation } from '../../operation/operation.ts'
import { fail, invalid, notFound } from '../../runtime/error.ts'
import { linkPeriodOf } from '../attachment/file-link.ts'
import { fileOf, presentAttachment, type AttachmentDeps } from '../attachment/attachment.ts'
import { insertAttachment } from '../attachment/attachment.store.ts'
import {
  findCrossConnect,
  listCrossConnectRows,
  listLog,
  lockCrossConnect,
  readCrossConnect,
  type CrossConnectRow,
} from './cross-connect.store.ts'

export async function listCrossConnects(
  deps: AttachmentDeps,
  { actor }: Operation,
  query: QueryOf<typeof listCrossConnectsRoute>,
): Promise<{ results: Wire[]; count: number }> {
  const { page, count } = await listCrossConnectRows(deps.postgres, actor.teamId, query)
  return { results: page.map((row) => presentCrossConnect(deps, row)), count }
}

/** Throws `not_found` for a cross connect of another team. */
export async function getCrossConnect(
  deps: AttachmentDeps,
  { actor }: Operation,
  id: number,
  { include }: QueryOf<typeof getCrossConnectRoute>,
): Promise<{ body: Wire; etag: string }> {
  const row = await findCrossConnect(deps.postgres, actor.teamId, id)
  if (!row) throw notFound('cross connect')
  const etag = (log?: unknown) => etagOf(row, [row.letter && linkPeriodOf(deps.now()), log])
  const body = presentCrossConnect(deps, row)
  if (include === undefined) return { body, etag: etag() }
  const rows = await listLog(deps.postgres, actor.teamId, id)
  const log = rows.map(({ at, ...change }) => ({ at: at.toISOString(), ...change }))
  return { body: { ...body, log }, etag: etag(log) }
}

type Upload = {
  readonly file: { readonly filename: string; readonly bytes: Buffer }
  readonly description?: string
}

/**
 * Stores the letter. Throws `conflict` unless a letter is awaited, and `invalid` unless the file is a PDF, PNG or JPEG.
 */
export function uploadCrossConnectLetter(
  deps: AttachmentDeps,
  operation: Operation,
  id: number,
  { file, description = '' }: Upload,
): Promise<ChangeAnswer<Wire>> {
  const { teamId } = operation.actor
  return runChange(deps.postgres, operation, async (trx) => {
    await lockCrossConnect(trx, id)
    const before = await readCrossConnect(trx, id)
    if (!before) throw notFound('cross connect')
    if (before.status !== 'awaiting_loa') throw fail('conflict', 'noLetterAwaited', { status: before.status })
    const stored = fileOf(file)
    if (stored.kind !== 'pdf' && stored.kind !== 'image') throw invalid(['body', 'file'], 'letterFile')
    const {
      id: attachmentId,
      filename,
      sha256,
    } = await insertAttachment(trx, {
      customerId: teamId,
      subject: { kind: 'cross_connect', id },
      purpose: 'loa',
      description,
      createdBy: actorName(operation.actor),
      ...stored,
    })
    await writeAudit(trx, {
      ...auditOf(operation),
      action: 'cross_connect.letter',
      target: `cross_connect:${id}`,
      after: { attachment_id: attachmentId, filename, sha256 },
    })
    return { body: presentCrossConnect(deps, (await readCrossConnect(trx, id))!) }
  })
}

export function presentCrossConnect(deps: AttachmentDeps, row: CrossConnectRow): Wire {
  const { waitsFor, progress, text } = crossConnectStates[row.status]
  const hasArrived = waitsFor === 'customer' && row.waits_for === 'provider'
  return {
    id: row.id,
    name: row.name,
    circuit_id: row.circuit_id,
    status: row.status,
    waits_for: row.waits_for,
    next_step: hasArrived ? letterArrivedText : text,
    progress,
    service_id: row.service_id,
    location: row.location,
    a_side: { port_id: row.port_id, panel: row.panel, module: row.module, position: row.position },
    z_side: {
      name: row.z_name,
      circuit_id: row.z_circuit_id,
      panel: row.z_panel,
      module: row.z_module,
      position: row.z_position,
    },
    media: row.media,
    connector: row.connector,
    provider_ref: row.provider_ref,
    loa_document:
      row.letter && presentAttachment(deps, { ...row.letter, created: new Date(row.letter.created) }),
    chargeable: row.chargeable,
    requested: row.requested.toISOString(),
    connected: row.connected && row.connected.toISOString(),
    ceased: row.ceased && row.ceased.toISOString(),
  }
}
