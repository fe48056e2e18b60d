// The token in the link of an invitation, `phm_invitation.<id>.<secret>`: it proves access to the mailbox that it was sent
// to. Only its MAC is stored.
import { randomBytes } from 'node:crypto'
import { mac, verifyMac, type KeyRing } from '../runtime/secrets.ts'

export type InvitationToken = {
  readonly id: number
  /** 43 characters of base64url, 256 random bits. */
  readonly secret: string
}

const form = /^phm_invitation\.([1-9][0-9]{0,8})\.([A-Za-z0-9_-]{43})$/

export function createInvitationToken(id: number): InvitationToken {
  return { id, secret: randomBytes(32).toString('base64url') }
}

/** Returns the text of the token, which is only in the mail. */
export function formatInvitationToken({ id, secret }: InvitationToken): string {
  return `phm_invitation.${id}.${secret}`
}

/** Returns undefined for text that is not such a token. */
export function parseInvitationToken(text: string): InvitationToken | undefined {
  const [, id, secret] = form.exec(text) ?? []
  return id === undefined || secret === undefined ? undefined : { id: Number(id), secret }
}

/** Returns the stored MAC: bound to the purpose and the id, so that it matches no other token. */
export function invitationMac(ring: KeyRing, token: InvitationToken): Buffer {
  return mac(ring, 'mail-token', formatInvitationToken(token))
}

export function isGenuineInvitation(ring: KeyRing, token: InvitationToken, stored: Uint8Array): boolean {
  return verifyMac(ring, 'mail-token', formatInvitationToken(token), stored)
}
