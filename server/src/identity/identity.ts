// The identities that are linked to the caller's own account.
import type { QueryOf } from '@pharos/contract/route'
import type { Identity, listIdentitiesRoute } from '@pharos/contract/session/sso'
import { auditOf, writeAudit } from '../db/audit.ts'
import type { Db } from '../db/postgres.ts'
import { runOwnerChange, type ChangeAnswer } from '../db/run-change.ts'
import type { Operation } from '../operation/operation.ts'
import { notFound } from '../runtime/error.ts'
import { userIdOf } from '../session/require-user.ts'
import { deleteIdentityRow, listIdentityRows, type IdentityRow } from './identity.store.ts'

export type IdentityDeps = { readonly db: Db }

export async function listIdentities(
  { db }: IdentityDeps,
  operation: Operation,
  query: QueryOf<typeof listIdentitiesRoute>,
): Promise<{ results: Identity[]; count: number }> {
  const { page, count } = await listIdentityRows(db, userIdOf(operation), query)
  return { results: page.map(present), count }
}

/** Throws `not_found`. */
export function deleteIdentity(
  { db }: IdentityDeps,
  operation: Operation,
  id: number,
): Promise<ChangeAnswer<null>> {
  return runOwnerChange(db, operation, async (trx) => {
    const userId = userIdOf(operation)
    const row = await deleteIdentityRow(trx, userId, id)
    if (!row) throw notFound('identity')
    const before = { provider: row.provider_id, email: row.email }
    const entry = { ...auditOf(operation), teamId: row.team_id, action: 'identity.unlink' }
    await writeAudit(trx, { ...entry, target: `user:${userId}`, before })
    return { body: null }
  })
}

const present = (row: IdentityRow): Identity => ({
  id: row.id,
  provider_name: row.provider_name,
  team_id: row.team_id,
  team_name: row.team_name,
  email: row.email,
  linked: row.linked.toISOString(),
  last_used: row.last_used?.toISOString() ?? null,
})
