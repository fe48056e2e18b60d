// The password policy: any 12 to 128 characters that zxcvbn rates as hard to guess. No character classes are required
// (NIST SP 800-63B, 3.1.1).
//
// A password is Unicode text, normalised to NFC before it is hashed or compared, so that it is the same whichever
// keyboard composed its accents. Its length is counted in code points.
import { passwordLength, passwordLengthText } from '@pharos/contract/session/password'
import { createThreadPool } from '../runtime/thread-pool.ts'
import { findWeakness, type StrengthJob, type Weakness } from './password-strength.ts'

export type PasswordContext = {
  readonly email: string
  /** Names that an attacker tries first, such as the provider's. */
  readonly names: readonly string[]
}

export type PasswordObjection = {
  readonly type: 'length' | Weakness
  /** The reason and the remedy; the message starts with the name of the field. */
  readonly msg: string
}

/** Beyond this, a request is answered with 503. */
const waitingMax = 50

/** One thread: an estimate takes up to 0.2 s, and the dictionaries 80 MB. */
const findWeaknessInThread = createThreadPool<StrengthJob, Weakness | undefined>(
  new URL('password-strength-thread.ts', import.meta.url),
  1,
  waitingMax,
)

const messages: Readonly<Record<Weakness, string>> = {
  pattern: 'consists mostly of repetitions, sequences or keyboard rows; use several unrelated words',
  personal:
    'is based on your e-mail address or the name of the provider; use words that are unrelated to them',
  common: 'is based on common passwords or words; use several unrelated words',
}

/** Returns the NFC form, in which passwords are rated, hashed and compared. */
export const normalisePassword = (password: string): string => password.normalize('NFC')

/** Returns the objection to a password's length in code points; undefined if the length is allowed. */
export function objectionToLength(password: string): PasswordObjection | undefined {
  const { length } = [...normalisePassword(password)]
  const { min, max } = passwordLength
  if (length >= min && length <= max) return undefined
  return { type: 'length', msg: passwordLengthText.replace('{length}', String(length)) }
}

/** Returns why the password may not be chosen; undefined if it may. Blocks for up to 0.2 s: for commands and tests. */
export function objectionToPassword(
  password: string,
  context: PasswordContext,
): PasswordObjection | undefined {
  return objectionToLength(password) ?? objectionTo(findWeakness(jobOf(password, context)))
}

/** The same check in a thread, for a server, which must not block. Throws `unavailable` if too many requests wait. */
export async function objectionToPasswordInThread(
  password: string,
  context: PasswordContext,
): Promise<PasswordObjection | undefined> {
  return objectionToLength(password) ?? objectionTo(await findWeaknessInThread(jobOf(password, context)))
}

const objectionTo = (weakness: Weakness | undefined): PasswordObjection | undefined =>
  weakness && { type: weakness, msg: messages[weakness] }

const jobOf = (password: string, { email, names }: PasswordContext): StrengthJob => ({
  password: normalisePassword(password),
  personalWords: [...wordsOfEmail(email), ...names.flatMap(wordsOf)],
})

/** Returns the address, its two parts and their words. */
function wordsOfEmail(email: string): string[] {
  const [local = '', domain = ''] = email.split('@')
  return [email, domain, ...wordsOf(local), ...domain.split('.').flatMap(wordsOf)]
}

const separators = ['', ' ', '-', '_', '.']

/** Returns the text, its words of at least three characters, and these words joined. */
function wordsOf(text: string): string[] {
  const words = text.split(/[^\p{L}\p{N}]+/u)
  return [text, ...separators.map((one) => words.join(one)), ...words].filter((word) => [...word].length > 2)
}
