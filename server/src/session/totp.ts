// Codes of an authenticator: TOTP (RFC 6238) with the parameters that every authenticator supports: SHA-1, six digits, 30 seconds.
// Pure: used codes are tracked elsewhere.
import { randomBytes } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'

/** RFC 4226, section 4: as long as the hash. */
const secretBytes = 20
/** A clock may be wrong by one step, and typing takes time. */
const window = 1

export const createTotpSecret = (): Buffer => randomBytes(secretBytes)

export const totpSecretText = (secret: Uint8Array): string => secretOf(secret).base32

/** The content of the QR code (the Key URI format of Google Authenticator): issuer and account. */
export function totpUri(secret: Uint8Array, issuer: string, account: string): string {
  // The colon separates issuer and account.
  const label = account.replaceAll(':', ' ')
  return new TOTP({ secret: secretOf(secret), issuer: issuer.replaceAll(':', ' '), label }).toString()
}

/** Returns the time step of the code: the current, previous or next one; undefined if it matches no step. */
export function totpStepOf(secret: Uint8Array, code: string, now: Date): number | undefined {
  // The library compares bytes and throws if six characters are more than six bytes.
  if (!/^[0-9]{6}$/.test(code)) return undefined
  const timestamp = now.getTime()
  const delta = TOTP.validate({ token: code, secret: secretOf(secret), timestamp, window })
  return delta === null ? undefined : TOTP.counter({ timestamp }) + delta
}

const secretOf = (bytes: Uint8Array): Secret => new Secret({ buffer: Uint8Array.from(bytes).buffer })
