// The records that a wildcard of the zone above has for the name of a new zone and the names below it. They are copied into the new zone, from
// which a name server answers these names: otherwise they would vanish.
import type { Trx } from '../../db/postgres.ts'
import { isAtOrBelow, nameFromWire, parentOf, prependLabel, type DomainName } from '../../net/dns/name.ts'
import { recordType } from '../../net/dns/type.ts'
import type { PlacedDesired } from './change-content.ts'
import type { Takeover } from './delegate-zone.ts'
import { isAtCut } from './delegation-sets.ts'
import { readAtOrBelow } from './related-zone.store.ts'
import type { StoredSet } from './zone-change.ts'
import { readNames } from './zone-change.store.ts'
import type { Zone } from './zone.ts'

/**
 * Returns the copies for the zone itself and for the wildcard below it. A name with records in the zone above is not matched by a wildcard (RFC 4592
 * section 3.3.1), and names at which the request has records itself have those. The zone itself gets ALIAS instead of CNAME.
 */
export async function planWildcards(
  trx: Trx,
  { parent, stored }: Takeover,
  zone: Pick<Zone, 'name'>,
  own: readonly Pick<StoredSet, 'name'>[],
): Promise<PlacedDesired[]> {
  if (!parent || parent.kind === 'secondary' || stored.length > 0) return []
  const encloser = await findEncloser(trx, parent, zone.name)
  if (encloser === undefined) return []
  const sets = (await readNames(trx, parent.id, [prependLabel('*', encloser)])).filter((set) => !isAtCut(set))
  const copy = (set: StoredSet, name: DomainName, type = set.type): PlacedDesired => ({
    name,
    type,
    ttl: set.ttl,
    rdata: set.rdata,
    source: 'user',
    comment: set.comment,
    loc: ['body', 'name'],
  })
  const isFree = ({ name }: PlacedDesired): boolean => !own.some((set) => set.name === name)
  const isInside = ({ rdata }: StoredSet): boolean => isAtOrBelow(nameFromWire(rdata[0]!), zone.name)
  return sets
    .flatMap((set) => {
      const below = copy(set, prependLabel('*', zone.name))
      if (set.type !== recordType.CNAME) return [below, copy(set, zone.name)]
      return isInside(set) ? [below] : [below, copy(set, zone.name, recordType.ALIAS)]
    })
    .filter(isFree)
}

/** Returns the closest name above that the zone has; undefined below a delegation, from where it does not answer. */
async function findEncloser(trx: Trx, parent: Zone, name: DomainName): Promise<DomainName | undefined> {
  let encloser: DomainName | undefined
  for (let one = parentOf(name); one !== undefined && one !== parent.name; one = parentOf(one)) {
    const sets = await readAtOrBelow(trx, parent.id, one)
    if (sets.some((set) => set.name === one && set.type === recordType.NS)) return undefined
    if (sets.length > 0) encloser ??= one
  }
  return encloser ?? parent.name
}
