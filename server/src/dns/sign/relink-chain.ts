// The part of a delta that keeps the chain closed: which NSEC or NSEC3 records follow from owners that are added, removed, or get
// another bitmap. Reads only the predecessors of the owners.
import type { DomainName } from '../../net/dns/name.ts'
import type { SignedRrset } from '../../net/dns/record.ts'
import type { Chain } from './chain.ts'
import { compareKeys, orderKey } from './order.ts'
import type { ServedIndex } from './served-index.ts'

export type ChainChange = {
  /** Owners that leave the chain, with their record as served. */
  readonly removed: ReadonlyMap<DomainName, SignedRrset>
  /** Owners that join the chain, with their bitmap. */
  readonly added: ReadonlyMap<DomainName, Uint8Array>
  /** Owners that stay, with their record as served and their new bitmap. */
  readonly changed: ReadonlyMap<DomainName, { readonly record: SignedRrset; readonly bitmap: Uint8Array }>
}

/** The data of a record of the chain, and the record as served; undefined if its owner is new. */
export type Link = {
  readonly owner: DomainName
  readonly rdata: Uint8Array
  readonly before: SignedRrset | undefined
}

/**
 * Returns the records to write, without the records of removed owners. The apex is never removed, so there is always a
 * predecessor.
 */
export async function relinkChain(
  chain: Chain,
  index: Pick<ServedIndex, 'previousInChain'>,
  { removed, added, changed }: ChainChange,
): Promise<Link[]> {
  const previous = await index.previousInChain(chain.type, [...removed.keys(), ...added.keys()])
  const nextOf = ({ rdata }: SignedRrset): DomainName => chain.nextOf(rdata[0]!)
  const gaps = new Map<DomainName, { readonly from: SignedRrset; readonly owners: DomainName[] }>()
  for (const owner of [...removed.keys(), ...added.keys()]) {
    let from = previous.get(owner)!
    while (removed.has(from.name)) from = previous.get(from.name)!
    const gap = gaps.get(from.name) ?? { from, owners: [] }
    if (added.has(owner)) gap.owners.push(owner)
    gaps.set(from.name, gap)
  }
  const links: Link[] = []
  for (const { from, owners } of gaps.values()) {
    let next = nextOf(from)
    for (let gone = removed.get(next); gone; gone = removed.get(next)) next = nextOf(gone)
    const order = [from.name, ...sortFrom(from.name, owners), next]
    const bitmap = changed.get(from.name)?.bitmap ?? chain.bitmapIn(from.rdata[0]!)
    links.push({ owner: from.name, rdata: chain.encode(order[1]!, bitmap), before: from })
    for (let at = 1; at < order.length - 1; at++) {
      const owner = order[at]!
      links.push({ owner, rdata: chain.encode(order[at + 1]!, added.get(owner)!), before: undefined })
    }
  }
  for (const [owner, { record, bitmap }] of changed) {
    if (!gaps.has(owner)) links.push({ owner, rdata: chain.encode(nextOf(record), bitmap), before: record })
  }
  return links
}

/** Returns the owners in canonical order, starting after `from` and going on at the start of the zone. */
function sortFrom(from: DomainName, owners: readonly DomainName[]): DomainName[] {
  const start = orderKey(from)
  const keyed = owners
    .map((owner) => ({ owner, key: orderKey(owner) }))
    .sort((a, b) => compareKeys(a.key, b.key))
  const split = keyed.findIndex(({ key }) => key > start)
  const rotated = split < 0 ? keyed : [...keyed.slice(split), ...keyed.slice(0, split)]
  return rotated.map(({ owner }) => owner)
}
