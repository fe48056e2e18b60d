// The setup code: with it the first account is created. It follows from a random salt in the database and the key ring, so that every
// process of the installation prints the same code, and a copy of the database does not contain it.
import { equalBytes, mac, type KeyRing } from '../runtime/secrets.ts'

/** RFC 4648 in lower case: without 0, 1, 8 and 9, which look like letters. */
const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
const length = 20
const groupLength = 5

/** Returns 20 characters in four groups: 100 bits, more than can be guessed at any rate. */
export function setupCodeOf(ring: KeyRing, salt: string): string {
  const bytes = mac(ring, 'setup-code', salt).subarray(0, length)
  const text = Array.from(bytes, (byte) => alphabet[byte & 31]).join('')
  return text.match(new RegExp(`.{${groupLength}}`, 'g'))!.join('-')
}

/** Ignores case, spaces and dashes. Takes the same time for every code of the right length. */
export const isSetupCode = (ring: KeyRing, salt: string, given: string): boolean =>
  equalBytes(Buffer.from(plain(given)), Buffer.from(plain(setupCodeOf(ring, salt))))

const plain = (code: string): string => code.toLowerCase().replace(/[\s-]/g, '')
