// The PTR records that belong to A and AAAA records: written with them and deleted with them, in the same transaction.
import type { Trx } from '../../db/postgres.ts'
import type { Address } from '../../net/address.ts'
import { printRdata } from '../../net/dns/rdata/rdata.ts'
import type { Operation, ZoneEditor } from '../../operation/operation.ts'
import type { PlacedDesired } from '../zone/change-zone.ts'
import type { StoredSet } from '../zone/zone-change.ts'
import type { DnsDefaults } from '../zone/zone.ts'
import { createHolders } from './holder.ts'
import { listHoldings } from './reverse.store.ts'
import type { ReverseDeps } from './reverse-zone.ts'
import { writePtrs, type PtrWish } from './write-ptr.ts'

/** Writes the PTR records of address sets. Throws `invalid` at the records whose addresses are not the team's. */
export async function changeForward(
  deps: ReverseDeps,
  trx: Trx,
  operation: Operation<ZoneEditor>,
  sets: readonly PlacedDesired[],
  defaults: DnsDefaults,
): Promise<void> {
  const wishes = sets.flatMap(({ type, rdata, name, ttl, loc }) =>
    rdata.map((one, at): PtrWish => {
      const address = printRdata(type, one) as Address
      return { loc: [...loc, 'records', at], address, target: name, ttl, source: 'user' }
    }),
  )
  // Two names with one address in a request: the last one gets the PTR record.
  const unique = [...new Map(wishes.map((wish) => [wish.address, wish])).values()]
  await write(deps, trx, operation, unique, defaults)
}

/** Deletes the PTR records of the addresses of a set that point at its name; others stay. */
export async function deletePtr(
  deps: ReverseDeps,
  trx: Trx,
  operation: Operation<ZoneEditor>,
  { type, name, rdata }: StoredSet,
  defaults: DnsDefaults,
): Promise<void> {
  const wishes = rdata.map((one): PtrWish => ({
    loc: ['query', 'ptr'],
    address: printRdata(type, one) as Address,
    target: null,
    ttl: null,
    source: 'user',
    replaces: (stored) => stored?.content === name,
  }))
  await write(deps, trx, operation, wishes, defaults)
}

async function write(
  deps: ReverseDeps,
  trx: Trx,
  operation: Operation<ZoneEditor>,
  wishes: readonly PtrWish[],
  defaults: DnsDefaults,
): Promise<void> {
  if (wishes.length === 0) return
  const { teamId } = operation.actor
  const holders = createHolders(teamId, await listHoldings(trx, teamId))
  await writePtrs(deps, trx, operation, holders, wishes, defaults, 'ptr.update')
}
