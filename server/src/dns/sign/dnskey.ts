// DNSKEY records and the values derived from them: key tags, DS, CDS and CDNSKEY (RFC 4034, RFC 7344, RFC 8078).
import { createHash } from 'node:crypto'
import { nameToWire, type ZoneName } from '../../net/dns/name.ts'

/** Flags of RFC 4034 section 2.1.1 and RFC 5011: zone key, revoked, secure entry point. */
export const keyFlags = { zone: 0x0100, revoke: 0x0080, secureEntryPoint: 0x0001 } as const

export type Dnskey = {
  readonly flags: number
  readonly algorithm: number
  readonly publicKey: Uint8Array
}

/** Returns the data of the DNSKEY record; its protocol is always 3. */
export const encodeDnskey = ({ flags, algorithm, publicKey }: Dnskey): Uint8Array =>
  Uint8Array.from([flags >> 8, flags & 255, 3, algorithm, ...publicKey])

/** Reads the data of a DNSKEY or CDNSKEY record. Throws RangeError if it is too short or its protocol is not 3. */
export function decodeDnskey(rdata: Uint8Array): Dnskey {
  if (!isDnskey(rdata)) throw new RangeError('not a DNSKEY record')
  return { flags: (rdata[0]! << 8) | rdata[1]!, algorithm: rdata[3]!, publicKey: rdata.subarray(4) }
}

/** Returns whether the rdata is a DNSKEY (RFC 4034 section 2.1): the protocol field must be 3. */
export const isDnskey = (rdata: Uint8Array): boolean => rdata.length >= 5 && rdata[2] === 3

/** Returns the key tag (RFC 4034 appendix B) of a DNSKEY record's data. */
export function keyTagOf(dnskey: Uint8Array): number {
  let sum = 0
  for (let i = 0; i < dnskey.length; i++) sum += i & 1 ? dnskey[i]! : dnskey[i]! << 8
  return (sum + (sum >>> 16)) & 0xffff
}

/** Digest types of DS records that Pharos creates: SHA-256 (RFC 4509) and SHA-384 (RFC 6605). */
export const dsDigests = { 2: 'sha256', 4: 'sha384' } as const
export type DsDigest = keyof typeof dsDigests

/** Returns the data of the DS record, and of the CDS record, for a DNSKEY record's data (RFC 4034 section 5.1.4). */
export function dsOf(zone: ZoneName, dnskey: Uint8Array, digest: DsDigest): Uint8Array {
  const tag = keyTagOf(dnskey)
  const hash = createHash(dsDigests[digest]).update(nameToWire(zone)).update(dnskey).digest()
  return Uint8Array.from([tag >> 8, tag & 255, dnskey[3]!, digest, ...hash])
}

/** Returns whether the DS rdata matches the key; false for a digest that cannot be computed here. */
export function isDsOf(zone: ZoneName, ds: Uint8Array, dnskey: Uint8Array): boolean {
  const digest = ds[3]
  if (digest !== 2 && digest !== 4) return false
  return Buffer.compare(ds, dsOf(zone, dnskey, digest)) === 0
}

/** CDS `0 0 0 00`: requests the removal of the DS at the parent (RFC 8078 section 4). */
export const cdsDelete: Uint8Array = Uint8Array.from([0, 0, 0, 0, 0])

/** CDNSKEY `0 3 0 AA==`: the same for parents that read CDNSKEY. */
export const cdnskeyDelete: Uint8Array = Uint8Array.from([0, 0, 3, 0, 0])

/** Whether the data of a CDS or CDNSKEY record requests the removal. */
export const isDeleteRequest = (rdata: Uint8Array): boolean =>
  Buffer.compare(rdata, cdsDelete) === 0 || Buffer.compare(rdata, cdnskeyDelete) === 0
