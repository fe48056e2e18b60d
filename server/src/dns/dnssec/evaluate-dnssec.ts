// The loop of DNSSEC: evaluates every zone that is due, and requests new signatures if keys or CDS records change. All
// decisions are in key-state.ts.
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/postgres.ts'
import { writeMessages } from '../../outbox/outbox.ts'
import type { Log } from '../../runtime/log.ts'
import type { KeyRing } from '../../runtime/secrets.ts'
import { updateDelegation } from '../zone/delegate-zone.ts'
import { shownZoneName } from '../zone/zone-name.ts'
import { withStatusMessages } from '../zone/zone-status.store.ts'
import { lockZone } from '../zone/zone.store.ts'
import { readDnssec, saveState, type StoredDnssec } from './dnssec.store.ts'
import { readFacts } from './facts.ts'
import { defaultWaits, nextState, parentRequestOf, type NextState, type Waits } from '../sign/key-state.ts'

export type EvaluateDeps = {
  readonly db: Db
  readonly ring: KeyRing
  readonly now: () => Date
  readonly waits?: Waits
}

/** Zones in one run; the next one continues. */
const zonesPerRun = 500

/**
 * Evaluates the zones that are due. A zone that fails is evaluated again in the next run. Returns the number of zones
 * whose state changed.
 */
export async function evaluateDnssec(deps: EvaluateDeps, log: Log, signal: AbortSignal): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    select id from dns_zones where dnssec_due <= ${deps.now()} and deleted is null and kind = 'primary'
    order by dnssec_due limit ${zonesPerRun}`.execute(deps.db)
  let moved = 0
  for (const { id } of rows) {
    signal.throwIfAborted()
    try {
      if (await evaluateZone(deps, id)) moved++
    } catch (error) {
      log.error({ zone: id, err: error }, 'DNSSEC state not evaluated; the next run is the retry')
    }
  }
  return moved
}

/** Evaluates one zone; returns whether its state moved. */
export async function evaluateZone(
  { db, ring, now, waits = defaultWaits }: EvaluateDeps,
  zoneId: number,
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ team_id: number | null }>`
      select team_id from dns_zones where id = ${zoneId} and deleted is null and dnssec <> 'disabled' for no key update`.execute(
      trx,
    )
    const [row] = rows
    if (!row) return false
    const seconds = Math.floor(now().getTime() / 1000)
    const before = await readDnssec(trx, zoneId)
    const { facts, keysSerial } = await readFacts(trx, ring, before, seconds)
    const next = nextState(before, facts, seconds, waits)
    if (keysSerial !== before.keysSerial)
      await sql`update dns_zones set dnssec_serial = ${keysSerial} where id = ${zoneId}`.execute(trx)
    const due = next.status === 'disabled' ? undefined : new Date(dueOf(next, seconds) * 1000)
    await withStatusMessages(trx, [zoneId], now(), () =>
      saveState(trx, before, { ...next, due }, needsPublication(before, next)),
    )
    const isMoved = next.status !== before.status
    const options = { author: { actor: 'pharos', what: 'zone.delegation' }, now: now() }
    // A zone of the same owner above follows the request of CDS (RFC 7344).
    if (isMoved || needsPublication(before, next))
      await updateDelegation(trx, (await lockZone(trx, row.team_id, { id: zoneId }))!, options)
    if (isMoved) await notify(trx, before, next, now())
    return isMoved
  })
}

/** Seconds until the next evaluation of a zone without a deadline: short during a transition. */
const observeSeconds = { busy: 5, quiet: 600 }

function dueOf({ status, reason, due }: NextState, now: number): number {
  const isBusy = reason === 'name_servers' || status === 'pending_disabled' || reason === 'ds_missing'
  const observed = now + (isBusy ? observeSeconds.busy : observeSeconds.quiet)
  return due !== undefined && due > now ? Math.min(due, observed + observeSeconds.quiet) : observed
}

/** Keys are published until they are removed; CDS follows the active ones. */
function needsPublication(before: StoredDnssec, after: NextState): boolean {
  const publishedOf = (dnssec: Pick<NextState, 'status' | 'keys'>): string =>
    JSON.stringify([
      dnssec.keys.filter(({ state }) => state !== 'removed').map(({ id }) => id),
      parentRequestOf(dnssec),
    ])
  const isRepaired = after.reason === 'signatures_invalid' && before.reason !== after.reason
  return isRepaired || publishedOf(before) !== publishedOf(after)
}

async function notify(
  trx: Trx,
  { teamId, zoneId, name, status }: StoredDnssec,
  next: NextState,
  now: Date,
): Promise<void> {
  if (teamId === null) return
  await writeMessages(trx, [
    {
      teamId,
      type: 'zone.dnssec_changed',
      data: {
        zone_id: zoneId,
        name: shownZoneName(name),
        before: status,
        after: next.status,
        at: now.toISOString(),
      },
    },
  ])
}
