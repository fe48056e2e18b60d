// RRSIG records (RFC 4034 section 3): which keys sign a set, for how long, and which existing signatures are kept.
import { countLabels, isWildcard, nameFromWire, nameToWire, type ZoneName } from '../../net/dns/name.ts'
import { sameRdata, type Rrset, type SignedRrset } from '../../net/dns/record.ts'
import { recordType } from '../../net/dns/type.ts'
import { createSignature, decodePublicKey, isAlgorithm, verifySignature } from './algorithm.ts'
import { signedOctets } from './canonical.ts'
import { decodeDnskey, keyTagOf } from './dnskey.ts'
import type { SigningKey } from './signing-key.ts'

const day = 86_400

/** Seconds. */
export type SignatureTimes = {
  /** Seconds from now to the expiration, before `jitter` is subtracted. */
  readonly validity: number
  /** A signature with less than this left is renewed. */
  readonly renewal: number
  /** Spreads the expirations of sets over this time, so that they are not all renewed together. */
  readonly jitter: number
  /** The inception is this long ago, for validators whose clock is behind. */
  readonly backdate: number
}

/** The renewal equals the SOA expire: without the signer a zone is served as long as its signatures are valid. */
export const defaultTimes: SignatureTimes = {
  validity: 21 * day,
  renewal: 14 * day,
  jitter: 3 * day,
  backdate: 3600,
}

/** The parameters of signing a zone. */
export type SignatureSettings = {
  readonly zone: ZoneName
  /** The keys that sign. Each algorithm has a CSK, or a KSK and a ZSK (RFC 4035 section 2.2). */
  readonly keys: readonly SigningKey[]
  readonly denial: 'nsec' | 'nsec3'
  /** Unix time in seconds. */
  readonly now: number
  readonly times: SignatureTimes
}

export type Rrsig = {
  readonly typeCovered: number
  readonly algorithm: number
  readonly labels: number
  readonly originalTtl: number
  /** Unix time in seconds modulo 2^32 (RFC 4034 section 3.1.5). */
  readonly expiration: number
  readonly inception: number
  readonly keyTag: number
  readonly signer: ZoneName
  readonly signature: Uint8Array
}

/** Octets before the name of the signer. */
const fixedOctets = 18

/** Reads the data of an RRSIG record. Throws NameError or RangeError if it is malformed. */
export function decodeRrsig(rdata: Uint8Array): Rrsig {
  const view = new DataView(rdata.buffer, rdata.byteOffset, rdata.length)
  const signer = nameFromWire(rdata, fixedOctets) as ZoneName
  return {
    typeCovered: view.getUint16(0),
    algorithm: view.getUint8(2),
    labels: view.getUint8(3),
    originalTtl: view.getUint32(4),
    expiration: view.getUint32(8),
    inception: view.getUint32(12),
    keyTag: view.getUint16(16),
    signer,
    signature: rdata.subarray(fixedOctets + nameToWire(signer).length),
  }
}

/** The sets that a KSK signs; RFC 7344 section 4.1 wants CDS and CDNSKEY signed like DNSKEY. */
const keyTypes: ReadonlySet<number> = new Set([recordType.DNSKEY, recordType.CDS, recordType.CDNSKEY])

/** Returns the keys that sign sets of this type. */
export function keysFor(
  { keys, zone }: SignatureSettings,
  { type, name }: Pick<Rrset, 'type' | 'name'>,
): SigningKey[] {
  const isKeySet = name === zone && keyTypes.has(type)
  return keys.filter(({ kind }) => kind === 'csk' || (kind === 'ksk') === isKeySet)
}

/**
 * Returns the set with its signatures. Signatures of `previous` stay if they cover the same data and are not due for
 * renewal; the others are made. Throws RangeError if no key signs the set: without signatures it would be bogus.
 */
export function signRrset(signing: SignatureSettings, rrset: Rrset, previous?: SignedRrset): SignedRrset {
  const { name, type, ttl, rdata } = rrset
  const kept =
    previous && coversSame(previous, rrset) ? previous.rrsig.filter((octets) => isFresh(signing, octets)) : []
  const keys = keysFor(signing, rrset)
  if (keys.length === 0) throw new RangeError(`no key signs type ${type}`)
  const rrsig = keys.map(
    (key) => kept.find((octets) => isBy(octets, key)) ?? createRrsig(signing, rrset, key),
  )
  return { name, type, ttl, rdata, rrsig }
}

const coversSame = (a: Rrset, b: Rrset): boolean => a.ttl === b.ttl && sameRdata(a.rdata, b.rdata)

const uint32 = (octets: Uint8Array, at: number): number =>
  ((octets[at]! << 24) | (octets[at + 1]! << 16) | (octets[at + 2]! << 8) | octets[at + 3]!) >>> 0

/** Returns whether the RRSIG names this key. */
export const isBy = (rrsig: Uint8Array, { algorithm, tag }: Pick<SigningKey, 'algorithm' | 'tag'>): boolean =>
  rrsig[2] === algorithm && rrsig[16] === tag >> 8 && rrsig[17] === (tag & 255)

const isFresh = ({ now, times }: SignatureSettings, rrsig: Uint8Array): boolean =>
  secondsLeft(rrsig, now) >= times.renewal

/** Returns the seconds until the RRSIG expires, by serial arithmetic (RFC 4034 section 3.1.5); negative afterwards. */
export const secondsLeft = (rrsig: Uint8Array, now: number): number =>
  (uint32(rrsig, 8) - Math.floor(now)) | 0

/** Returns when the first signature of the set expires, in Unix seconds; undefined if the set is unsigned. */
export function expirationOf({ rrsig }: SignedRrset, now: number): number | undefined {
  if (rrsig.length === 0) return undefined
  return Math.floor(now) + Math.min(...rrsig.map((octets) => secondsLeft(octets, now)))
}

function createRrsig(
  signing: SignatureSettings,
  rrset: Rrset,
  { algorithm, tag, privateKey }: SigningKey,
): Uint8Array {
  const { zone, times } = signing
  const now = Math.floor(signing.now)
  const signer = wireOf(zone)
  const head = Buffer.alloc(fixedOctets + signer.length)
  head.writeUInt16BE(rrset.type, 0)
  head[2] = algorithm
  head[3] = countLabels(rrset.name) - (isWildcard(rrset.name) ? 1 : 0)
  head.writeUInt32BE(rrset.ttl, 4)
  head.writeUInt32BE((now + times.validity - spread(rrset, times.jitter)) >>> 0, 8)
  head.writeUInt32BE((now - times.backdate) >>> 0, 12)
  head.writeUInt16BE(tag, 16)
  head.set(signer, fixedOctets)
  const signature = createSignature(algorithm, privateKey, signedOctets(head, rrset))
  const rdata = new Uint8Array(head.length + signature.length)
  rdata.set(head, 0)
  rdata.set(signature, head.length)
  return rdata
}

let lastZone: ZoneName | undefined
let lastWire = new Uint8Array()

/** The zone is the same for every signature of a run. */
function wireOf(zone: ZoneName): Uint8Array {
  if (zone !== lastZone) [lastZone, lastWire] = [zone, Uint8Array.from(nameToWire(zone))]
  return lastWire
}

/** Returns a number of seconds below `jitter` that depends on name and type only. FNV-1a is enough to spread. */
function spread({ name, type }: Rrset, jitter: number): number {
  let hash = (2_166_136_261 ^ type) >>> 0
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 16_777_619) >>> 0
  return jitter <= 0 ? 0 : hash % jitter
}

/** Returns whether any of these DNSKEY records makes a signature of the set valid now (RFC 4035 section 5.3). */
export function isValidRrset(rrset: SignedRrset, dnskeys: readonly Uint8Array[], now: number): boolean {
  return rrset.rrsig.some((rdata) =>
    dnskeys.some((dnskey) => isValidRrsig(rrset, rdata, dnskey, Math.floor(now))),
  )
}

function isValidRrsig(rrset: SignedRrset, rdata: Uint8Array, dnskey: Uint8Array, now: number): boolean {
  const { algorithm, publicKey } = decodeDnskey(dnskey)
  if (!isAlgorithm(algorithm) || !isBy(rdata, { algorithm, tag: keyTagOf(dnskey) })) return false
  const { signature, inception, originalTtl } = decodeRrsig(rdata)
  if (secondsLeft(rdata, now) < 0 || ((now - inception) | 0) < 0) return false
  const head = rdata.subarray(0, rdata.length - signature.length)
  const octets = signedOctets(head, { ...rrset, ttl: originalTtl })
  return verifySignature(algorithm, decodePublicKey(algorithm, publicKey), octets, signature)
}
