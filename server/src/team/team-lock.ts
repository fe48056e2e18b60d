// Locks a team and looks again at what the actor may do in it: it may have changed since he entered, by the very change
// that held the lock.
import type { Trx } from '../db/postgres.ts'
import { fail, notFound } from '../runtime/error.ts'
import type { Actor, Operation } from '../operation/operation.ts'
import type { TeamAccess } from './team-access.ts'
import { findMembership, findTokenRole, lockTeamRow } from './team-lock.store.ts'

export type LockedTeam = { readonly name: string; readonly access: TeamAccess }

/** `not_found` where the team is gone, or the actor is no longer in it. Read the rest after this, not with it. */
export async function lockTeam(trx: Trx, { actor }: Operation, entered: TeamAccess): Promise<LockedTeam> {
  const team = await lockTeamRow(trx, entered.teamId)
  if (!team) throw notFound('team')
  const role = await findRole(trx, entered.teamId, actor)
  if (!role && !entered.isStaff) throw notFound('team')
  return {
    name: team.name,
    access: { ...entered, isAdmin: role?.isAdmin ?? false, isMember: role !== undefined },
  }
}

/**
 * For what outlives the call and ends with its maker's role, such as an API token: locks the actor's team and throws
 * `forbidden` unless he is an admin still. Otherwise it could be made while he is removed, and stay.
 */
export async function requireStillAdmin(trx: Trx, { actor }: Operation): Promise<void> {
  await lockTeamRow(trx, actor.teamId)
  const role = await findRole(trx, actor.teamId, actor)
  if (role?.isAdmin || actor.isStaff) return
  throw fail('forbidden', 'adminOnly')
}

function findRole(trx: Trx, teamId: number, actor: Actor): Promise<{ isAdmin: boolean } | undefined> {
  return actor.kind === 'user'
    ? findMembership(trx, teamId, actor.userId)
    : findTokenRole(trx, teamId, actor.tokenId)
}
