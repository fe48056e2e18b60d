// The PTR records that belong to A and AAAA records: written with them and deleted with them, in the same transaction.
import type { Trx } from '../../db/postgres.ts'
import type { Address } from '../../net/address.ts'
import { hostPrefix } from '../../net/prefix.ts'
import { reverseNameOf } from '../../net/reverse-name.ts'
import { printRdata } from '../../net/dns/rdata/rdata.ts'
import type { Operation, ZoneEditor } from '../../operation/operation.ts'
import type { ReadSet } from '../zone/recordset.ts'
import type { StoredSet } from '../zone/zone-change.ts'
import type { DnsDefaults } from '../zone/zone.ts'
import { createHolders } from './holder.ts'
import { listReverseHoldings, listPtrRows } from './reverse.store.ts'
import { rangesOf, type ReverseDeps } from './reverse-zone.ts'
import { writePtrs, type PtrWish } from './write-ptr.ts'

/** The addresses of sets whose PTR records were left out. */
export type LeftOut = ReadonlyMap<ReadSet, readonly Address[]>

/** Writes the PTR records of address sets. Throws `invalid` at the records whose addresses are not the team's. */
export async function changeForward(
  deps: ReverseDeps,
  trx: Trx,
  operation: Operation<ZoneEditor>,
  sets: readonly ReadSet[],
  defaults: DnsDefaults,
): Promise<LeftOut> {
  const leftOut = new Map<ReadSet, Address[]>()
  const wishes = sets.flatMap((set) =>
    set.rdata.map((one, at): PtrWish => {
      const { type, name: target, ttl, loc, withPtr } = set
      const address = printRdata(type, one) as Address
      const onOutside = () => void leftOut.set(set, [...(leftOut.get(set) ?? []), address])
      const automatic = withPtr === 'automatic' ? { onOutside } : {}
      return { loc: [...loc, 'records', at], address, target, ttl, source: 'user', ...automatic }
    }),
  )
  // Two names with one address in a request: the last one gets the PTR record.
  const unique = [...new Map(wishes.map((wish) => [wish.address, wish])).values()]
  if (unique.length === 0) return leftOut
  const { teamId } = operation.actor
  const holders = createHolders(teamId, await listReverseHoldings(trx, teamId))
  await writePtrs(deps, trx, operation, holders, unique, defaults, 'ptr.update')
  return leftOut
}

/** Deletes the PTR records of the team's addresses of a set that point at its name; others stay, and addresses of others do not matter. */
export async function deletePtr(
  deps: ReverseDeps,
  trx: Trx,
  operation: Operation<ZoneEditor>,
  { type, name, rdata }: StoredSet,
  defaults: DnsDefaults,
): Promise<void> {
  const { teamId } = operation.actor
  const addresses = rdata.map((one) => printRdata(type, one) as Address)
  const ranges = addresses.flatMap((address) => rangesOf(hostPrefix(address)))
  const { page } = await listPtrRows(trx, teamId, ranges, { limit: addresses.length, offset: 0 })
  const named = new Set<string>(page.filter(({ content }) => content === name).map((row) => row.name))
  const wishes = addresses
    .filter((address) => named.has(reverseNameOf(address)))
    .map((address): PtrWish => ({ loc: ['query', 'ptr'], address, target: null, ttl: null, source: 'user' }))
  if (wishes.length === 0) return
  const holders = createHolders(teamId, await listReverseHoldings(trx, teamId))
  const held = wishes.filter(({ address }) => holders.findHolding(address) !== undefined)
  await writePtrs(deps, trx, operation, holders, held, defaults, 'ptr.update')
}
