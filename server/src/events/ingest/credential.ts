// The secret of a source: its stored form, and its forms in a delivery. Detectors differ in the forms that they can
// send.
import { equalBytes, mac, verifyMac } from '../../runtime/secrets.ts'
import type { KeyRing } from '../../runtime/secrets.ts'

/** The stored MAC of a source's secret: `sources.secret_mac`. */
export function sourceSecretMac(keys: KeyRing, secret: string): Buffer {
  return mac(keys, 'source-secret', secret)
}

const noMac = Buffer.alloc(32)

/** Takes the same time for an unknown source as for a wrong secret. */
export function isSourceSecret(keys: KeyRing, secret: string, stored: Buffer | undefined): boolean {
  const isRight = verifyMac(keys, 'source-secret', secret, stored ?? noMac)
  return isRight && stored !== undefined && !equalBytes(stored, noMac)
}

/** Parses `Token <secret>`, or `Basic` with the secret as the password and any user name; undefined otherwise. */
export function parseSourceCredential(authorization: string): string | undefined {
  const match = /^(token|basic) +([\x21-\x7e][\x20-\x7e]{0,999})$/i.exec(authorization)
  if (!match) return undefined
  if (match[1]!.toLowerCase() === 'token') return match[2]
  const pair = Buffer.from(match[2]!, 'base64').toString('utf8')
  const colon = pair.indexOf(':')
  return colon < 0 ? undefined : pair.slice(colon + 1)
}
