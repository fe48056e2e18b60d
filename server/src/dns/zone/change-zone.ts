// The one way in which record sets of a primary zone change: the content of the zone, and in the same transaction its delegation in the zone above,
// if that has the same owner. The caller holds the lock of the zone; the zone above is locked after it.
import type { Trx } from '../../db/postgres.ts'
import { recordType } from '../../net/dns/type.ts'
import {
  changeContent,
  type PlacedDesired,
  type ZoneExcerpt,
  type ZoneChanged,
  type ZoneChangeOptions,
} from './change-content.ts'
import { isAddressSet, serversOf } from './delegation-sets.ts'
import { updateDelegation, updateFurtherAbove, type OtherZone } from './delegate-zone.ts'
import { journalOf, type StoredSet } from './zone-change.ts'
import type { Zone } from './zone.ts'

/** As `changeContent`; `others` are the zones above that changed with it. */
export async function changeZone(
  trx: Trx,
  zone: Zone,
  desired: readonly PlacedDesired[],
  options: ZoneChangeOptions,
  known?: ZoneExcerpt,
): Promise<ZoneChanged & { readonly others: readonly OtherZone[] }> {
  const changed = await changeContent(trx, zone, desired, options, known)
  return { ...changed, others: await changeOthers(trx, changed, options) }
}

/** Names and addresses of servers are all that delegations have of the content: those of the zone, and those of zones above it. */
async function changeOthers(
  trx: Trx,
  { zone, difference, excerpt: { stored, above, parents } }: ZoneChanged,
  options: ZoneChangeOptions,
): Promise<readonly OtherZone[]> {
  if (parents.length === 0 || zone.claimed === null) return []
  const { removed, added } = journalOf(difference)
  const sets = [...removed, ...added]
  const isOwnNs = (set: StoredSet): boolean => set.type === recordType.NS && set.name === zone.name
  const servers = new Set(serversOf([...stored, ...above].find(isOwnNs)))
  if (sets.some((set) => isOwnNs(set) || (isAddressSet(set) && servers.has(set.name))))
    return updateDelegation(trx, zone, options)
  return sets.some(isAddressSet) ? updateFurtherAbove(trx, zone, options) : []
}
