// Challenges of passkeys: signed, and not stored, so that every process verifies them and a page that offers passkeys writes nothing. One is for
// one use and one subject, expires after five minutes, and works once: its random part is stored when it is presented.
import { randomBytes } from 'node:crypto'
import { mac, verifyMac, type KeyRing } from '../runtime/secrets.ts'

export const challengeMs = 5 * 60_000

/** `subject`: the session that adds a passkey, or the user whose password was right; empty to sign in. */
export type ChallengeUse = {
  readonly use: 'sign_in' | 'second_factor' | 'register'
  readonly subject: string
}

export type Challenge = { readonly nonce: string; readonly expires: Date }

const form = /^([0-9]{13})\.([\w-]{22})\.([\w-]{43})$/

/** Returns a challenge in base64url, as browsers take it. */
export function createChallenge(ring: KeyRing, use: ChallengeUse, now = Date.now()): string {
  const nonce = randomBytes(16).toString('base64url')
  const text = `${now + challengeMs}.${nonce}`
  const signature = mac(ring, 'passkey-challenge', signed(use, text)).toString('base64url')
  return Buffer.from(`${text}.${signature}`).toString('base64url')
}

/** Returns the parts of a challenge for this use; undefined for another one, an expired one, and any other text. */
export function parseChallenge(
  ring: KeyRing,
  use: ChallengeUse,
  challenge: string,
  now = Date.now(),
): Challenge | undefined {
  const [, expires, nonce, signature] =
    form.exec(Buffer.from(challenge, 'base64url').toString('latin1')) ?? []
  if (expires === undefined || nonce === undefined || signature === undefined) return undefined
  const text = signed(use, `${expires}.${nonce}`)
  const isGenuine = verifyMac(ring, 'passkey-challenge', text, Buffer.from(signature, 'base64url'))
  if (!isGenuine || Number(expires) <= now) return undefined
  return { nonce, expires: new Date(Number(expires)) }
}

const signed = ({ use, subject }: ChallengeUse, text: string): string => `${use} ${subject} ${text}`
