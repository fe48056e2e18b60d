// The credential of a device and its rules. It never appears in an answer, a log or an error.

/** RFC 3414 and RFC 7860. */
export const authProtocols = ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'] as const
export type AuthProtocol = (typeof authProtocols)[number]

/**
 * `aes128` is RFC 3826. The two ways to extend a short key to 256 bits are drafts: `aes256b` (Blumenthal) and `aes256r` (Reeder), which
 * Cisco uses. They are the same with a hash of 256 bits or more.
 */
export const privacyProtocols = ['aes128', 'aes256b', 'aes256r'] as const
export type PrivacyProtocol = (typeof privacyProtocols)[number]

/** Privacy needs authentication. A password is empty if its protocol is null, else it has 8 characters or more (RFC 3414). */
export type V3Credential = {
  readonly kind: 'v3'
  readonly user: string
  readonly auth: AuthProtocol | null
  readonly authPassword: string
  readonly privacy: PrivacyProtocol | null
  readonly privacyPassword: string
}
export type SnmpCredential = { readonly kind: 'v2c'; readonly community: string } | V3Credential

/** Returns the same credential with the other way to extend the key; undefined if there is no other way. */
export function withOtherKeyExtension(credential: V3Credential): V3Credential | undefined {
  const { auth, privacy } = credential
  if (privacy === null || privacy === 'aes128' || !['md5', 'sha1', 'sha224'].includes(auth ?? ''))
    return undefined
  return { ...credential, privacy: privacy === 'aes256b' ? 'aes256r' : 'aes256b' }
}

const passwordMin = 8

/** Returns why a credential cannot be used; undefined if it can. Names of protocols that the type excludes are found too. */
export function findCredentialProblem(credential: SnmpCredential): string | undefined {
  if (credential.kind === 'v2c') return credential.community === '' ? 'The community is empty.' : undefined
  const { user, auth, authPassword, privacy, privacyPassword } = credential
  if (user === '' || Buffer.byteLength(user) > 32) return 'The user name must have 1 to 32 octets.'
  if (auth !== null && !authProtocols.includes(auth))
    return `Authentication ${String(auth)} is not supported.`
  if (auth !== null && authPassword.length < passwordMin)
    return `The authentication password has fewer than ${passwordMin} characters.`
  if (privacy === null) return undefined
  if (auth === null) return 'Privacy needs authentication.'
  if (!privacyProtocols.includes(privacy)) return unsupportedPrivacy(privacy)
  return privacyPassword.length < passwordMin
    ? `The privacy password has fewer than ${passwordMin} characters.`
    : undefined
}

function unsupportedPrivacy(name: string): string {
  return /^3?des/i.test(name)
    ? 'DES is not supported: current OpenSSL lacks it, and it is broken. Use aes128 or stronger.'
    : `Privacy ${name} is not supported: use one of ${privacyProtocols.join(', ')}.`
}
