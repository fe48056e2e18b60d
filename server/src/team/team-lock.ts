// Locks a team and reads the actor's roles again: the change that had the lock before may have changed them since the
// request was authorized.
import type { Grant, Role } from '@pharos/contract/role'
import type { Trx } from '../db/postgres.ts'
import { notFound } from '../runtime/error.ts'
import { rolesOfToken, requireGrant } from '../operation/grant.ts'
import type { Actor, Operation } from '../operation/operation.ts'
import type { TeamAccess } from './team-access.ts'
import { findRoles, findTokenRow, lockTeamRow } from './team-lock.store.ts'

export type LockedTeam = { readonly name: string; readonly access: TeamAccess }

/**
 * Throws `not_found` if the team is gone or the actor is no longer in it. Read other rows after this, not together with it. Check grants
 * of the returned access.
 */
export async function lockTeam(trx: Trx, { actor }: Operation, entered: TeamAccess): Promise<LockedTeam> {
  const team = await lockTeamRow(trx, entered.teamId)
  if (!team) throw notFound('team')
  const roles = await rolesNow(trx, entered.teamId, actor)
  if (!roles && !entered.isStaff) throw notFound('team')
  return { name: team.name, access: { ...entered, roles: roles ?? [], isMember: roles !== undefined } }
}

/**
 * For resources that outlive the request and depend on their creator's roles, such as API tokens: locks the actor's team and
 * throws `forbidden` unless the actor still has the grant. Otherwise one could be created while the actor is being removed.
 */
export async function requireStillGranted(trx: Trx, { actor }: Operation, grant: Grant): Promise<void> {
  await lockTeamRow(trx, actor.teamId)
  const roles = (await rolesNow(trx, actor.teamId, actor)) ?? []
  requireGrant({ ...actor, roles }, grant)
}

/** Returns undefined for a user who is no member and for a revoked token. */
async function rolesNow(trx: Trx, teamId: number, actor: Actor): Promise<readonly Role[] | undefined> {
  if (actor.kind === 'user') return findRoles(trx, teamId, actor.userId)
  const token = await findTokenRow(trx, teamId, actor.tokenId)
  return token && (token.serviceRoles ?? rolesOfToken(token.isAdmin))
}
