// Saved views of pages: those of a member are visible to nobody else, those of the team to every member.
import type { BodyOf, QueryOf } from '@pharos/contract/route'
import {
  overviewPage,
  type createViewRoute,
  type listViewsRoute,
  type SavedView,
  type shareViewRoute,
  type updateViewRoute,
} from '@pharos/contract/team/view'
import { auditOf, writeAudit } from '../db/audit.ts'
import type { Postgres, Trx } from '../db/postgres.ts'
import { runChange, type ChangeAnswer } from '../db/run-change.ts'
import { etagOf, requireMatch } from '../operation/etag.ts'
import { fieldsOf } from '../operation/fields.ts'
import { mayDo, requireGrant } from '../operation/grant.ts'
import { actorName, type Operation } from '../operation/operation.ts'
import { fail, notFound } from '../runtime/error.ts'
import {
  deleteViewRow,
  findView,
  insertView,
  listNamesOfViews,
  listViewRows,
  lockView,
  saveView,
  saveViewHolder,
  viewFields,
  type SavedViewRow,
  type ViewReader,
} from './saved-view.store.ts'
import { requireStillGranted } from './team-lock.ts'
import { lockTeamRow } from './team-lock.store.ts'

type Deps = { readonly postgres: Postgres }

/** Most views of a member in a team, and of a team. */
const viewsMax = 200

export async function listViews(
  { postgres }: Deps,
  operation: Operation,
  query: QueryOf<typeof listViewsRoute>,
): Promise<{ results: SavedView[]; count: number }> {
  const { page, count } = await listViewRows(postgres, readerOf(operation), query)
  return { results: page.map(present), count }
}

/** Throws `not_found`. */
export async function getView(
  { postgres }: Deps,
  operation: Operation,
  id: number,
): Promise<ChangeAnswer<SavedView>> {
  return answerWith(known(await findView(postgres, readerOf(operation), id)))
}

/** Throws `exists` for a name that another view of the caller has, and `quota_exceeded`. */
export function createView(
  { postgres }: Deps,
  operation: Operation,
  { page, name, search = '', panels = [] }: BodyOf<typeof createViewRoute>,
): Promise<ChangeAnswer<SavedView>> {
  const reader = readerOf(operation)
  return runChange(postgres, operation, async (trx) => {
    await lockTeamRow(trx, reader.teamId)
    await requirePlace(trx, reader.teamId, reader.userId, { page, name })
    const creator = actorName(operation.actor)
    const row = await insertView(trx, reader, { page, name, search, panels, creator })
    await writeAudit(trx, { ...auditOf(operation), ...entryOf('create', row.id), after: recordedOf(row) })
    return answerWith(row)
  })
}

/** Throws `not_found`, `precondition_failed`, `forbidden`, and `exists` for a name that another view has. */
export function updateView(
  { postgres }: Deps,
  operation: Operation,
  id: number,
  changes: BodyOf<typeof updateViewRoute>,
): Promise<ChangeAnswer<SavedView>> {
  const reader = readerOf(operation)
  return runChange(postgres, operation, async (trx) => {
    await lockTeamRow(trx, reader.teamId)
    const before = await lockForChange(trx, operation, reader, id)
    requireEditor(operation, before)
    const wanted = { ...fieldsOf(before, viewFields), ...changes }
    if (JSON.stringify(wanted) === JSON.stringify(fieldsOf(before, viewFields))) return answerWith(before)
    if (wanted.name !== before.name)
      await requireFreeName(trx, reader.teamId, before.user_id, { page: before.page, name: wanted.name }, id)
    const after = await saveView(trx, reader.teamId, id, wanted)
    const recorded = { before: recordedOf(before), after: recordedOf(after) }
    await writeAudit(trx, { ...auditOf(operation), ...entryOf('update', id), ...recorded })
    return answerWith(after)
  })
}

/** Throws `not_found`, `forbidden`, `exists` and `quota_exceeded`. */
export function shareView(
  { postgres }: Deps,
  operation: Operation,
  id: number,
  { shared }: BodyOf<typeof shareViewRoute>,
): Promise<ChangeAnswer<SavedView>> {
  const reader = readerOf(operation)
  return runChange(postgres, operation, async (trx) => {
    await requireStillGranted(trx, operation, 'views.share')
    const before = await lockForChange(trx, operation, reader, id)
    if (before.page === overviewPage) requireGrant(operation.actor, 'team.manage')
    if (isShared(before) === shared) return answerWith(before)
    if (!isCreator(operation, before)) throw fail('forbidden', 'viewOfAnother')
    const holder = shared ? null : reader.userId
    await requirePlace(trx, reader.teamId, holder, before)
    const after = await saveViewHolder(trx, reader.teamId, id, holder)
    const recorded = { before: recordedOf(before), after: recordedOf(after) }
    await writeAudit(trx, { ...auditOf(operation), ...entryOf('share', id), ...recorded })
    return answerWith(after)
  })
}

/** Throws `not_found`, `precondition_failed` and `forbidden`. */
export function deleteView(
  { postgres }: Deps,
  operation: Operation,
  id: number,
): Promise<ChangeAnswer<null>> {
  const reader = readerOf(operation)
  return runChange(postgres, operation, async (trx) => {
    const before = await lockForChange(trx, operation, reader, id)
    requireEditor(operation, before)
    await deleteViewRow(trx, reader.teamId, id)
    await writeAudit(trx, { ...auditOf(operation), ...entryOf('delete', id), before: recordedOf(before) })
    return { body: null }
  })
}

/** Throws `unauthenticated` for an API token: views belong to people. */
function readerOf({ actor }: Operation): ViewReader {
  if (actor.kind !== 'user') throw fail('unauthenticated', 'personal')
  return { teamId: actor.teamId, userId: actor.userId }
}

const isShared = ({ user_id: holder }: SavedViewRow): boolean => holder === null

const isCreator = ({ actor }: Operation, { creator }: SavedViewRow): boolean => creator === actorName(actor)

/** A view of the team is changed by its author with the grant to share, and by admins; the overview of the team by admins. */
function requireEditor(operation: Operation, row: SavedViewRow): void {
  if (!isShared(row) || mayDo(operation.actor, 'team.manage')) return
  if (row.page === overviewPage) requireGrant(operation.actor, 'team.manage')
  requireGrant(operation.actor, 'views.share')
  if (!isCreator(operation, row)) throw fail('forbidden', 'viewOfAnother')
}

async function lockForChange(
  trx: Trx,
  { ifMatch }: Operation,
  reader: ViewReader,
  id: number,
): Promise<SavedViewRow> {
  const row = known(await lockView(trx, reader, id))
  requireMatch(ifMatch, etagOf(row.version))
  return row
}

type Named = Pick<SavedViewRow, 'page' | 'name'>

async function requirePlace(trx: Trx, teamId: number, holder: number | null, wanted: Named): Promise<void> {
  const others = await requireFreeName(trx, teamId, holder, wanted)
  if (others >= viewsMax) throw fail('quota_exceeded', 'savedViews', { limit: viewsMax })
}

/** Returns how many views the holder has. `own`: the view that gets the name. */
async function requireFreeName(
  trx: Trx,
  teamId: number,
  holder: number | null,
  { page, name }: Named,
  own?: number,
): Promise<number> {
  const all = await listNamesOfViews(trx, teamId, holder, { page, name })
  const isTaken = (one: (typeof all)[number]) =>
    one.id !== own && (one.is_same || (page === overviewPage && one.page === page))
  const same = all.find(isTaken)
  if (same) throw fail('exists', 'savedView', { page, name: same.name, id: same.id })
  return all.length
}

function known(row: SavedViewRow | undefined): SavedViewRow {
  if (!row) throw notFound('view')
  return row
}

const entryOf = (verb: string, id: number) => ({ action: `view.${verb}`, target: `view:${id}` })

const recordedOf = (row: SavedViewRow) => ({
  page: row.page,
  ...fieldsOf(row, viewFields),
  shared: isShared(row),
})

const answerWith = (row: SavedViewRow) => ({ body: present(row), etag: etagOf(row.version) })

const present = (row: SavedViewRow): SavedView => ({
  id: row.id,
  page: row.page,
  name: row.name,
  search: row.search,
  panels: row.panels,
  shared: isShared(row),
  created: row.created.toISOString(),
  created_by: row.creator,
})
