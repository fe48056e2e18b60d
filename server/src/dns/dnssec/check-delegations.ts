// The delegation loop: queries the parents of all zones that are due, stores the answers, and schedules the evaluation
// of DNSSEC.
import { sql } from 'kysely'
import type { Db } from '../../db/postgres.ts'
import type { Log } from '../../runtime/log.ts'
import { updateDelegation } from '../zone/delegate-zone.ts'
import { withStatusMessages } from '../zone/zone-status.store.ts'
import { lockZone } from '../zone/zone.store.ts'
import { checkDelegation, mergeViews } from './delegation.ts'
import { claimDueDelegations, saveDelegation, type DueDelegation } from './delegation.store.ts'
import { ParentNotFound, type FindOptions } from './find-parent.ts'

export type DelegationDeps = {
  readonly db: Db
  readonly find: FindOptions
  readonly now: () => Date
  /** Upper limit of the TTL of resolvers, in seconds. */
  readonly cacheSeconds: number
}

/** Zones checked in parallel: a check mostly waits for the network. */
const parallel = 16

/** Checks the delegations that are due and returns the number of zones. */
export async function checkDelegations(deps: DelegationDeps, log: Log, signal: AbortSignal): Promise<number> {
  const due = await claimDueDelegations(deps.db, deps.now(), parallel * 8)
  const next = due.values()
  const work = async (): Promise<void> => {
    for (const one of next) {
      signal.throwIfAborted()
      try {
        await checkOne(deps, one)
      } catch (error) {
        log.error({ zone: one.zoneId, err: error }, 'delegation not checked; the next run is the retry')
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(parallel, due.length) }, work))
  return due.length
}

/** Checks one zone. If the parent is unreachable, only that is stored. */
async function checkOne({ db, find, now, cacheSeconds }: DelegationDeps, one: DueDelegation): Promise<void> {
  const delegation = await checkDelegation(find, one.name, one.assigned).catch((error: unknown) => {
    if (error instanceof ParentNotFound) return mergeViews([], one.assigned)
    throw error
  })
  await db.transaction().execute(async (trx) => {
    // Requests lock the zone before its delegation. The other way round both would wait for each other.
    const zone = await lockZone(trx, one.teamId, { id: one.zoneId })
    // A zone that got its name, or that an older release created, has no delegation in a zone of the same owner yet.
    if (zone)
      await updateDelegation(trx, zone, { author: { actor: 'pharos', what: 'zone.delegation' }, now: now() })
    await withStatusMessages(trx, [one.zoneId], now(), () =>
      saveDelegation(trx, one, delegation, now(), cacheSeconds),
    )
    await sql`update dns_zones set dnssec_due = ${now()} where id = ${one.zoneId} and dnssec <> 'disabled'`.execute(
      trx,
    )
  })
}
