// Becoming a member by the domain of one's address. Not for the provider's staff, who are in no customer's team, and not for
// demo accounts, whose addresses nobody reads; nor for who left the team or was removed: only an invitation brings him back.
import { writeAudit } from '../db/audit.ts'
import type { Trx } from '../db/postgres.ts'
import { findConfirmedEmail, findJoinableTeam, insertByDomain } from './auto-join.store.ts'
import { domainOfEmail } from './domain-name.ts'
import { lockTeamRow } from './team-lock.store.ts'

export type JoiningByDomain = {
  /** Members and open invitations that a team may have. */
  readonly membersPerTeam: number
  readonly requestId: string
  readonly address: string
}

/**
 * Makes the user a member, and no admin, of the team that has verified the domain of his confirmed address and wants that:
 * its id, or undefined where he joined none. A team that is full stays so, and nobody is told: he comes in at another
 * sign-in.
 */
export async function joinByDomain(
  trx: Trx,
  userId: number,
  { membersPerTeam, requestId, address }: JoiningByDomain,
): Promise<number | undefined> {
  const email = await findConfirmedEmail(trx, userId)
  const domain = email === undefined ? undefined : domainOfEmail(email)
  const teamId = domain && (await findJoinableTeam(trx, userId, domain))
  if (domain === undefined || teamId === undefined) return undefined
  await lockTeamRow(trx, teamId)
  const memberId = await insertByDomain(trx, { teamId, userId, domain, membersMax: membersPerTeam })
  if (memberId === undefined) return undefined
  await writeAudit(trx, {
    teamId,
    actor: 'pharos',
    action: 'member.join',
    target: `member:${memberId}`,
    after: { user_id: userId, email, is_admin: false, domain },
    requestId,
    address,
  })
  return teamId
}
