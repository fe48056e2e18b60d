// Locks a team and checks the actor's role again: it may have changed since the request was authorized, by the change that
// held the lock.
import type { Trx } from '../db/postgres.ts'
import { notFound } from '../runtime/error.ts'
import { adminOnly } from '../operation/admin-only.ts'
import type { Actor, Operation } from '../operation/operation.ts'
import type { TeamAccess } from './team-access.ts'
import { findMembership, findTokenRole, lockTeamRow } from './team-lock.store.ts'

export type LockedTeam = { readonly name: string; readonly access: TeamAccess }

/** Throws `not_found` if the team is gone or the actor is no longer in it. Read other rows after this, not together with it. */
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
 * For resources that outlive the request and depend on their creator's role, such as API tokens: locks the actor's team and
 * throws `forbidden` unless the actor is still an admin. Otherwise one could be created while the actor is being removed.
 */
export async function requireStillAdmin(trx: Trx, { actor }: Operation): Promise<void> {
  await lockTeamRow(trx, actor.teamId)
  const role = await findRole(trx, actor.teamId, actor)
  if (role?.isAdmin || actor.isStaff) return
  throw adminOnly(actor.kind)
}

function findRole(trx: Trx, teamId: number, actor: Actor): Promise<{ isAdmin: boolean } | undefined> {
  return actor.kind === 'user'
    ? findMembership(trx, teamId, actor.userId)
    : findTokenRole(trx, teamId, actor.tokenId)
}
