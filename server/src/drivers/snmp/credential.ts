// The credential of a device and its rules. It never appears in an answer, a log or an error.

/** Passwords of `v3` have 8 characters or more (RFC 3414 section 11.2); `privacyPassword` is empty with privacy `none`. */
export type SnmpCredential =
  | { readonly kind: 'v2c'; readonly community: string }
  | {
      readonly kind: 'v3'
      readonly user: string
      readonly auth: AuthProtocol
      readonly authPassword: string
      readonly privacy: PrivacyProtocol
      readonly privacyPassword: string
    }
export type V3Credential = Extract<SnmpCredential, { kind: 'v3' }>

/** RFC 3414 and RFC 7860. */
export const authProtocols = ['sha1', 'sha224', 'sha256', 'sha384', 'sha512'] as const
export type AuthProtocol = (typeof authProtocols)[number]

/**
 * `aes128` is RFC 3826. The two ways to extend a short key to 256 bits are drafts: `aes256` (Blumenthal) and `aes256-reeder`, which
 * Cisco uses. They are the same with a hash of 256 bits or more.
 */
export const privacyProtocols = ['none', 'aes128', 'aes256', 'aes256-reeder'] as const
export type PrivacyProtocol = (typeof privacyProtocols)[number]

/** Protocols that devices have and this driver refuses. */
const refused: Record<string, string> = {
  md5: 'HMAC-MD5 is refused: use sha1 or stronger.',
  des: 'DES is refused: current OpenSSL has no support for it. Use aes128 or stronger.',
  '3des': '3DES is refused: use aes128 or stronger.',
  aes192: 'AES with 192 bits is not supported: use aes128 or aes256.',
}

/** The other way to extend the key; undefined if there is none. */
export function otherKeyExtension(credential: V3Credential): V3Credential | undefined {
  const isLong = !['sha1', 'sha224'].includes(credential.auth)
  if (isLong || !credential.privacy.startsWith('aes256')) return undefined
  return { ...credential, privacy: credential.privacy === 'aes256' ? 'aes256-reeder' : 'aes256' }
}

export type CredentialProblem = { readonly field: string; readonly message: string }

/** Returns every problem of a credential that was read from a file; an empty list: it is a `SnmpCredential`. */
export function findCredentialProblems(value: unknown): readonly CredentialProblem[] {
  const fields = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
  const rules = { v2c: v2cRules, v3: v3Rules }[String(fields['kind'])]
  if (rules === undefined) return [{ field: 'kind', message: 'Must be v2c or v3.' }]
  const unknown = Object.keys(fields)
    .filter((field) => field !== 'kind' && !(field in rules))
    .map((field) => ({ field, message: 'Unknown field.' }))
  const invalid = Object.entries(rules).flatMap(([field, rule]) => {
    const message = rule(fields[field], fields)
    return message === undefined ? [] : [{ field, message }]
  })
  return [...invalid, ...unknown]
}

type Rule = (value: unknown, fields: Record<string, unknown>) => string | undefined

const v2cRules: Record<string, Rule> = { community: (value) => textProblem(value, 1, 255) }

const v3Rules: Record<string, Rule> = {
  user: (value) => textProblem(value, 1, 32),
  auth: (value) => choiceProblem(value, authProtocols),
  authPassword: (value) => textProblem(value, 8, 255),
  privacy: (value) => choiceProblem(value, privacyProtocols),
  privacyPassword: (value, { privacy }) =>
    privacy === 'none'
      ? value === ''
        ? undefined
        : 'Must be empty with privacy none.'
      : textProblem(value, 8, 255),
}

function textProblem(value: unknown, min: number, max: number): string | undefined {
  const isText = typeof value === 'string' && value.length >= min && Buffer.byteLength(value) <= max
  return isText ? undefined : `Must be a text of ${min} to ${max} characters.`
}

function choiceProblem(value: unknown, choices: readonly string[]): string | undefined {
  if (choices.includes(value as string)) return undefined
  return refused[String(value)] ?? `Must be one of ${choices.join(', ')}.`
}
