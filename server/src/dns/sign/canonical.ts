// The canonical form of record sets (RFC 4034 section 6), over which signatures are made and in which chains are ordered.
import { compareOctets, nameToWire } from '../../net/dns/name.ts'
import { canonicalRdata } from '../../net/dns/rdata/rdata.ts'
import type { Rrset } from '../../net/dns/record.ts'
import { recordClass } from '../../net/dns/type.ts'

/** Returns the data of a set in canonical form and order, without duplicates (RFC 4034 section 6.3). */
function canonicalData({ type, rdata }: Rrset): readonly Uint8Array[] {
  if (rdata.length === 1) return [canonicalRdata(type, rdata[0]!)]
  const sorted = rdata.map((octets) => canonicalRdata(type, octets)).sort(compareOctets)
  return sorted.filter((octets, i) => i === 0 || compareOctets(octets, sorted[i - 1]!) !== 0)
}

/**
 * Returns the signed octets (RFC 4034 section 3.1.8.1): the RRSIG's data without its signature, then each record in
 * canonical form with the TTL of the set.
 */
export function signedOctets(head: Uint8Array, rrset: Rrset): Buffer {
  const owner = nameToWire(rrset.name)
  const data = canonicalData(rrset)
  const fixed = owner.length + 10
  const size = data.reduce((sum, octets) => sum + fixed + octets.length, head.length)
  const buffer = Buffer.allocUnsafe(size)
  buffer.set(head, 0)
  let at = head.length
  for (const octets of data) {
    buffer.set(owner, at)
    at = buffer.writeUInt16BE(rrset.type, at + owner.length)
    at = buffer.writeUInt16BE(recordClass.IN, at)
    at = buffer.writeUInt32BE(rrset.ttl, at)
    at = buffer.writeUInt16BE(octets.length, at)
    buffer.set(octets, at)
    at += octets.length
  }
  return buffer
}
