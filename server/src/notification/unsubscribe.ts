// The link that ends the mails of a user in a team without signing in. It is signed and contains both; it is no other
// proof, gives no access, and expires.
import { mac, verifyMac, type KeyRing } from '../runtime/secrets.ts'

export type MailSubscription = {
  readonly userId: number
  /** Null: the mails to an employee of the provider. */
  readonly teamId: number | null
  /** `report`: from the monthly report only. */
  readonly from: 'notifications' | 'report'
}

/** Mails are kept for long, and RFC 8058 requires working links; after this time, the settings in the portal remain. */
const lifetimeSeconds = 365 * 86_400

const form = /^([1-9]\d{0,9})\.(\d{1,10})(r?)\.(\d{1,12})\.([\w-]{43})$/

/** Returns the URL for the footer and for `List-Unsubscribe`. */
export function unsubscribeUrl(
  ring: KeyRing,
  publicUrl: string,
  { userId, teamId, from }: MailSubscription,
  now: Date,
): string {
  const expires = Math.floor(now.getTime() / 1000) + lifetimeSeconds
  const claims = claimsOf(userId, teamId ?? 0, from === 'report' ? 'r' : '', expires)
  return `${publicUrl}/unsubscribe/${claims}.${mac(ring, 'unsubscribe', claims).toString('base64url')}`
}

/** Returns the subscription of the token; undefined if it was not signed here or has expired. */
export function parseUnsubscribeToken(ring: KeyRing, token: string, now: Date): MailSubscription | undefined {
  const [, userId, teamId, report, expires, signature] = form.exec(token) ?? []
  if (userId === undefined || signature === undefined) return undefined
  const claims = claimsOf(userId, teamId!, report!, expires!)
  if (!verifyMac(ring, 'unsubscribe', claims, Buffer.from(signature, 'base64url'))) return undefined
  if (Number(expires) * 1000 <= now.getTime()) return undefined
  return {
    userId: Number(userId),
    teamId: teamId === '0' ? null : Number(teamId),
    from: report === 'r' ? 'report' : 'notifications',
  }
}

const claimsOf = (
  userId: number | string,
  teamId: number | string,
  report: string,
  expires: number | string,
): string => `${userId}.${teamId}${report}.${expires}`
