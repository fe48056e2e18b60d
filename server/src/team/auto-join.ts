// Membership by the domain of the user's address. It excludes staff, who are in no customer's team, demo accounts, whose
// addresses have no mailbox, and former members: only an invitation makes them members again.
import { orderedRoles } from '@pharos/contract/role'
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
 * Makes the user a member, with its default roles, of the team that has verified the domain of their confirmed address
 * and enabled auto-join. Returns the team's id, or undefined without such a team. A full team stays full: the user
 * joins at a later sign-in.
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
  const member = await insertByDomain(trx, { teamId, userId, domain, membersMax: membersPerTeam })
  if (!member) return undefined
  await writeAudit(trx, {
    teamId,
    actor: 'pharos',
    action: 'member.join',
    target: `member:${member.id}`,
    after: { user_id: userId, email, roles: orderedRoles(member.roles), domain },
    requestId,
    address,
  })
  return teamId
}
