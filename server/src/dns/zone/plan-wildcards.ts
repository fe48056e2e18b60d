// The records that a wildcard of the zone above has for the name of a new zone and the names around it. They are copied into the new zone, from
// which a name server answers its names, and in the zone above to the names that the delegation makes exist: otherwise they would vanish.
import type { Trx } from '../../db/postgres.ts'
import { isAtOrBelow, nameFromWire, parentOf, prependLabel, type DomainName } from '../../net/dns/name.ts'
import { recordType } from '../../net/dns/type.ts'
import type { PlacedDesired } from './change-content.ts'
import { isAtCut } from './delegation-sets.ts'
import { readAtOrBelow } from './related-zone.store.ts'
import type { DesiredSet, StoredSet } from './zone-change.ts'
import { readNames } from './zone-change.store.ts'
import type { Zone } from './zone.ts'

/** The zone above, and its sets at and below the new zone. */
type Above = { readonly parent: Zone | undefined; readonly stored: readonly StoredSet[] }

/**
 * Returns the copies for the apex and for the wildcard below it. A name with records in the zone above is not matched
 * by a wildcard (RFC 4592 section 3.3.1), and the request's own records take precedence. The apex gets ALIAS instead of
 * CNAME.
 */
export async function planWildcards(
  trx: Trx,
  above: Above,
  zone: Pick<Zone, 'name'>,
  own: readonly Pick<StoredSet, 'name'>[],
): Promise<PlacedDesired[]> {
  const { sets } = await readWildcard(trx, above, zone.name)
  const copy = (set: StoredSet, name: DomainName, type = set.type): PlacedDesired => ({
    ...copyOf(set, name),
    type,
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

/**
 * Returns the copies for the names between the zone and the wildcard, and for wildcards below them, in the zone above: with a delegation below them
 * these names exist, and the wildcard does not match them any longer (RFC 4592 section 2.2.2).
 */
export async function planWildcardsAbove(trx: Trx, above: Above, name: DomainName): Promise<DesiredSet[]> {
  const { encloser, sets } = await readWildcard(trx, above, name)
  if (sets.length === 0) return []
  const copies: DesiredSet[] = []
  for (let one = parentOf(name); one !== undefined && one !== encloser; one = parentOf(one))
    for (const set of sets) copies.push(copyOf(set, one), copyOf(set, prependLabel('*', one)))
  return copies
}

const copyOf = ({ type, ttl, rdata, comment }: StoredSet, name: DomainName) =>
  ({ name, type, ttl, rdata, source: 'user', comment }) as const

/** Returns the wildcard that answers for the name in the zone above; an empty list if no wildcard does. */
async function readWildcard(
  trx: Trx,
  { parent, stored }: Above,
  name: DomainName,
): Promise<{ readonly encloser?: DomainName; readonly sets: readonly StoredSet[] }> {
  if (!parent || parent.kind === 'secondary' || stored.length > 0) return { sets: [] }
  const encloser = await findEncloser(trx, parent, name)
  if (encloser === undefined) return { sets: [] }
  const sets = await readNames(trx, parent.id, [prependLabel('*', encloser)])
  return { encloser, sets: sets.filter((set) => !isAtCut(set)) }
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
