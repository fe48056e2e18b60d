// The limits of a token or key on the zones of a request. The path of an API request was checked before the use case; here are the names and
// types in a zone, under its lock, and the PTR records that a change writes.
import type { ProblemError } from '@pharos/contract/problem'
import { covers, hostPrefix, type Prefix } from '../../net/prefix.ts'
import type { Address } from '../../net/address.ts'
import { isAtOrBelow, type DomainName, type ZoneName } from '../../net/dns/name.ts'
import { recordType } from '../../net/dns/type.ts'
import { admitsSet } from '../../limit/zone-limit.ts'
import {
  isWholeZone,
  outsideLimit,
  outsideLimitAt,
  type Limits,
  type ZoneLimit,
} from '../../operation/limits.ts'
import { failWith, notFound } from '../../runtime/error.ts'

/** Returns the limit within a zone; null without a limit. Throws `not_found` if the zone is not in the resources. */
export function zoneLimitOf(limits: Limits | null, zone: { readonly id: number }): ZoneLimit | null {
  if (limits === null) return null
  const limit = limits.zones.get(zone.id)
  if (!limit) throw notFound('zone')
  return limit
}

type Placed = {
  readonly name: DomainName
  readonly type: number
  readonly loc: ProblemError['loc']
  readonly idLoc?: ProblemError['loc']
}

/** Throws `resource_limited` with every set whose name or type is outside of the limit. */
export function requireAdmitted(limit: ZoneLimit | null, sets: readonly Placed[]): void {
  if (limit === null) return
  const outside = sets.filter((set) => !admitsSet(limit, set))
  if (outside.length === 0) return
  throw failWith(
    'resource_limited',
    outside.map(({ loc, idLoc }) => outsideLimitAt([...(idLoc ?? loc), 'name'], [limit.text])),
  )
}

/** Throws `resource_limited` for a zone of which only names or types may be changed. */
export function requireWholeZone(limit: ZoneLimit | null, loc: ProblemError['loc']): void {
  if (limit && !isWholeZone(limit)) throw outsideLimit(loc, [limit.text])
}

/** Throws `resource_limited` unless the resources include the named zone with all names and types. */
export function requireZoneNamed(limits: Limits | null, loc: ProblemError['loc'], name: ZoneName): void {
  if (limits === null) return
  const all = [...limits.zones.values()]
  const limit = all.find((one) => one.name === name)
  if (!limit || !isWholeZone(limit))
    throw outsideLimit(
      loc,
      all.map(({ text }) => text),
    )
}

/** Throws `resource_limited` unless the network is within a prefix of the resources. */
export function requireNetwork(limits: Limits | null, loc: ProblemError['loc'], network: Prefix): void {
  if (limits && !isWithin(limits, network)) throw outsideLimit(loc, limits.prefixes)
}

const isWithin = ({ prefixes }: Limits, network: Prefix): boolean =>
  prefixes.some((prefix) => covers(prefix as Prefix, network))

export type PtrPlace = {
  readonly address: Address
  readonly name: DomainName
  readonly zone: { readonly id: number }
}

/** Reports whether a PTR record may be written: within a prefix of the resources, or a name of the zone that contains it. */
export function admitsPtr(limits: Limits, { address, name, zone }: PtrPlace): boolean {
  if (isWithin(limits, hostPrefix(address))) return true
  const limit = limits.zones.get(zone.id)
  return limit !== undefined && admitsSet(limit, { name, type: recordType.PTR })
}

/** Reports whether `admitsPtr` may be true, before it is known which zone contains the record. */
export const mayAdmitPtr = (limits: Limits, address: Address, name: DomainName): boolean =>
  isWithin(limits, hostPrefix(address)) ||
  [...limits.zones.values()].some((zone) => isAtOrBelow(name, zone.name as DomainName))

/** Returns the resources that a PTR record may be in, for an error. */
export const ptrResources = ({ prefixes, zones }: Limits): string[] => [
  ...prefixes,
  ...[...zones.values()].map(({ text }) => text),
]
