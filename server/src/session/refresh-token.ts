// Refresh tokens: `phr_<session id>.<number>.<mac>`. The number counts the rotations of the session, and the MAC is a
// function of both: the successor of a token can be computed at any time, so only a counter is stored.
import { mac, verifyMac, type KeyRing } from '../runtime/secrets.ts'

export type RefreshToken = { readonly sessionId: string; readonly counter: number }

const pattern = /^phr_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([1-9][0-9]{0,9})\.([A-Za-z0-9_-]{43})$/

/** Returns token number `counter` of the session; deterministic. */
export function formatRefreshToken(ring: KeyRing, { sessionId, counter }: RefreshToken): string {
  return `phr_${signed(sessionId, counter)}.${mac(ring, 'refresh-token', signed(sessionId, counter)).toString('base64url')}`
}

/** Returns the session and number of a token with a valid MAC; undefined for any other text. */
export function parseRefreshToken(ring: KeyRing, text: string): RefreshToken | undefined {
  const match = pattern.exec(text)
  if (!match) return undefined
  const [, sessionId, number, signature] = match as unknown as [string, string, string, string]
  const token = { sessionId, counter: Number(number) }
  const genuine = verifyMac(
    ring,
    'refresh-token',
    signed(sessionId, token.counter),
    Buffer.from(signature, 'base64url'),
  )
  return genuine ? token : undefined
}

const signed = (sessionId: string, counter: number): string => `${sessionId}.${counter}`
