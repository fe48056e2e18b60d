// Into which team a call goes that names one in its path, and as what: a user may act in any team of his, whichever the
// session works in; staff in all; an API token in its own. What a team's operations need beyond that they ask for here.
import type { Db } from '../db/postgres.ts'
import { fail, notFound } from '../runtime/error.ts'
import type { Operation } from '../operation/operation.ts'
import { findTeamStanding, type TeamStanding } from './team-access.store.ts'

export type TeamAccess = {
  readonly teamId: number
  /** Admin of this team, by membership; an API token by its role. */
  readonly isAdmin: boolean
  /** Of the provider's staff, who may do in every team what its admins may. */
  readonly isStaff: boolean
  readonly isMember: boolean
  readonly modules: readonly string[]
  /** Whether signing in as this user takes a second factor; a program has none. */
  readonly hasFactor: boolean
}

/**
 * The actor's access to the team that the path names: `current` or an id. `not_found` for a team that he is not in,
 * as for one that there is not; `second_factor_required` where the team wants one and the user has none.
 */
export async function enterTeam(db: Db, { actor }: Operation, named: string): Promise<TeamAccess> {
  const teamId = named === 'current' ? actor.teamId : Number(named)
  if (actor.kind === 'token') {
    if (teamId !== actor.teamId) throw notFound('team')
    const { isAdmin, modules } = actor
    return { teamId, isAdmin, isStaff: false, isMember: true, modules, hasFactor: false }
  }
  const standing = await findTeamStanding(db, teamId, actor.userId)
  if (!standing || (standing.isAdmin === null && !standing.isStaff)) throw notFound('team')
  if (standing.requiresFactor && !standing.hasFactor) {
    throw fail('second_factor_required', 'team')
  }
  return accessOf(standing)
}

function accessOf({ teamId, isAdmin, isStaff, modules, hasFactor }: TeamStanding): TeamAccess {
  return { teamId, isAdmin: isAdmin ?? false, isStaff, isMember: isAdmin !== null, modules, hasFactor }
}

/** Throws `forbidden` unless it is an admin of the team, or staff. */
export function requireAdmin({ isAdmin, isStaff }: TeamAccess): void {
  if (!isAdmin && !isStaff) throw fail('forbidden', 'adminOnly')
}

/**
 * The operation as one of the team that was entered: what it changes, its audit entries and its Idempotency-Key then
 * belong there, and not to the team that the session works in.
 */
export function operationIn(operation: Operation, { teamId, isAdmin, modules }: TeamAccess): Operation {
  return { ...operation, actor: { ...operation.actor, teamId, isAdmin, modules } }
}
