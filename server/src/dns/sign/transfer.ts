// Converts changed sets to the records of a transfer: removes and adds only the differences.
import { compareOctets } from '../../net/dns/name.ts'
import type { SignedRrset } from '../../net/dns/record.ts'
import type { ServedChange } from './served-index.ts'

/** Sets that contain only some of the records or signatures of their name and type. */
export type SignedDifference = {
  readonly removed: readonly SignedRrset[]
  readonly added: readonly SignedRrset[]
}

/** Returns the records and signatures that leave and join the zone. All records of a set are replaced if its TTL changes. */
export function differenceOf(changes: Iterable<ServedChange>): SignedDifference {
  const removed: SignedRrset[] = []
  const added: SignedRrset[] = []
  for (const { before, after } of changes) {
    if (before) removed.push(...lacking(before, after))
    if (after) added.push(...lacking(after, before))
  }
  return { removed, added }
}

/** Returns the part of `set` that is not in `other`. */
function lacking(set: SignedRrset, other: SignedRrset | undefined): SignedRrset[] {
  if (!other || other.ttl !== set.ttl) return [set]
  const [rdata, rrsig] = [without(set.rdata, other.rdata), without(set.rrsig, other.rrsig)]
  return rdata.length + rrsig.length > 0 ? [{ ...set, rdata, rrsig }] : []
}

const without = (list: readonly Uint8Array[], other: readonly Uint8Array[]): Uint8Array[] =>
  list.filter((octets) => !other.some((same) => compareOctets(octets, same) === 0))
