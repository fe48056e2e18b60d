// Recovery codes: what stands in for an authenticator that is lost. Written down by people, so that case, dash and spaces
// do not matter; stored as MACs that are bound to the user.
import { randomBytes } from 'node:crypto'
import { mac, verifyMac, type KeyRing } from '../runtime/secrets.ts'

const recoveryCodeCount = 10

/** RFC 4648 in lower case: no 0, 1, 8 or 9 that could be taken for a letter. */
const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
const length = 10
const pattern = /^[a-z2-7]{10}$/

/** Ten characters, 50 random bits: nobody guesses one of ten in the few tries that there are. */
export function createRecoveryCodes(): string[] {
  return Array.from({ length: recoveryCodeCount }, () => {
    const code = Array.from(randomBytes(length), (byte) => alphabet[byte & 31]).join('')
    return `${code.slice(0, 5)}-${code.slice(5)}`
  })
}

/** The code as it is compared; undefined for what is none, such as six digits. */
export function parseRecoveryCode(text: string): string | undefined {
  const code = text.toLowerCase().replace(/[\s-]/g, '')
  return pattern.test(code) ? code : undefined
}

/** What is stored of a code. Throws for what is none. */
export function recoveryCodeMac(ring: KeyRing, userId: number, text: string): Buffer {
  const code = parseRecoveryCode(text)
  if (code === undefined) throw new Error('this is not a recovery code')
  return mac(ring, 'recovery-code', bound(userId, code))
}

/** The one of the stored codes that this is. Compares with all of them, so that the time says nothing of which. */
export function matchRecoveryCode<T extends { readonly codeMac: Uint8Array }>(
  ring: KeyRing,
  userId: number,
  text: string,
  stored: readonly T[],
): T | undefined {
  const code = parseRecoveryCode(text)
  if (code === undefined) return undefined
  let match: T | undefined
  for (const one of stored)
    if (verifyMac(ring, 'recovery-code', bound(userId, code), one.codeMac)) match = one
  return match
}

const bound = (userId: number, code: string): string => `${userId} ${code}`
