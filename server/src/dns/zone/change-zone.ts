// The only function that changes record sets of a primary zone: the content of the zone, and in the same transaction
// its delegation in the parent zone of the same owner. The caller has locked the zone; the parent is locked after it.
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

/** Like `changeContent`; `others` are the zones above that changed with it. */
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

/** Delegations contain only names and addresses of servers: in the zone itself, and in its parents. */
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
