// Resolves the team in the path of a request and the actor's role in it: a user may act in any of their teams, whichever the
// session is in; staff in all teams; an API token in its own. Operations of a team check further requirements with this file.
import type { Db } from '../db/postgres.ts'
import { fail, notFound } from '../runtime/error.ts'
import { adminOnly } from '../operation/admin-only.ts'
import type { Actor, Operation } from '../operation/operation.ts'
import { findTeamAccess, type TeamAccessRow } from './team-access.store.ts'

export type TeamAccess = {
  readonly kind: Actor['kind']
  readonly teamId: number
  /** Admin of this team, by membership; an API token by its role. */
  readonly isAdmin: boolean
  /** The provider's staff, who have the rights of an admin in every team. */
  readonly isStaff: boolean
  readonly isMember: boolean
  readonly modules: readonly string[]
  /** Whether the user has a second factor; an API token has none. */
  readonly hasFactor: boolean
}

/**
 * Returns the actor's access to the team in the path: `current` or an id. Throws `not_found` for a team that the actor is not
 * in or that does not exist; `second_factor_required` if the team requires one and the user has none.
 */
export async function enterTeam(db: Db, { actor }: Operation, named: string): Promise<TeamAccess> {
  const teamId = named === 'current' ? actor.teamId : Number(named)
  if (actor.kind === 'token') {
    if (teamId !== actor.teamId) throw notFound('team')
    const { isAdmin, modules } = actor
    return { kind: 'token', teamId, isAdmin, isStaff: false, isMember: true, modules, hasFactor: false }
  }
  const row = await findTeamAccess(db, teamId, actor.userId)
  if (!row || (row.isAdmin === null && !row.isStaff)) throw notFound('team')
  if (row.requiresFactor && !row.hasFactor) {
    throw fail('second_factor_required', 'team')
  }
  return accessOf(row)
}

function accessOf({ teamId, isAdmin, isStaff, modules, hasFactor }: TeamAccessRow): TeamAccess {
  return {
    kind: 'user',
    teamId,
    isAdmin: isAdmin ?? false,
    isStaff,
    isMember: isAdmin !== null,
    modules,
    hasFactor,
  }
}

/** Throws `forbidden` unless the actor is an admin of the team, or staff. */
export function requireAdmin({ kind, isAdmin, isStaff }: TeamAccess): void {
  if (!isAdmin && !isStaff) throw adminOnly(kind, 'team:write')
}

/**
 * Returns the operation in the entered team: its changes, audit entries and Idempotency-Key belong to that team, not to the
 * team of the session.
 */
export function operationIn(operation: Operation, { teamId, isAdmin, modules }: TeamAccess): Operation {
  return { ...operation, actor: { ...operation.actor, teamId, isAdmin, modules } }
}
