// The one way in which record sets of a primary zone change: the content of the zone, and in the same transaction its delegation in the zone above,
// if that has the same owner. The caller holds the lock of the zone; the zone above is locked after it.
import type { Trx } from '../../db/postgres.ts'
import { recordType } from '../../net/dns/type.ts'
import {
  changeContent,
  type PlacedDesired,
  type ZoneChanged,
  type ZoneChangeOptions,
} from './change-content.ts'
import { isAddress, serversOf } from './delegation-sets.ts'
import { updateDelegation, type OtherZone } from './delegate-zone.ts'
import { journalOf, type StoredSet } from './zone-change.ts'
import type { Zone } from './zone.ts'

/** As `changeContent`; `others` are the zones above that changed with it. */
export async function changeZone(
  trx: Trx,
  zone: Zone,
  desired: readonly PlacedDesired[],
  options: ZoneChangeOptions,
): Promise<ZoneChanged & { readonly others: readonly OtherZone[] }> {
  const changed = await changeContent(trx, zone, desired, options)
  const { removed, added } = journalOf(changed.difference)
  const { stored, above } = changed.excerpt
  const isOwnNs = (set: StoredSet): boolean => set.type === recordType.NS && set.name === zone.name
  const servers = new Set(serversOf([...stored, ...above].find(isOwnNs)))
  // Names and addresses of the servers are all that a delegation has of the content.
  const isConcerned = [...removed, ...added].some(
    (set) => isOwnNs(set) || (isAddress(set) && servers.has(set.name)),
  )
  const others = isConcerned ? await updateDelegation(trx, changed.zone, options) : []
  return { ...changed, others }
}
