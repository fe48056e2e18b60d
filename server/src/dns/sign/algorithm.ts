// DNSSEC algorithms by their number: creating keys, their public form in DNSKEY records, and signatures in the form of RRSIG
// records. Node's crypto does the arithmetic.
import { createPublicKey, generateKeyPairSync, sign, verify, type KeyObject } from 'node:crypto'

/** Numbers of the IANA registry. 13 is the default; 8 only for imported keys (RFC 8624 section 3.1, RFC 9364). */
export const algorithmNames = {
  8: 'RSASHA256',
  13: 'ECDSAP256SHA256',
  14: 'ECDSAP384SHA384',
  15: 'ED25519',
} as const

export type Algorithm = keyof typeof algorithmNames

/** Whether Pharos signs with the algorithm of this number. */
export const isAlgorithm = (value: number): value is Algorithm => Object.hasOwn(algorithmNames, value)

/** A JSON Web Key (RFC 7517) as Node exports it. */
type Jwk = { readonly [Field in 'kty' | 'crv' | 'x' | 'y' | 'e' | 'n']?: string }

type Form = {
  readonly hash: string | null
  /** Creates a key pair; undefined if keys of this algorithm are only imported. */
  readonly create?: () => { readonly privateKey: KeyObject }
  /** Returns the public key field of a DNSKEY record. */
  readonly encode: (jwk: Jwk) => Buffer
  /** Inverse of `encode`. Throws RangeError if the length is wrong. */
  readonly decode: (bytes: Uint8Array) => Jwk
}

const bytesOf = (text: string | undefined): Buffer => Buffer.from(text!, 'base64url')
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')

/** RFC 6605 section 4: both coordinates, without the octet that OpenSSL puts before them. */
const ecdsa = (hash: string, namedCurve: string, crv: string, size: number): Form => ({
  hash,
  create: () => generateKeyPairSync('ec', { namedCurve }),
  encode: ({ x, y }) => Buffer.concat([bytesOf(x), bytesOf(y)]),
  decode: (bytes) => {
    requireLength(bytes, 2 * size)
    return { kty: 'EC', crv, x: textOf(bytes.subarray(0, size)), y: textOf(bytes.subarray(size)) }
  },
})

const forms: Record<Algorithm, Form> = {
  8: { hash: 'sha256', encode: encodeRsa, decode: decodeRsa },
  13: ecdsa('sha256', 'P-256', 'P-256', 32),
  14: ecdsa('sha384', 'P-384', 'P-384', 48),
  // RFC 8080 section 3.
  15: {
    hash: null,
    create: () => generateKeyPairSync('ed25519'),
    encode: ({ x }) => bytesOf(x),
    decode: (bytes) => {
      requireLength(bytes, 32)
      return { kty: 'OKP', crv: 'Ed25519', x: textOf(bytes) }
    },
  },
}

/** RFC 3110 section 2: length of the exponent in one or three octets, exponent, modulus. */
function encodeRsa({ e, n }: Jwk): Buffer {
  const exponent = bytesOf(e)
  const { length } = exponent
  const head = length < 256 ? Buffer.of(length) : Buffer.of(0, length >> 8, length & 255)
  return Buffer.concat([head, exponent, bytesOf(n)])
}

function decodeRsa(bytes: Uint8Array): Jwk {
  const long = bytes[0] === 0
  const from = long ? 3 : 1
  const to = from + (long ? ((bytes[1] ?? 0) << 8) | (bytes[2] ?? 0) : (bytes[0] ?? 0))
  if (to === from || bytes.length <= to) throw new RangeError('the RSA key is too short')
  return { kty: 'RSA', e: textOf(bytes.subarray(from, to)), n: textOf(bytes.subarray(to)) }
}

function requireLength(bytes: Uint8Array, length: number): void {
  if (bytes.length !== length)
    throw new RangeError(`the public key has ${bytes.length} octets, not ${length}`)
}

/** Returns a new private key. Throws RangeError for an algorithm whose keys are only imported. */
export function createPrivateKey(algorithm: Algorithm): KeyObject {
  const { create } = forms[algorithm]
  if (!create) throw new RangeError(`keys of algorithm ${algorithm} can only be imported`)
  return create().privateKey
}

/** Returns the public key field of the DNSKEY record of a private or public key. */
export function encodePublicKey(algorithm: Algorithm, key: KeyObject): Buffer {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key
  return forms[algorithm].encode(publicKey.export({ format: 'jwk' }))
}

/** Reads the public key field of a DNSKEY record. Throws if it is no key of the algorithm. */
export const decodePublicKey = (algorithm: Algorithm, bytes: Uint8Array): KeyObject =>
  createPublicKey({ key: forms[algorithm].decode(bytes), format: 'jwk' })

/** Returns the signature field of an RRSIG record over the octets. */
export const createSignature = (algorithm: Algorithm, key: KeyObject, octets: Uint8Array): Buffer =>
  sign(forms[algorithm].hash, octets, { key, dsaEncoding: 'ieee-p1363' })

/** Verifies the signature field of an RRSIG record over the octets. */
export const verifySignature = (
  algorithm: Algorithm,
  key: KeyObject,
  octets: Uint8Array,
  signature: Uint8Array,
): boolean => verify(forms[algorithm].hash, octets, { key, dsaEncoding: 'ieee-p1363' }, signature)
