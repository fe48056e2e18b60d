// The sessions and API tokens of a user in a team, and the invitations that the user sent. They end with the
// membership or with the admin role, whether the team or the operator decides.
import type { Trx } from '../db/postgres.ts'
import { deleteInvitationsBy } from './invitation.store.ts'
import { demoteTokensOf, listTeamsHeldIn, revokeSessionsIn, revokeTokensOf } from './member.store.ts'

type Lost = Readonly<Record<string, number | readonly string[]>>

/** For a removed member. Returns the ended sessions, tokens and invitations for the audit log. */
export async function revokeHoldings(trx: Trx, teamId: number, userId: number): Promise<Lost> {
  // Sessions first, in the lock order of signing out: before the lock of the revision, which all of these raise.
  return {
    sessions_revoked: await revokeSessionsIn(trx, teamId, userId),
    api_tokens_revoked: await revokeTokensOf(trx, teamId, userId),
    invitations_withdrawn: await deleteInvitationsBy(trx, teamId, userId),
  }
}

/** For a user who is deleted: also in teams that the user entered as staff. */
export async function revokeAllHoldings(trx: Trx, userId: number): Promise<void> {
  for (const teamId of await listTeamsHeldIn(trx, userId)) await revokeHoldings(trx, teamId, userId)
}

/** For a member who is no longer an admin: removes the admin role from the API tokens, and revokes the invitations. */
export async function demoteHoldings(trx: Trx, teamId: number, userId: number): Promise<Lost> {
  return {
    api_tokens_demoted: await demoteTokensOf(trx, teamId, userId),
    invitations_withdrawn: await deleteInvitationsBy(trx, teamId, userId),
  }
}
