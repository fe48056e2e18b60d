// Record sets as octets, for the columns of dns_versions and dns_transfers: each set is its name in wire format, type (2 octets), TTL (4),
// number of records (2), and each record with its length (2) before it. In a signed zone each set is followed by its RRSIG records as a set.
import { nameFromWire, nameLengthMax, skipName, writeName } from '../../net/dns/name.ts'
import type { Rrset, SignedRrset } from '../../net/dns/record.ts'
import { recordType } from '../../net/dns/type.ts'

const headerLength = 8

/** Encodes sets in their order. */
export function encodeRrsets(sets: readonly Rrset[]): Buffer {
  const length = sets.reduce(
    (sum, { rdata }) =>
      sum + nameLengthMax + headerLength + rdata.reduce((octets, one) => octets + 2 + one.length, 0),
    0,
  )
  const octets = Buffer.allocUnsafe(length)
  let at = 0
  for (const { name, type, ttl, rdata } of sets) {
    at = writeName(name, octets, at)
    at = octets.writeUInt16BE(type, at)
    at = octets.writeUInt32BE(ttl, at)
    at = octets.writeUInt16BE(rdata.length, at)
    for (const one of rdata) {
      at = octets.writeUInt16BE(one.length, at)
      octets.set(one, at)
      at += one.length
    }
  }
  return octets.subarray(0, at)
}

/** Decodes the output of `encodeRrsets`. Throws RangeError for any other input. */
export function decodeRrsets(octets: Uint8Array): Rrset[] {
  const view = Buffer.from(octets.buffer, octets.byteOffset, octets.length)
  const sets: Rrset[] = []
  for (let at = 0; at < view.length;) {
    const end = skipName(view, at, view.length)
    if (end < 0) throw new RangeError('not a list of record sets: the name is malformed')
    const name = nameFromWire(view, at)
    const [type, ttl, count] = [
      view.readUInt16BE(end),
      view.readUInt32BE(end + 2),
      view.readUInt16BE(end + 6),
    ]
    at = end + headerLength
    const rdata: Uint8Array[] = []
    for (let i = 0; i < count; i++) {
      const length = view.readUInt16BE(at)
      const start = at + 2
      at = start + length
      if (at > view.length) throw new RangeError('not a list of record sets: a record is cut off')
      rdata.push(new Uint8Array(view.subarray(start, at)))
    }
    sets.push({ name, type, ttl, rdata })
  }
  return sets
}

/** Encodes sets with their signatures. */
export function encodeSignedRrsets(sets: readonly SignedRrset[]): Buffer {
  return encodeRrsets(
    sets.flatMap((set) =>
      set.rrsig.length === 0 ? [set] : [set, { ...set, type: recordType.RRSIG, rdata: set.rrsig }],
    ),
  )
}

/** Decodes the output of `encodeSignedRrsets`. Throws RangeError for any other input. */
export function decodeSignedRrsets(octets: Uint8Array): SignedRrset[] {
  const sets: SignedRrset[] = []
  for (const set of decodeRrsets(octets)) {
    if (set.type !== recordType.RRSIG) sets.push({ ...set, rrsig: [] })
    else sets.push({ ...sets.pop()!, rrsig: set.rdata })
  }
  return sets
}
