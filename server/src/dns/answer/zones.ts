// The zones of a name server, by name.
import { parentOf, type DomainName, type ZoneName } from '../../net/dns/name.ts'
import { recordType } from '../../net/dns/type.ts'
import type { ReadableZone } from './memory-zone.ts'

/** `expired`: a secondary zone whose primaries have been silent for too long; it is answered with SERVFAIL. */
export type ServedZone = ReadableZone | 'expired'

export type Zones = Pick<ReadonlyMap<ZoneName, ServedZone>, 'get' | 'has'>

/**
 * Returns the zone that is authoritative for the question: the closest zone; for DS at its apex the zone above, if it
 * is served as well (RFC 4035 section 3.1.4.1).
 */
export function findServedZone(zones: Zones, name: DomainName, type: number): ServedZone | undefined {
  const closest = closestZone(zones, name)
  const parent = parentOf(name)
  if (type !== recordType.DS || closest === undefined || parent === undefined) return closest
  if (!zones.has(name as ZoneName)) return closest
  return closestZone(zones, parent) ?? closest
}

function closestZone(zones: Zones, name: DomainName): ServedZone | undefined {
  for (let at: DomainName | undefined = name; at !== undefined; at = parentOf(at)) {
    const zone = zones.get(at as ZoneName)
    if (zone !== undefined) return zone
  }
  return undefined
}
