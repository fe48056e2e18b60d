// The full run of one region: everything desired and everything observed are read in full, the difference is planned,
// guarded, sent and read back, and what was seen is saved. It takes no input, remembers nothing between runs and
// retries nothing: whatever fails, fails the run, withdraws nothing, and the next run is the retry.
import type { Db } from '../../db/postgres.ts'
import { byPrefix, isSilent, nothingSent, orNoteFailure, outcomeOf, sendPlan } from './carry-out.ts'
import type { RunDeps, Sent } from './carry-out.ts'
import { damp } from './damping.ts'
import { guardPlan, type Verdict } from './guard.ts'
import { holdChange } from './hold.ts'
import { closeHold, openHold } from './hold.store.ts'
import { seenRows, type Outcome } from './observe.ts'
import { planRoutes, type Plan, type PlanRow } from './plan.ts'
import { saveCheck, saveSeen, whileHolding } from './reconcile.store.ts'
import type { RegionLease, RegionMemory } from './region-lock.store.ts'

export type ReconcileDeps = RunDeps & {
  /** Every row of the region in one snapshot: readRegionRows(). */
  readonly readRows: (db: Db, regionId: number) => Promise<readonly PlanRow[]>
  /** Rejects with GivenWay when what is being read is to be dropped; once it is read, the run goes on to its end. */
  readonly giveWay?: Promise<never>
}

/** How many routes of each kind there were, and what was sent. */
export type RunReport = Record<
  'desired' | 'observed' | 'announced' | 'withdrawn' | 'held' | 'waiting' | 'refused' | 'quarantined',
  number
>

/** One run under the lease. Rejects with whatever failed it, after noting that the region could not be checked. */
export function reconcileRegion(deps: ReconcileDeps, lease: RegionLease): Promise<RunReport> {
  return orNoteFailure(deps.db, lease, () => run(deps, lease))
}

async function run(deps: ReconcileDeps, lease: RegionLease): Promise<RunReport> {
  const { db, speaker } = deps
  const { regionId } = lease
  const startedMs = deps.elapsedMs()
  const startedAt = deps.now()
  const ageMs = () => deps.elapsedMs() - startedMs
  const read = Promise.all([deps.readRows(db, regionId), speaker.list(), lease.readMemory(), deps.asn()])
  const [rows, observed, memory, asn] = await (deps.giveWay ? Promise.race([read, deps.giveWay]) : read)
  const region = { id: regionId, asn, routes: deps.routes }
  const { plan, waiting } = damp(planRoutes(region, rows, observed), startedAt)
  const verdict = guardPlan(plan, { ...memory, planAgeMs: ageMs(), routes: plan.observed.size })
  const sent = isSilent(verdict)
    ? nothingSent
    : await whileHolding(db, lease, (trx) => sendPlan(trx, deps, lease, plan, verdict, ageMs))
  const after = isSilent(verdict) ? plan.observed : byPrefix(await speaker.list())
  const outcome = outcomeOf(plan, verdict, waiting, after, sent)
  await saveSeen(db, lease, seenRows(regionId, plan, outcome))
  await saveHold(db, regionId, memory, verdict)
  if (verdict.hold?.reason === 'stale_plan') throw new Error(verdict.hold.detail)
  await saveCheck(db, lease, startedAt)
  return reportOf(plan, verdict, outcome, sent)
}

async function saveHold(
  db: Db,
  regionId: number,
  { openHold: open }: RegionMemory,
  { hold }: Verdict,
): Promise<void> {
  const change = holdChange(open, hold)
  if (change === 'close') await closeHold(db, regionId)
  if (change === 'open' && hold) await openHold(db, regionId, hold)
}

function reportOf(plan: Plan, verdict: Verdict, outcome: Outcome, sent: Sent): RunReport {
  return {
    desired: plan.rows
      .values()
      .filter((row) => row.desired)
      .toArray().length,
    observed: outcome.after.size,
    announced: verdict.announce.length,
    withdrawn: sent.withdrawn.size,
    held: outcome.held.size + outcome.declined.size,
    waiting: outcome.waiting.size,
    refused: sent.refused.size,
    quarantined: plan.quarantined.length,
  }
}
