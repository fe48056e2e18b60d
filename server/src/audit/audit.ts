// Reads the audit log of a team: one entry, or a page with filters. A team does not see which staff user acted.
import {
  staffAuditDays,
  type AuditEntry,
  type listStaffAuditEntriesRoute,
  type StaffAuditEntry,
} from '@pharos/contract/team/audit'
import type { QueryOf } from '@pharos/contract/route'
import { withPersonalTexts } from '../db/audit-addresses.ts'
import type { Db, Postgres, Trx } from '../db/postgres.ts'
import { invalid, notFound, parsePrefixAt } from '../runtime/error.ts'
import { etagOf } from '../operation/etag.ts'
import type { Actor, Operation } from '../operation/operation.ts'
import {
  findAllNames,
  findEntry,
  findNames,
  findTeamNames,
  listEntries,
  type EntryFilter,
  type EntryRow,
  type AuditQuery,
  type Viewer,
} from './audit.store.ts'

export type StaffAuditDeps = { readonly db: Db; readonly now: () => Date }

export type AuditDeps = { readonly postgres: Postgres; readonly db: Db }

/** Returns a page of the audit log of the actor's team, and the exact count, from one snapshot. */
export async function listAudit(
  deps: AuditDeps,
  { actor }: Operation,
  query: AuditQuery,
): Promise<{ results: AuditEntry[]; count: number }> {
  const viewer = viewerOf(actor)
  const filter = filterOf(query)
  return deps.postgres.inTeam(actor.teamId, async (trx) => {
    const { page, count } = await listEntries(trx, viewer, filter, query)
    return { results: await presentAll(deps, trx, viewer, page), count }
  })
}

const dayMs = 86_400_000

/** Returns a page of the entries of all teams and of the provider. Without a start, only the last days are read. */
export async function listStaffAudit(
  { db, now }: StaffAuditDeps,
  _operation: unknown,
  { team_id: teams, ...query }: QueryOf<typeof listStaffAuditEntriesRoute>,
): Promise<{ results: StaffAuditEntry[]; count: number }> {
  const viewer: Viewer = { teamId: null, isStaff: true }
  const last = query.end === undefined ? now() : new Date(query.end)
  const from = new Date(Math.max(0, last.getTime() - staffAuditDays * dayMs)).toISOString()
  const filter = { start: from, ...filterOf(query), ...(teams && { teams }) }
  return db.transaction().execute(async (trx) => {
    const { page, count } = await listEntries(trx, viewer, filter, query)
    const entries = await presentAll({ db: trx }, trx, viewer, page)
    const names = await findTeamNames(trx, [...new Set(page.flatMap(({ team_id: id }) => id ?? []))])
    const results = entries.map((entry, at) => {
      const id = page[at]!.team_id
      return { ...entry, team: id === null ? null : { id, name: names.get(id) ?? `${id}` } }
    })
    return { results, count }
  })
}

/** Returns an entry of the actor's team with its ETag; throws `not_found`. */
export async function getAudit(
  deps: AuditDeps,
  { actor }: Operation,
  id: number,
): Promise<{ body: AuditEntry; etag: string }> {
  const viewer = viewerOf(actor)
  const body = await deps.postgres.inTeam(actor.teamId, async (trx) => {
    const row = await findEntry(trx, viewer, id)
    return row && (await presentAll(deps, trx, viewer, [row]))[0]
  })
  if (!body) throw notFound('audit entry')
  return { body, etag: etagOf(body.id, [body.sequence, body.actor, body.actor_name]) }
}

const viewerOf = ({ teamId, isStaff }: Actor): Viewer => ({ teamId, isStaff })

type Filters = Omit<AuditQuery, 'ordering' | 'limit' | 'offset'>

function filterOf({ actor, action, target, request_id, address, start, end }: Filters): EntryFilter {
  if (start !== undefined && end !== undefined && new Date(end) < new Date(start))
    throw invalid(['query', 'end'], 'beforeStart', { start })
  const isPrefix = (one: string) => one.endsWith('.*')
  return {
    ...(actor ? { actors: actor } : {}),
    ...(action ? { actions: action.filter((one) => !isPrefix(one)) } : {}),
    ...(action ? { actionPrefixes: action.filter(isPrefix).map((one) => one.slice(0, -1)) } : {}),
    ...(target ? { targets: target } : {}),
    ...(request_id ? { requestIds: request_id } : {}),
    ...(address ? { networks: address.map((text) => parsePrefixAt(['query', 'address'], text)) } : {}),
    ...(start === undefined ? {} : { start }),
    ...(end === undefined ? {} : { end }),
  }
}

async function presentAll(
  { db }: { readonly db: Db | Trx },
  trx: Trx,
  viewer: Viewer,
  rows: readonly EntryRow[],
): Promise<AuditEntry[]> {
  const actors = [...new Set(rows.map(({ actor }) => actor))]
  const names = new Map<string, string | null>([
    ...(await findNames(trx, actors)),
    ['operator', staffName],
    ['pharos', 'Pharos'],
    ...(viewer.isStaff ? await findAllNames(db, actors) : []),
  ])
  const filled = await withPersonalTexts(trx, viewer.teamId, rows)
  return filled.map((row) => present(row, viewer, names))
}

const staffName = 'staff of the provider'

function present(row: EntryRow, viewer: Viewer, names: ReadonlyMap<string, string | null>): AuditEntry {
  const { id, at, action, target, before, after, request_id, sequence } = row
  const isHidden = row.byStaff && !viewer.isStaff
  return {
    id,
    at: at.toISOString(),
    actor: isHidden ? 'staff' : row.actor,
    actor_name: isHidden ? staffName : (names.get(row.actor) ?? null),
    credential: isHidden && !row.credential?.startsWith('staff_access:') ? null : row.credential,
    action,
    target,
    before: before ?? null,
    after: after ?? null,
    request_id,
    address: isHidden ? null : row.address,
    sealed: sequence !== null,
    sequence,
  }
}
