// Locks a team and reads the actor's roles again: the change that had the lock before may have changed them since the
// request was authorized.
import type { Grant, Role } from '@pharos/contract/role'
import type { Trx } from '../db/postgres.ts'
import { fail, notFound } from '../runtime/error.ts'
import { rolesOfToken, requireGrant, type GrantHolder } from '../operation/grant.ts'
import type { Actor, Operation } from '../operation/operation.ts'
import type { TeamAccess } from './team-access.ts'
import { findRoles, findTokenRow, isOpenAccess, lockTeamRow } from './team-lock.store.ts'

export type LockedTeam = { readonly name: string; readonly access: TeamAccess }

/**
 * Throws `not_found` if the team is gone or the actor is no longer in it, `reason_required` if the access of staff has ended. Read other rows after this, not together with it. Check grants
 * of the returned access.
 */
export async function lockTeam(trx: Trx, { actor }: Operation, entered: TeamAccess): Promise<LockedTeam> {
  const team = await lockTeamRow(trx, entered.teamId)
  if (!team) throw notFound('team')
  const roles = await rolesNow(trx, entered.teamId, actor)
  if (!roles && !(await isStillEntered(trx, entered))) throw notFound('team')
  return { name: team.name, access: { ...entered, roles: roles ?? [], isMember: roles !== undefined } }
}

/**
 * For resources that outlive the request and depend on their creator's roles, such as API tokens: locks the actor's team and
 * throws `forbidden` unless the actor still has the grant. Otherwise one could be created while the actor is being removed.
 */
export async function requireStillGranted(trx: Trx, { actor }: Operation, grant: Grant): Promise<void> {
  await lockTeamRow(trx, actor.teamId)
  const roles = (await rolesNow(trx, actor.teamId, actor)) ?? []
  if (roles.length === 0) await isStillEntered(trx, actor)
  requireGrant({ ...actor, roles }, grant)
}

/** Returns false for callers who are not staff in the team; throws `reason_required` if their access has ended. */
async function isStillEntered(trx: Trx, holder: GrantHolder): Promise<boolean> {
  if (holder.kind === 'token' || holder.access === null) return false
  if (!(await isOpenAccess(trx, holder.access.id))) throw fail('reason_required', 'team')
  return true
}

/** Returns undefined for a user who is no member and for a revoked token. */
async function rolesNow(trx: Trx, teamId: number, actor: Actor): Promise<readonly Role[] | undefined> {
  if (actor.kind === 'user') return findRoles(trx, teamId, actor.userId)
  const token = await findTokenRow(trx, teamId, actor.tokenId)
  return token && (token.serviceRoles ?? rolesOfToken(token.isAdmin))
}
