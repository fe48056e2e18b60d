// Resource records and record sets as values. Record data is always uncompressed wire format; text exists only at the edges.
import { compareOctets } from './name.ts'
import type { DomainName } from './name.ts'
import { recordClass } from './type.ts'

/** One record, as in a message: also OPT and the classes of UPDATE. */
export type ResourceRecord = {
  readonly name: DomainName
  readonly type: number
  readonly class: number
  /** Seconds. */
  readonly ttl: number
  readonly rdata: Uint8Array
}

/** The records of one name and type in class IN. `rdata` has no duplicates; its order has no meaning. */
export type Rrset = {
  readonly name: DomainName
  readonly type: number
  /** Seconds, 0 to 2147483647 (RFC 2181 section 8). */
  readonly ttl: number
  readonly rdata: readonly Uint8Array[]
}

/** A record set with the data of its RRSIG records; without signatures for delegations, glue and occluded names. */
export type SignedRrset = Rrset & { readonly rrsig: readonly Uint8Array[] }

export const ttlMax = 2_147_483_647

/** Returns the records of a set, in its order. */
export function recordsOf({ name, type, ttl, rdata }: Rrset): ResourceRecord[] {
  return rdata.map((rdata) => ({ name, type, class: recordClass.IN, ttl, rdata }))
}

/**
 * Collects records of class IN into sets, in the order of their first record. Records with equal octets are taken once. The TTL of a set is
 * the smallest of its records (RFC 2181 section 5.2).
 */
export function collectRrsets(records: Iterable<ResourceRecord>): Rrset[] {
  const sets = new Map<string, { name: DomainName; type: number; ttl: number; rdata: Uint8Array[] }>()
  for (const { name, type, ttl, rdata } of records) {
    const key = `${type} ${name}`
    const set = sets.get(key)
    if (set === undefined) sets.set(key, { name, type, ttl, rdata: [rdata] })
    else {
      set.ttl = Math.min(set.ttl, ttl)
      set.rdata.push(rdata)
    }
  }
  for (const set of sets.values()) set.rdata = uniqueRdata(set.rdata)
  return [...sets.values()]
}

/** Returns the data without repetitions, in the order of their first occurrence. */
export function uniqueRdata(rdata: readonly Uint8Array[]): Uint8Array[] {
  if (rdata.length < 2) return [...rdata]
  const seen = new Set<string>()
  return rdata.filter((octets) => {
    const key = Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString('latin1')
    return !seen.has(key) && seen.add(key)
  })
}

/** Returns whether both lists contain the same data in any order. Neither has duplicates. */
export function sameRdata(a: readonly Uint8Array[], b: readonly Uint8Array[]): boolean {
  if (a.length !== b.length) return false
  const [left, right] = [[...a].sort(compareOctets), [...b].sort(compareOctets)]
  return left.every((octets, i) => compareOctets(octets, right[i]!) === 0)
}
