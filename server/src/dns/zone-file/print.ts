// Prints a zone as a zone file: one record a line, absolute names, SOA first, then the canonical order of names. `named-compilezone` reads back the
// same records.
import { compareOctets, nameKey } from '../../net/dns/name.ts'
import { printRdata } from '../../net/dns/rdata/rdata.ts'
import type { Rrset, SignedRrset } from '../../net/dns/record.ts'
import { recordType, typeName } from '../../net/dns/type.ts'

/** Yields the lines of one set, each with its line break. The signatures of a signed set follow its data. */
function* printRrset(set: Rrset | SignedRrset): Generator<string> {
  const { name, type, ttl } = set
  const start = `${name}\t${ttl}\tIN\t`
  for (const rdata of sorted(set.rdata)) yield `${start}${typeName(type)}\t${printRdata(type, rdata)}\n`
  if ('rrsig' in set)
    for (const rdata of sorted(set.rrsig)) yield `${start}RRSIG\t${printRdata(recordType.RRSIG, rdata)}\n`
}

/**
 * Yields the lines of a zone. Sets may come in any order; sets that the database returns sorted can be printed one by
 * one.
 */
export function* printZoneFile(sets: Iterable<Rrset | SignedRrset>): Generator<string> {
  const keyed = Array.from(sets, (set) => ({ set, key: nameKey(set.name) }))
  keyed.sort(
    (a, b) =>
      Number(b.set.type === recordType.SOA) - Number(a.set.type === recordType.SOA) ||
      compareOctets(a.key, b.key) ||
      a.set.type - b.set.type,
  )
  for (const { set } of keyed) yield* printRrset(set)
}

function sorted(rdata: readonly Uint8Array[]): readonly Uint8Array[] {
  return rdata.length < 2 ? rdata : [...rdata].sort(compareOctets)
}
