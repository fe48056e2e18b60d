// Recovery codes, which replace a code of a lost authenticator. People write them down, so case, dash and spaces are
// ignored; stored as MACs that are bound to the user or the team.
import { randomBytes } from 'node:crypto'
import { mac, verifyMac, type KeyRing } from '../runtime/secrets.ts'

const recoveryCodeCount = 10

/** RFC 4648 in lower case: without 0, 1, 8 and 9, which look like letters. */
const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
const length = 10
const pattern = /^[a-z2-7]{10}$/

/** Ten characters, 50 random bits: enough with ten codes and the limit of attempts. */
export function createRecoveryCodes(): string[] {
  return Array.from({ length: recoveryCodeCount }, () => {
    const code = Array.from(randomBytes(length), (byte) => alphabet[byte & 31]).join('')
    return `${code.slice(0, 5)}-${code.slice(5)}`
  })
}

/** Returns the code in its canonical form; undefined for other text, such as six digits. */
export function parseRecoveryCode(text: string): string | undefined {
  const code = text.toLowerCase().replace(/[\s-]/g, '')
  return pattern.test(code) ? code : undefined
}

/** The account of the id, or a team. */
export type CodeHolder = number | `team ${number}`

/** Returns the stored MAC of a code. Throws if the text is not a code. */
export function recoveryCodeMac(ring: KeyRing, holder: CodeHolder, text: string): Buffer {
  const code = parseRecoveryCode(text)
  if (code === undefined) throw new Error('not a recovery code')
  return mac(ring, 'recovery-code', bound(holder, code))
}

/** Returns the stored code that matches. Compares with all of them, so that the time does not reveal which one matched. */
export function matchRecoveryCode<T extends { readonly codeMac: Uint8Array }>(
  ring: KeyRing,
  holder: CodeHolder,
  text: string,
  stored: readonly T[],
): T | undefined {
  const code = parseRecoveryCode(text)
  if (code === undefined) return undefined
  let match: T | undefined
  for (const one of stored)
    if (verifyMac(ring, 'recovery-code', bound(holder, code), one.codeMac)) match = one
  return match
}

const bound = (holder: CodeHolder, code: string): string => `${holder} ${code}`
