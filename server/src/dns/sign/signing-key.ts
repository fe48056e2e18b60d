// A signing key: its public record, its private part, and the sets that it signs. Created here, or imported from files
// of BIND or OpenSSL.
import { createPrivateKey as parsePrivateKey, type KeyObject } from 'node:crypto'
import {
  createPrivateKey,
  createSignature,
  decodePublicKey,
  encodePublicKey,
  isAlgorithm,
  verifySignature,
  type Algorithm,
} from './algorithm.ts'
import { decodeDnskey, encodeDnskey, keyFlags, keyTagOf } from './dnskey.ts'

/** A CSK signs everything; a KSK the sets DNSKEY, CDS and CDNSKEY; a ZSK everything else. */
export type KeyKind = 'csk' | 'ksk' | 'zsk'

export type SigningKey = {
  readonly kind: KeyKind
  readonly algorithm: Algorithm
  /** Unique among the keys of a zone and algorithm: a signature names its key by both. */
  readonly tag: number
  /** Data of the DNSKEY record. */
  readonly dnskey: Uint8Array
  readonly privateKey: KeyObject
}

/**
 * Returns a new key whose tag is not in `taken`, so that a validator never tries two keys for a signature. Throws
 * RangeError for algorithm 8.
 */
export function createSigningKey(
  algorithm: Algorithm,
  kind: KeyKind,
  taken: readonly number[] = [],
): SigningKey {
  for (;;) {
    const key = signingKeyOf(algorithm, kind, createPrivateKey(algorithm))
    if (!taken.includes(key.tag)) return key
  }
}

/** Returns the signing key of a private key. Throws if the private key has another algorithm. */
function signingKeyOf(algorithm: Algorithm, kind: KeyKind, privateKey: KeyObject): SigningKey {
  const flags = keyFlags.zone | (kind === 'zsk' ? 0 : keyFlags.secureEntryPoint)
  const dnskey = encodeDnskey({ flags, algorithm, publicKey: encodePublicKey(algorithm, privateKey) })
  return { kind, algorithm, tag: keyTagOf(dnskey), dnskey, privateKey }
}

export type ImportReason = 'algorithm' | 'flags' | 'private_key' | 'mismatch' | 'weak'

/** Why a key was not imported. `message` is public text and never repeats the key. */
export class KeyImportError extends Error {
  readonly reason: ImportReason

  constructor(reason: ImportReason, message: string) {
    super(message)
    this.name = 'KeyImportError'
    this.reason = reason
  }
}

/** RFC 5702 section 2.1 allows from 512 bits; below 2048 a key can be factored in the lifetime of a zone. */
const rsaBitsMin = 2048

/**
 * Returns the key of a DNSKEY record's data and its private key: PKCS #8 in PEM, or the text of BIND's `.private` file (v1.x).
 * Throws KeyImportError, also if the two do not belong together.
 */
export function importSigningKey(kind: KeyKind, dnskey: Uint8Array, privateText: string): SigningKey {
  const { algorithm, publicKey, flags } = decodeDnskey(dnskey)
  if (!isAlgorithm(algorithm))
    throw new KeyImportError('algorithm', `algorithm ${algorithm} is not supported: use 8, 13, 14 or 15`)
  if ((flags & keyFlags.zone) === 0 || (flags & keyFlags.revoke) !== 0)
    throw new KeyImportError('flags', `the key has flags ${flags}: use 257 or 256`)
  const privateKey = readPrivateKey(algorithm, publicKey, privateText)
  if (algorithm === 8 && (privateKey.asymmetricKeyDetails?.modulusLength ?? 0) < rsaBitsMin)
    throw new KeyImportError('weak', `an RSA key needs at least ${rsaBitsMin} bits`)
  if (!belongsTo(algorithm, publicKey, privateKey))
    throw new KeyImportError('mismatch', 'the private key does not belong to the DNSKEY record')
  return { kind, algorithm, tag: keyTagOf(dnskey), dnskey: Uint8Array.from(dnskey), privateKey }
}

/** Verifies by a signature: a file may contain the public part of another key. */
function belongsTo(algorithm: Algorithm, publicKey: Uint8Array, privateKey: KeyObject): boolean {
  const octets = Buffer.from('key check')
  try {
    const signature = createSignature(algorithm, privateKey, octets)
    return verifySignature(algorithm, decodePublicKey(algorithm, publicKey), octets, signature)
  } catch {
    return false
  }
}

function readPrivateKey(algorithm: Algorithm, publicKey: Uint8Array, text: string): KeyObject {
  try {
    return text.includes('-----BEGIN')
      ? parsePrivateKey(text)
      : parsePrivateKey({ key: readBindKey(algorithm, publicKey, text), format: 'jwk' })
  } catch {
    throw new KeyImportError(
      'private_key',
      'the private key could not be read, or is not that of the DNSKEY record: give PKCS #8 in PEM, or the content of a .private file of BIND',
    )
  }
}

/** The fields of an RSA key in a `.private` file, by the names of JSON Web Keys. */
const rsaFields = {
  n: 'Modulus',
  e: 'PublicExponent',
  d: 'PrivateExponent',
  p: 'Prime1',
  q: 'Prime2',
  dp: 'Exponent1',
  dq: 'Exponent2',
  qi: 'Coefficient',
}

function readBindKey(algorithm: Algorithm, publicKey: Uint8Array, text: string): Record<string, unknown> {
  const fields = new Map([...text.matchAll(/^(\w+):\s*(\S+)/gm)].map(([, name, value]) => [name, value]))
  const valueOf = (name: string): string => Buffer.from(fields.get(name)!, 'base64').toString('base64url')
  const known = decodePublicKey(algorithm, publicKey).export({ format: 'jwk' })
  if (algorithm !== 8) return { ...known, d: valueOf('PrivateKey') }
  const entries = Object.entries(rsaFields).map(([field, name]) => [field, valueOf(name)])
  return { kty: 'RSA', ...Object.fromEntries(entries) }
}
