// The names for which a zone is authoritative (RFC 4035 section 2): delegations and glue are not signed, and names below a delegation or a
// DNAME are occluded.
import { parentOf, type DomainName, type ZoneName } from '../../net/dns/name.ts'
import { recordType } from '../../net/dns/type.ts'

export type NameAuthority = 'authoritative' | 'delegation' | 'occluded'

/** Whether a set of this type at `name` occludes the names below: DNAME, and NS except at the apex. */
export const occludes = (zone: ZoneName, name: DomainName, type: number): boolean =>
  type === recordType.DNAME || (type === recordType.NS && name !== zone)

/**
 * Returns the authority of the zone over a name. `has` returns whether a set exists, for the name and its ancestors.
 */
export function standingOf(
  zone: ZoneName,
  name: DomainName,
  has: (name: DomainName, type: number) => boolean,
): NameAuthority {
  if (name === zone) return 'authoritative'
  for (const ancestor of ancestorsInZone(zone, name)) {
    if (has(ancestor, recordType.DNAME)) return 'occluded'
    if (ancestor !== zone && has(ancestor, recordType.NS)) return 'occluded'
  }
  return has(name, recordType.NS) ? 'delegation' : 'authoritative'
}

/** Returns the ancestors of a name in the zone from its parent to the apex; an empty list for the apex. */
export function ancestorsInZone(zone: ZoneName, name: DomainName): DomainName[] {
  const ancestors: DomainName[] = []
  for (let at = name; at !== zone;) {
    const parent = parentOf(at)
    if (parent === undefined) throw new RangeError('the name is not in the zone')
    ancestors.push((at = parent))
  }
  return ancestors
}

/** Returns the apex, the names and all of their ancestors, once each. */
export const withAncestors = (zone: ZoneName, names: Iterable<DomainName>): DomainName[] => [
  ...new Set([zone, ...[...names].flatMap((name) => [name, ...ancestorsInZone(zone, name)])]),
]

/** Whether sets of this type are signed and appear in the type bitmap. NS at a delegation only appears there. */
export const isAuthoritative = (standing: NameAuthority, type: number): boolean =>
  standing === 'authoritative' || (standing === 'delegation' && type === recordType.DS)

/** Returns the types of a name that NSEC and NSEC3 prove, without glue at a delegation. */
export const provenTypes = (standing: NameAuthority, types: readonly number[]): readonly number[] =>
  types.filter(
    (type) => isAuthoritative(standing, type) || (standing === 'delegation' && type === recordType.NS),
  )

/** The types that signing creates by itself; they are never input. */
export const isGeneratedType = (type: number): boolean =>
  type === recordType.RRSIG ||
  type === recordType.NSEC ||
  type === recordType.NSEC3 ||
  type === recordType.NSEC3PARAM
