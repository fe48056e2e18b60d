// Lists the user's active sessions and revokes single sessions.
import type { listSessionsRoute, OpenSession } from '@pharos/contract/session/account'
import type { QueryOf } from '@pharos/contract/route'
import { auditOf, writeAudit } from '../db/audit.ts'
import type { Db } from '../db/postgres.ts'
import { runOwnerChange, type ChangeAnswer } from '../db/run-change.ts'
import { notFound } from '../runtime/error.ts'
import type { Operation } from '../operation/operation.ts'
import { requireUser } from './require-user.ts'
import { findOwnSessionTeam, listOpenSessions, revokeSession, type OpenSessionRow } from './session.store.ts'

type Deps = { readonly db: Db }

export async function listOwnSessions(
  { db }: Deps,
  operation: Operation,
  query: QueryOf<typeof listSessionsRoute>,
): Promise<{ results: OpenSession[]; count: number }> {
  const { userId, sessionId } = requireUser(operation)
  const { page, count } = await listOpenSessions(db, userId, query)
  return { results: page.map((row) => present(row, sessionId)), count }
}

function present(row: OpenSessionRow, currentId: string): OpenSession {
  return {
    id: row.id,
    current: row.id === currentId,
    team_id: row.team_id,
    created: row.created.toISOString(),
    last_used: row.last_used.toISOString(),
    expires: row.expires.toISOString(),
    address: row.address ?? '',
    user_agent: row.user_agent ?? '',
  }
}

/** Revokes a session immediately, with its access tokens; the caller's own session is no exception. */
export async function deleteSession(
  { db }: Deps,
  operation: Operation,
  sessionId: string,
): Promise<ChangeAnswer<null>> {
  const { userId } = requireUser(operation)
  return runOwnerChange(db, operation, async (trx) => {
    const teamId = await findOwnSessionTeam(trx, userId, sessionId)
    if (teamId === undefined) throw notFound('session')
    await revokeSession(trx, sessionId, 'revoked')
    const entry = { ...auditOf(operation), teamId, action: 'session.revoke', target: `session:${sessionId}` }
    await writeAudit(trx, entry)
    return { body: null }
  })
}
