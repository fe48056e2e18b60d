// The sessions and API tokens of a user in a team, and the invitations that the user sent. They end with the
// membership or with the admin role, whether the team or the operator decides.
import { grants, hasGrant, isForAdminTokens, type Grant, type Role } from '@pharos/contract/role'
import { routes } from '@pharos/contract/document/routes'
import { scopes, type Scope } from '@pharos/contract/scope'
import type { Trx } from '../db/postgres.ts'
import { deleteInvitationsBy } from './invitation.store.ts'
import { demoteTokensOf, listTeamsHeldIn, revokeSessionsIn, revokeTokensOf } from './member.store.ts'
import { lockTeamRow } from './team-lock.store.ts'

export type Lost = Readonly<Record<string, number | readonly string[]>>

export type RevokedHoldings = Lost & {
  readonly api_tokens_revoked: readonly string[]
  readonly invitations_withdrawn: readonly string[]
}

/** For a removed member. Returns the ended sessions, tokens and invitations for the audit log. */
export async function revokeHoldings(trx: Trx, teamId: number, userId: number): Promise<RevokedHoldings> {
  // Sessions first, in the lock order of signing out: before the lock of the revision, which all of these raise.
  return {
    sessions_revoked: await revokeSessionsIn(trx, teamId, userId),
    api_tokens_revoked: await revokeTokensOf(trx, teamId, userId),
    invitations_withdrawn: await deleteInvitationsBy(trx, teamId, userId),
  }
}

/** In the order of their ids, so that two deletions wait for each other. */
export async function lockTeamsHeldIn(trx: Trx, userId: number): Promise<void> {
  for (const teamId of await listTeamsHeldIn(trx, userId)) await lockTeamRow(trx, teamId)
}

/** For a user who is deleted: also in teams that the user entered as staff. Returns what ended in each team. */
export async function revokeAllHoldings(
  trx: Trx,
  userId: number,
): Promise<{ readonly teamId: number; readonly lost: RevokedHoldings }[]> {
  const ended = []
  for (const teamId of await listTeamsHeldIn(trx, userId))
    ended.push({ teamId, lost: await revokeHoldings(trx, teamId, userId) })
  return ended
}

/**
 * For a member whose roles change. The API tokens of the member lose the role admin and scopes that the new roles do not grant. Invitations
 * are revoked if the member may no longer invite.
 */
export async function demoteHoldings(
  trx: Trx,
  teamId: number,
  userId: number,
  before: readonly Role[],
  after: readonly Role[],
): Promise<Lost> {
  const hasLost = (grant: Grant) => hasGrant(before, grant) && !hasGrant(after, grant)
  if (!grants.some(hasLost)) return {}
  const tokens = await demoteTokensOf(trx, teamId, userId, {
    isAdmin: !after.includes('admin'),
    scopes: scopesWithout(after),
  })
  return {
    api_tokens_demoted: tokens,
    ...(hasLost('team.manage')
      ? { invitations_withdrawn: await deleteInvitationsBy(trx, teamId, userId) }
      : {}),
  }
}

/** Returns the scopes that exceed the grants of the roles, or are unusable for a token. */
const scopesWithout = (held: readonly Role[]): Scope[] =>
  scopes.filter((scope) => {
    const needed = grantsOfScope(scope)
    const ofAnyToken = needed.filter((grant) => !isForAdminTokens(grant))
    return (
      !needed.some((grant) => hasGrant(held, grant)) || !ofAnyToken.every((grant) => hasGrant(held, grant))
    )
  })

/** Returns the grants of the operations that a token with the scope may call. */
const grantsOfScope = (scope: Scope): Grant[] => [
  ...new Set(
    routes.flatMap(({ permission }) =>
      'scope' in permission && permission.scope === scope && permission.grant ? [permission.grant] : [],
    ),
  ),
]
