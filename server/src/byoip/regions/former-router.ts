// Former routers for staff: which ones still need to be emptied, and giving one up whose hardware is gone.
import type { FormerRouter, listFormerRoutersRoute } from '@pharos/contract/byoip/former-router'
import type { QueryOf } from '@pharos/contract/route'
import { auditOf, writeAudit, type AuditEntry } from '../../db/audit.ts'
import type { Db, Trx } from '../../db/postgres.ts'
import { runOwnerChange, type ChangeAnswer } from '../../db/run-change.ts'
import { wake } from '../../db/wake.ts'
import type { StaffOperation } from '../../operation/operation.ts'
import { notFound } from '../../runtime/error.ts'
import { requireRegions } from '../announcement/region.ts'
import { listAllSlugs } from '../announcement/region.store.ts'
import { deleteFormer, listFormerRows, readFormerRows, type FormerRow } from './former-speakers.store.ts'

export type FormerRouterDeps = { readonly db: Db }

/** Returns a page of the former routers of all regions, and the exact count. */
export async function listFormerRouters(
  { db }: FormerRouterDeps,
  _operation: unknown,
  query: QueryOf<typeof listFormerRoutersRoute>,
): Promise<{ results: FormerRouter[]; count: number }> {
  if (query.region) requireRegions(query.region, await listAllSlugs(db))
  const { page, count } = await listFormerRows(db, query)
  return { results: page.map(present), count }
}

/** Returns all former routers, by region. */
export const readFormerRouters = async (trx: Db | Trx): Promise<FormerRouter[]> =>
  (await readFormerRows(trx)).map(present)

/** Gives up a former router: its prefixes count as withdrawn. Throws `not_found`. */
export const giveUpFormerRouter = (
  { db }: FormerRouterDeps,
  operation: StaffOperation,
  id: number,
): Promise<ChangeAnswer<FormerRouter>> =>
  runOwnerChange(db, operation, (trx) => giveUp(trx, auditOf(operation), id))

/** Like `giveUpFormerRouter`, for a command of the operator. */
export const giveUpAs = (
  { db }: FormerRouterDeps,
  by: Pick<AuditEntry, 'actor'> & Partial<AuditEntry>,
  id: number,
): Promise<FormerRouter> => db.transaction().execute(async (trx) => (await giveUp(trx, by, id)).body)

async function giveUp(
  trx: Trx,
  by: Pick<AuditEntry, 'actor'> & Partial<AuditEntry>,
  id: number,
): Promise<{ body: FormerRouter; before: FormerRouter }> {
  const row = await deleteFormer(trx, id)
  if (!row) throw notFound('former router')
  const router = present(row)
  const { region, name, router: identity, routes } = router
  await writeAudit(trx, {
    ...by,
    teamId: null,
    action: 'former_router.gone',
    target: `former_router:${id}`,
    before: { region, name, router: identity, routes },
  })
  await wake(trx, 'announcements')
  await wake(trx, 'routers')
  return { body: { ...router, routes: 0 }, before: router }
}

const present = ({ since, last_check, ...row }: FormerRow): FormerRouter => ({
  ...row,
  since: since.toISOString(),
  last_check: last_check?.toISOString() ?? null,
})
