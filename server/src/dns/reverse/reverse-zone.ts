// The zones of reverse DNS: finds the zone of an address, or creates one for the holding of the team.
import type { ProblemError } from '@pharos/contract/problem'
import type { Trx } from '../../db/postgres.ts'
import type { Address } from '../../net/address.ts'
import {
  isAtOrBelow,
  nameKey,
  parentOf,
  parseZoneName,
  type DomainName,
  type ZoneName,
} from '../../net/dns/name.ts'
import { lengthOf, networkOf, prefixAround, prefixParts, type Prefix } from '../../net/prefix.ts'
import { reverseNameOf } from '../../net/reverse-name.ts'
import { reverseZones } from '../../net/reverse-zone.ts'
import { errorAt, fail, failWith } from '../../runtime/error.ts'
import { changeContent } from '../zone/change-content.ts'
import { delegateNewZone, planDelegations, planTakeover } from '../zone/delegate-zone.ts'
import { planWildcards } from '../zone/plan-wildcards.ts'
import { shownZoneName } from '../zone/zone-name.ts'
import { insertZone, lockZone } from '../zone/zone.store.ts'
import { managedSets, resolveSettings, withoutLimits, type DnsDefaults, type Zone } from '../zone/zone.ts'
import type { Holders } from './holder.ts'
import { listZonesNamed, type KeyRange, type ReverseZone } from './reverse.store.ts'

export type ReverseDeps = { readonly now: () => Date }

type Loc = ProblemError['loc']

/** The name of the PTR record of an address. */
const ptrNameOf = (address: Address): DomainName => reverseNameOf(address) as DomainName

/** A PTR record with the zone that it belongs to. */
export type Placed<Wish> = { readonly wish: Wish; readonly name: DomainName; readonly zone: ReverseZone }

/** The longest prefix of which a holder has zones: a smaller IPv4 network is a part of the zone of its provider. */
const zoneLengthMax = 24

/**
 * Returns the zone of each address: the closest existing zone, or a new one. Throws `invalid` with every address
 * outside of the team's holdings, and `zone_claimed` if the closest zone belongs to another team.
 */
export async function placeAddresses<Wish extends { readonly loc: Loc; readonly address: Address }>(
  trx: Trx,
  teamId: number,
  holders: Holders,
  wishes: readonly Wish[],
  createZone: (name: ZoneName, teamId: number | null) => Promise<ReverseZone>,
): Promise<Placed<Wish>[]> {
  const held = wishes.map((wish) => ({ wish, holding: holders.findHolding(wish.address) }))
  const foreign = held.filter(({ holding }) => holding === undefined)
  if (foreign.length > 0)
    throw failWith(
      'invalid',
      foreign.map(({ wish }) => errorAt(wish.loc, 'notYourAddress')),
    )
  const named = held.map(({ wish, holding }) => ({ wish, holding: holding!, name: ptrNameOf(wish.address) }))
  const zones = new Map<DomainName, ReverseZone>()
  for (const zone of await listZonesNamed(trx, namesAbove(named.map(({ name }) => name))))
    zones.set(zone.name, zone)
  const placed: Placed<Wish>[] = []
  for (const { wish, holding, name } of named) {
    const cut = cutZone(holding, wish.address)
    let zone = closest(zones, name)
    // A zone above the holding is not that of the team, unless the holding is smaller than a zone.
    if (!zone || (zone.teamId !== teamId && !cut.isShared && !isAtOrBelow(zone.name, cut.name))) {
      zone = await createZone(cut.name, cut.isShared ? null : teamId)
      zones.set(zone.name, zone)
    }
    if (zone.teamId !== null && zone.teamId !== teamId)
      throw fail('zone_claimed', 'byOther', { zone: shownZoneName(zone.name), record: null })
    placed.push({ wish, name, zone })
  }
  return placed
}

/** The zone of a holding that an address is in. Shared: the holding is smaller than the zone, which is the operator's. */
function cutZone(holding: Prefix, address: Address): { readonly name: ZoneName; readonly isShared: boolean } {
  const { family, length } = prefixParts(holding)
  const isShared = family === 4 && length > zoneLengthMax
  const bits = family === 4 ? 8 : 4
  const zoneLength = isShared ? zoneLengthMax : Math.ceil(length / bits) * bits
  const [name] = reverseZones(prefixAround(address, zoneLength))
  return { name: parseZoneName(name!), isShared }
}

function namesAbove(names: readonly DomainName[]): DomainName[] {
  const above = new Set<DomainName>()
  for (const name of names)
    for (let one: DomainName | undefined = name; one !== undefined && !above.has(one); one = parentOf(one))
      above.add(one)
  return [...above]
}

function closest(zones: ReadonlyMap<DomainName, ReverseZone>, name: DomainName): ReverseZone | undefined {
  for (let one: DomainName | undefined = name; one !== undefined; one = parentOf(one)) {
    const zone = zones.get(one)
    if (zone) return zone
  }
  return undefined
}

/** Creates the zone with its SOA and NS records, or returns the zone that was created at the same time. */
export async function createReverseZone(
  trx: Trx,
  name: ZoneName,
  teamId: number | null,
  defaults: DnsDefaults,
  now: Date,
): Promise<ReverseZone> {
  const created = await insertZone(trx, {
    teamId,
    name,
    kind: 'primary',
    isReverse: true,
    isGenerated: true,
    managedBy: teamId === null ? 'operator' : 'team',
    serial: null,
    settings: {},
    isClaimed: true,
  })
  if (created) return withManagedSets(trx, created, defaults, now)
  const existing = await lockZone(trx, teamId, { name })
  if (!existing) throw fail('zone_claimed', 'byOther', { zone: shownZoneName(name), record: null })
  return existing
}

async function withManagedSets(trx: Trx, zone: Zone, defaults: DnsDefaults, now: Date): Promise<Zone> {
  const settings = resolveSettings({}, defaults)
  const takeover = await planTakeover(trx, zone, [])
  const sets = [
    ...managedSets(zone.name, settings).map((set) => ({ ...set, loc: ['zone'] })),
    ...takeover.moved,
    ...(await planWildcards(trx, takeover, zone, [])),
    ...(await planDelegations(trx, zone)),
  ]
  const author = { actor: 'pharos', what: 'zone.create' }
  const created = await changeContent(trx, zone, sets, { author, now, settings, limits: withoutLimits })
  await delegateNewZone(trx, created.zone, takeover, { author, now })
  return created.zone
}

/**
 * Returns the key ranges of the PTR names of a network: one range per zone on a label boundary. An IPv4 network longer
 * than /24 has one name per address.
 */
export function rangesOf(network: Prefix): KeyRange[] {
  return namesOf(network).map((name) => {
    const first = Buffer.from(nameKey(name))
    const last = Buffer.from(first)
    last[last.length - 1] = 1
    return { first, last }
  })
}

/** Names that together are exactly the network. */
function namesOf(network: Prefix): DomainName[] {
  const { family, length } = prefixParts(network)
  const bits = family === 4 ? 8 : 4
  if (length % bits === 0 || family === 6 || length <= zoneLengthMax)
    return length === 32 && family === 4
      ? [ptrNameOf(networkOf(network))]
      : reverseZones(network).map((name) => parseZoneName(name))
  return addressesOf(network).map(ptrNameOf)
}

/** The addresses of an IPv4 network longer than /24. */
function addressesOf(network: Prefix): Address[] {
  const start = networkOf(network)
  const at = start.lastIndexOf('.') + 1
  const count = 2 ** (32 - lengthOf(network))
  return Array.from(
    { length: count },
    (_, place) => `${start.slice(0, at)}${Number(start.slice(at)) + place}` as Address,
  )
}
