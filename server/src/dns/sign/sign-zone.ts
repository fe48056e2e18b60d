// Signs a whole zone: after enabling DNSSEC or a change of keys, and when a delta is not enough. Takes seconds of CPU for a large
// zone: processes run it in a thread (sign-in-thread.ts).
import { type DomainName, type ZoneName } from '../../net/dns/name.ts'
import type { Rrset, SignedRrset } from '../../net/dns/record.ts'
import { recordType } from '../../net/dns/type.ts'
import {
  ancestorsInZone,
  isAuthoritative,
  isGeneratedType,
  occludes,
  type NameAuthority,
} from './authority.ts'
import { chainOf, negativeTtl } from './chain.ts'
import { nsec3Param } from './nsec3-hash.ts'
import { compareKeys, orderKey } from './order.ts'
import { signRrset, type SignatureSettings } from './signature.ts'

/** A name with its sets, as served. */
type Node = {
  readonly name: DomainName
  readonly key: string
  readonly sets: Rrset[]
  readonly standing: NameAuthority
}

/** Key of a set in `Previous`. */
export const setKey = ({ name, type }: Pick<Rrset, 'name' | 'type'>): string => `${type} ${name}`

/** The sets as they were served before, by `setKey`. */
export type Previous = ReadonlyMap<string, SignedRrset>

/**
 * Returns the served sets of the zone, in canonical order of names, then by type. Without `signing` they have no
 * signatures. Signatures of `previous` stay while they are valid. Ignores input sets of types that signing creates.
 * Throws RangeError without an SOA, or if a name is not in the zone.
 */
export function* signZone(
  zone: ZoneName,
  rrsets: Iterable<Rrset>,
  signing: SignatureSettings | undefined,
  previous: Previous = new Map(),
): Generator<SignedRrset> {
  for (const planned of planZone(zone, rrsets, signing)) yield signPlanned(signing, planned, previous)
}

/** A set of the zone, and whether it gets signatures. */
export type PlannedSet = { readonly set: Rrset; readonly isSigned: boolean }

/** Returns the sets of the zone in the order of `signZone`, the chain included, without their signatures. */
export function* planZone(
  zone: ZoneName,
  rrsets: Iterable<Rrset>,
  signing: SignatureSettings | undefined,
): Generator<PlannedSet> {
  const nodes = collectNodes(zone, rrsets)
  for (const { sets, standing } of signing ? withChain(signing, nodes) : nodes) {
    for (const set of sets.sort((a, b) => a.type - b.type)) {
      const isSigned = isAuthoritative(standing, set.type) || set.type === recordType.NSEC
      yield { set, isSigned: signing !== undefined && isSigned }
    }
  }
}

/** Returns the set as it is served. */
export const signPlanned = (
  signing: SignatureSettings | undefined,
  { set, isSigned }: PlannedSet,
  previous: Previous,
): SignedRrset =>
  signing && isSigned ? signRrset(signing, set, previous.get(setKey(set))) : { ...set, rrsig: [] }

/** Returns the names in canonical order with their authority: parents come before names that they occlude. */
function collectNodes(zone: ZoneName, rrsets: Iterable<Rrset>): Node[] {
  const setsOf = new Map<DomainName, Rrset[]>()
  for (const set of rrsets) {
    if (isGeneratedType(set.type)) continue
    const sets = setsOf.get(set.name)
    if (sets) sets.push(set)
    else setsOf.set(set.name, [set])
  }
  const zoneKey = orderKey(zone)
  let occluding: string | undefined
  return [...setsOf]
    .map(([name, sets]) => ({ name, sets, key: orderKey(name) }))
    .sort((a, b) => compareKeys(a.key, b.key))
    .map((node) => {
      const { name, key, sets } = node
      if (!key.startsWith(zoneKey)) throw new RangeError('a name is not in the zone')
      // The key of a name starts with the keys of its ancestors.
      if (occluding !== undefined && key.startsWith(occluding)) return { ...node, standing: 'occluded' }
      if (sets.some(({ type }) => occludes(zone, name, type))) occluding = key
      const isDelegation = name !== zone && sets.some(({ type }) => type === recordType.NS)
      return { ...node, standing: isDelegation ? 'delegation' : 'authoritative' }
    })
}

/** Returns the nodes with the sets of the chain, in canonical order. */
function withChain({ zone, denial }: SignatureSettings, nodes: readonly Node[]): Node[] {
  const apex = nodes[0]?.name === zone ? nodes[0] : undefined
  const soa = apex?.sets.find(({ type }) => type === recordType.SOA)
  if (!apex || !soa) throw new RangeError('the zone has no SOA')
  if (denial === 'nsec3')
    apex.sets.push({ name: zone, type: recordType.NSEC3PARAM, ttl: 0, rdata: [nsec3Param] })
  const chain = chainOf(zone, denial)
  const owners = nodes
    .filter(({ standing }) => standing !== 'occluded')
    .map((node) => ({ ...node, types: node.sets.map(({ type }) => type) }))
  const empty = chain.includesEmpty ? emptyNonTerminals(zone, owners) : []
  const links = [
    ...owners.map(({ name, standing, types }) => ({ name, bitmap: chain.bitmapOf(standing, types) })),
    ...empty.map((name) => ({ name, bitmap: chain.bitmapOf('authoritative', []) })),
  ].map(({ name, bitmap }) => ({ owner: chain.ownerOf(name), bitmap }))
  const ttl = negativeTtl(soa)
  const set = (owner: DomainName, next: DomainName, bitmap: Uint8Array): Rrset => ({
    name: owner,
    type: chain.type,
    ttl,
    rdata: [chain.encode(next, bitmap)],
  })
  // The NSEC owners are the nodes, in the same order.
  if (denial === 'nsec') {
    owners.forEach(({ sets, name }, at) =>
      sets.push(set(name, links[(at + 1) % links.length]!.owner, links[at]!.bitmap)),
    )
    return [...nodes]
  }
  const sorted = links
    .map((link) => ({ ...link, key: orderKey(link.owner) }))
    .sort((a, b) => compareKeys(a.key, b.key))
  const hashed = sorted.map(({ owner, bitmap, key }, at): Node => {
    const next = sorted[(at + 1) % sorted.length]!.owner
    return { name: owner, key, sets: [set(owner, next, bitmap)], standing: 'authoritative' }
  })
  return [...nodes, ...hashed].sort((a, b) => compareKeys(a.key, b.key))
}

/** Returns the ancestors of these names that have no sets themselves. */
function emptyNonTerminals(zone: ZoneName, nodes: readonly Node[]): DomainName[] {
  const names = new Set(nodes.map(({ name }) => name))
  const empty = new Set<DomainName>()
  for (const { name } of nodes) {
    for (const ancestor of ancestorsInZone(zone, name)) {
      if (names.has(ancestor) || empty.has(ancestor)) break
      empty.add(ancestor)
    }
  }
  return [...empty]
}
