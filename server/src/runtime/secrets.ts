// Values derived from the key ring of the installation: keys by purpose, MACs and sealed values. The ring is newest
// first: the newest key is used for new values and all keys for checks, so that a key can be replaced without failures.
// No key of the ring is ever used directly or logged.
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'

/** The purpose of a derived key. Two purposes never share a key. */
export type Purpose =
  | 'api-token'
  | 'staff-token'
  | 'scim-token'
  | 'source-secret'
  | 'refresh-token'
  | 'signing-key'
  | 'asn-proof'
  | 'domain-proof'
  | 'prefix-proof'
  | 'mail'
  | 'mail-token'
  | 'sign-in'
  | 'totp'
  | 'recovery-code'
  | 'passkey-challenge'
  | 'identity-provider'
  | 'sign-in-flow'
  | 'webhook-secret'
  | 'tsig-key'
  | 'dnssec-key'
  | 'device-credential'
  | 'kept-answer'
  | 'kept-plan'
  | 'audit'
  | 'unsubscribe'
  | 'attachment'
  | 'zone-snapshot'
  | 'agent-routes'
  | 'setup-code'

declare const ringBrand: unique symbol

/** The keys of the installation, newest first, at least one. Created by `createKeyRing` only. */
export type KeyRing = { readonly [ringBrand]: true }

const bytesMin = 32

/** The secrets behind a ring; stored separately so that logging or serialising a ring does not reveal them. */
const keysOf = new WeakMap<KeyRing, readonly Buffer[]>()
const derived = new WeakMap<KeyRing, Map<Purpose, readonly DerivedKey[]>>()

export type DerivedKey = { readonly id: string; readonly key: Buffer }

/** Creates a ring of these secrets, newest first. Throws if a secret has fewer than 32 bytes, or is given twice. */
export function createKeyRing(secrets: readonly string[]): KeyRing {
  if (secrets.length === 0) throw new Error('the key ring is empty')
  const keys = secrets.map((secret) => Buffer.from(secret, 'utf8'))
  const short = keys.findIndex((key) => key.length < bytesMin)
  if (short >= 0) {
    throw new Error(
      `key ${short + 1} of the ring has ${keys[short]!.length} bytes, at least ${bytesMin} are needed`,
    )
  }
  if (new Set(secrets).size !== secrets.length) throw new Error('the key ring contains a key twice')
  const ring = Object.freeze({}) as KeyRing
  keysOf.set(ring, keys)
  return ring
}

/** Returns the key of a purpose for new values: HKDF-SHA256, 32 bytes. */
export function deriveKey(ring: KeyRing, purpose: Purpose): Buffer {
  return deriveKeys(ring, purpose)[0]!.key
}

/**
 * The keys of a purpose, newest first, each with an id of 4 bytes (8 hexadecimal digits) that identifies the key of a
 * value without revealing it.
 */
export function deriveKeys(ring: KeyRing, purpose: Purpose): readonly DerivedKey[] {
  let purposes = derived.get(ring)
  if (!purposes) derived.set(ring, (purposes = new Map()))
  let keys = purposes.get(purpose)
  if (!keys) purposes.set(purpose, (keys = secretsOf(ring).map((secret) => deriveOne(secret, purpose))))
  return keys
}

function secretsOf(ring: KeyRing): readonly Buffer[] {
  const keys = keysOf.get(ring)
  if (!keys) throw new TypeError('not a key ring')
  return keys
}

function deriveOne(secret: Buffer, purpose: Purpose): DerivedKey {
  const bytes = Buffer.from(hkdfSync('sha256', secret, 'pharos', `v1 ${purpose}`, 36))
  return { id: bytes.subarray(32).toString('hex'), key: bytes.subarray(0, 32) }
}

/** Returns the HMAC-SHA256 of the value under the newest key of the purpose, 32 bytes, for storage. */
export function mac(ring: KeyRing, purpose: Purpose, value: string | Uint8Array): Buffer {
  return macUnder(deriveKey(ring, purpose), value)
}

/** Whether any key of the ring produced this MAC of the value. Takes the same time for every result. */
export function verifyMac(
  ring: KeyRing,
  purpose: Purpose,
  value: string | Uint8Array,
  stored: Uint8Array,
): boolean {
  let matches = false
  for (const { key } of deriveKeys(ring, purpose)) {
    if (equalBytes(macUnder(key, value), stored)) matches = true
  }
  return matches
}

function macUnder(key: Buffer, value: string | Uint8Array): Buffer {
  return createHmac('sha256', key).update(value).digest()
}

/** Compares in constant time; different lengths are different. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}

// A sealed value: version 1, key id (4 bytes), nonce (12), tag (16), ciphertext.
const version = 1
const nonceBytes = 12
const tagBytes = 16
const headBytes = 1 + 4 + nonceBytes + tagBytes

/**
 * Encrypts under the newest key of the purpose, AES-256-GCM. `context`, such as the id of the row, is bound to the value without being
 * stored: a value that was moved to another row does not decrypt.
 */
export function seal(ring: KeyRing, purpose: Purpose, plain: Uint8Array, context = ''): Buffer {
  const { id, key } = deriveKeys(ring, purpose)[0]!
  const nonce = randomBytes(nonceBytes)
  const head = Buffer.concat([Buffer.of(version), Buffer.from(id, 'hex')])
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(Buffer.concat([head, Buffer.from(context, 'utf8')]))
  const body = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([head, nonce, cipher.getAuthTag(), body])
}

/** Decrypts a value sealed under any key of the ring. Throws if it was changed or its key is not in the ring. */
export function open(ring: KeyRing, purpose: Purpose, sealed: Uint8Array, context = ''): Buffer {
  const bytes = Buffer.from(sealed)
  if (bytes.length < headBytes || bytes[0] !== version) throw new Error('this is not a sealed value')
  const head = bytes.subarray(0, 5)
  const id = keyIdOf(bytes)
  const found = deriveKeys(ring, purpose).find((key) => key.id === id)
  if (!found) throw new Error(`the value was sealed under key ${id}, which is not in PHAROS_SECRET`)
  const nonce = bytes.subarray(5, 5 + nonceBytes)
  const decipher = createDecipheriv('aes-256-gcm', found.key, nonce, { authTagLength: tagBytes })
  decipher.setAAD(Buffer.concat([head, Buffer.from(context, 'utf8')]))
  decipher.setAuthTag(bytes.subarray(5 + nonceBytes, headBytes))
  return Buffer.concat([decipher.update(bytes.subarray(headBytes)), decipher.final()])
}

/** Whether the value was sealed under the newest key; if not, it should be sealed again. */
export function isSealedUnderNewest(ring: KeyRing, purpose: Purpose, sealed: Uint8Array): boolean {
  return keyIdOf(sealed) === deriveKeys(ring, purpose)[0]!.id
}

/** The id of the key that a value was sealed under. */
export const keyIdOf = (sealed: Uint8Array): string => Buffer.from(sealed).subarray(1, 5).toString('hex')
