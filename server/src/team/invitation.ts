// The invitation of a link: its content, and accepting it as a member. The account and its creation belong to the session domain.
import { writeAudit } from '../db/audit.ts'
import type { Db, Trx } from '../db/postgres.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { isGenuineInvitation, parseInvitationToken } from './invitation-token.ts'
import {
  findSentInvitation,
  insertInvited,
  lockInvitation,
  markAccepted,
  type SentInvitation,
} from './invitation.store.ts'

export type { SentInvitation } from './invitation.store.ts'

/**
 * Returns the invitation of a token, open or accepted before; undefined if the token is unknown, forged, expired or revoked,
 * or if its sender may no longer invite.
 */
export async function findInvitation(
  db: Db | Trx,
  ring: KeyRing,
  text: string,
): Promise<SentInvitation | undefined> {
  const token = parseInvitationToken(text)
  if (!token) return undefined
  const invitation = await findSentInvitation(db, token.id)
  return invitation && isGenuineInvitation(ring, token, invitation.tokenMac) ? invitation : undefined
}

/** The same, locked until the end of the transaction. */
export async function findInvitationForUpdate(
  trx: Trx,
  ring: KeyRing,
  text: string,
): Promise<SentInvitation | undefined> {
  const token = parseInvitationToken(text)
  if (!token) return undefined
  await lockInvitation(trx, token.id)
  return findInvitation(trx, ring, text)
}

export type Joining = {
  readonly userId: number
  readonly accountCreated: boolean
  readonly requestId: string
  readonly address: string
}

/** Makes the user a member with the invitation's roles, and marks the invitation as accepted. */
export async function joinTeam(trx: Trx, invitation: SentInvitation, joining: Joining): Promise<void> {
  const { userId, accountCreated, requestId, address } = joining
  const { id, teamId, email, roles } = invitation
  const memberId = await insertInvited(trx, invitation, userId)
  await markAccepted(trx, id, userId, accountCreated)
  await writeAudit(trx, {
    teamId,
    actor: `user:${userId}`,
    action: 'member.join',
    target: `member:${memberId}`,
    after: { user_id: userId, email, roles, account_created: accountCreated },
    requestId,
    address,
  })
}
