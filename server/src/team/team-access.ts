// Resolves the team in the path of a request and the actor's roles in it: a user may act in any of their teams, whichever the
// session is in; staff in a team that they have entered with a reason; an API token in its own. Operations of a team check
// further requirements with this file.
import { isForReading, type Grant } from '@pharos/contract/role'
import type { Db, Trx } from '../db/postgres.ts'
import { notFound } from '../runtime/error.ts'
import {
  requireChangeAllowed,
  requireEntered,
  requireGrant,
  requireOpened,
  type GrantHolder,
} from '../operation/grant.ts'
import type { Actor, Operation, TeamBlock, UserActor } from '../operation/operation.ts'
import { findTeamAccess, type TeamAccessRow } from './team-access.store.ts'

export type TeamAccess = GrantHolder & {
  readonly teamId: number
  readonly isMember: boolean
  readonly modules: readonly string[]
  /** Whether a second factor opened the session; false for an API token. */
  readonly isStrong: boolean
}

/**
 * Returns the actor's access to the team in the path: `current` or an id. Throws `not_found` for a team that the actor
 * is not in or that does not exist; `sign_in_required` if no proof of the session opens it; `second_factor_required` if the team
 * requires it and none opened the session; `reason_required` for staff who have not entered it; `forbidden` without the grant.
 */
export async function getTeamAccess(
  db: Db,
  { actor }: Operation,
  named: string,
  grant: Grant,
): Promise<TeamAccess> {
  const access = await accessTo(db, actor, named === 'current' ? actor.teamId : Number(named))
  requireTeamGrant(access, grant)
  return access
}

async function accessTo(db: Db, actor: Actor, teamId: number): Promise<TeamAccess> {
  if (actor.kind === 'token') {
    if (teamId !== actor.teamId) throw notFound('team')
    const { kind, roles, modules } = actor
    return { kind, teamId, roles, isMember: true, modules, isStrong: false }
  }
  const access = await readTeamAccess(db, actor, teamId)
  requireOpened(blockOf(access))
  requireEntered(access)
  return access
}

type UserAccess = TeamAccess & Pick<TeamAccessRow, 'blocked_by' | 'provider'>

function blockOf({ blocked_by: reason, provider }: UserAccess): TeamBlock | null {
  return reason === 'sign_in' ? { reason, provider } : reason && { reason }
}

/** Throws `sign_in_required` if no proof of the session opens the team. A missing second factor does not matter: the user sets it up there. */
export function requireSignIn(access: UserAccess): void {
  if (access.blocked_by === 'sign_in') requireOpened(blockOf(access))
}

/** Returns the access of a user, who may lack a factor or a reason. Throws `not_found` for a team without the user, unless for staff. */
export async function readTeamAccess(
  db: Db | Trx,
  actor: Pick<UserActor, 'userId' | 'sessionId'>,
  teamId: number,
): Promise<UserAccess> {
  const row = await findTeamAccess(db, teamId, actor)
  if (!row || (row.roles === null && !row.isStaff && !row.lacks_staff_sign_in)) throw notFound('team')
  const { staff_roles: staffRoles, roles, lacks_staff_sign_in: _, ...rest } = row
  return { kind: 'user', ...rest, staffRoles, roles: roles ?? [], isMember: roles !== null }
}

/**
 * Throws `forbidden` unless the actor's roles in the team have the grant. What an operation changes needs a grant that is not for
 * reading: staff who have entered the team for reading do not get it.
 */
export function requireTeamGrant(access: TeamAccess, grant: Grant): void {
  if (!isForReading(grant)) requireChangeAllowed(access)
  requireGrant(access, grant, isForReading(grant) ? 'team:read' : 'team:write')
}

/**
 * Returns the operation in the entered team: its changes, audit entries and Idempotency-Key belong to that team, not to the
 * team of the session.
 */
export function operationIn(operation: Operation, access: TeamAccess): Operation {
  const { teamId, roles, modules } = access
  const { actor } = operation
  const entered =
    actor.kind === 'user' && access.kind === 'user' ? { ...actor, access: access.access } : actor
  return { ...operation, actor: { ...entered, teamId, roles, modules } }
}
