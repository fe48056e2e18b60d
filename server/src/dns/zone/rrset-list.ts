// Record sets as one octet string, for the journal (`dns_versions`) and the steps of IXFR (`dns_transfers`). Each set is its name in wire format,
// type (16 bits), TTL (32), the number of records (16), and each record with its length (16).
import { nameFromWire, nameToWire, skipName } from '../../net/dns/name.ts'
import type { Rrset, SignedRrset } from '../../net/dns/record.ts'
import { recordType } from '../../net/dns/type.ts'

/** Encodes sets in their order. */
export function encodeRrsets(sets: Iterable<Rrset>): Buffer {
  const parts: Uint8Array[] = []
  for (const { name, type, ttl, rdata } of sets) {
    const head = Buffer.alloc(8)
    head.writeUInt16BE(type, 0)
    head.writeUInt32BE(ttl, 2)
    head.writeUInt16BE(rdata.length, 6)
    parts.push(nameToWire(name), head)
    for (const octets of rdata) parts.push(Uint8Array.of(octets.length >> 8, octets.length), octets)
  }
  return Buffer.concat(parts)
}

/** Decodes what `encodeRrsets` returned. Throws RangeError if it is something else. */
export function decodeRrsets(octets: Uint8Array): Rrset[] {
  const bytes = Buffer.from(octets.buffer, octets.byteOffset, octets.length)
  const sets: Rrset[] = []
  for (let at = 0; at < bytes.length;) {
    const end = skipName(bytes, at, bytes.length)
    if (end < 0) throw new RangeError('not a list of record sets')
    const name = nameFromWire(bytes, at)
    const count = bytes.readUInt16BE(end + 6)
    const rdata: Uint8Array[] = []
    let next = end + 8
    for (let i = 0; i < count; i++) {
      const start = next + 2
      next = start + bytes.readUInt16BE(next)
      if (next > bytes.length) throw new RangeError('not a list of record sets')
      rdata.push(Uint8Array.from(bytes.subarray(start, next)))
    }
    sets.push({ name, type: bytes.readUInt16BE(end), ttl: bytes.readUInt32BE(end + 2), rdata })
    at = next
  }
  return sets
}

/** Encodes sets with their signatures: each set is followed by its RRSIG records as a set. */
export function encodeSignedRrsets(sets: Iterable<SignedRrset>): Buffer {
  return encodeRrsets(
    [...sets].flatMap((set) =>
      set.rrsig.length === 0 ? [set] : [set, { ...set, type: recordType.RRSIG, rdata: set.rrsig }],
    ),
  )
}

/** Decodes what `encodeSignedRrsets` returned. Throws RangeError if it is something else. */
export function decodeSignedRrsets(octets: Uint8Array): SignedRrset[] {
  const sets: SignedRrset[] = []
  for (const set of decodeRrsets(octets)) {
    if (set.type !== recordType.RRSIG) sets.push({ ...set, rrsig: [] })
    else sets.push({ ...sets.pop()!, rrsig: set.rdata })
  }
  return sets
}
