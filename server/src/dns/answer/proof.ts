// Proofs of denial of existence (RFC 4035 section 3.1.3, RFC 5155 section 7.2), all in the authority section: after the answer they would
// make every wildcard bogus.
import type { DomainName } from '../../net/dns/name.ts'
import type { ReadableZone } from './memory-zone.ts'
import type { Reply } from './reply.ts'

/** A name that does not exist: its closest existing ancestor, and the name one label below that. */
export type Missing = {
  readonly name: DomainName
  readonly encloser: DomainName
  readonly nextCloser: DomainName
}

/** Proves the types of a name that exists, or that it is an empty non-terminal. */
export function proveTypes(reply: Reply, zone: ReadableZone, name: DomainName): void {
  add(reply, zone, name, name)
}

/** Proves that the name does not exist, so that a wildcard was right to answer for it. */
export function proveExpansion(reply: Reply, zone: ReadableZone, { name, nextCloser }: Missing): void {
  add(reply, zone, name, nextCloser)
}

/** Proves that neither the name nor the wildcard exists; or of a wildcard that exists, its types. */
export function proveMissing(reply: Reply, zone: ReadableZone, missing: Missing, wildcard: DomainName): void {
  const { name, encloser, nextCloser } = missing
  add(reply, zone, name, encloser)
  add(reply, zone, wildcard, nextCloser)
  if (zone.hasNsec3) add(reply, zone, wildcard, wildcard)
}

/** Adds the record that matches or covers a name: with NSEC of the first, with NSEC3 of the second. */
function add(reply: Reply, zone: ReadableZone, nsecName: DomainName, nsec3Name: DomainName): void {
  if (!reply.isDnssec) return
  const record = zone.hasNsec3 ? zone.nsec3For(nsec3Name) : zone.nsecFor(nsecName)
  if (record) reply.authority(record)
}
