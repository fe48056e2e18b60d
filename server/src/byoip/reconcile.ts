// One run for one region: everything desired and everything observed are read in full, the difference is planned,
// guarded, sent and read back, and what was seen is saved. It takes no input, remembers nothing between runs and
// retries nothing: whatever fails, fails the run, withdraws nothing, and the next run is the retry.
import type { Db } from '../db/postgres.ts'
import type { Prefix } from '../net/prefix.ts'
import { damp } from './damping.ts'
import { guardPlan, planAgeMsMax, type Verdict } from './guard.ts'
import { holdChange } from './hold.ts'
import { closeHold, openHold } from './hold.store.ts'
import { seenRows, type Outcome } from './observe.ts'
import { planRoutes, type Plan, type PlanRow, type RouteSettings } from './plan.ts'
import { confirmWithdrawals, saveCheck, saveFailedCheck, saveSeen, whileHolding } from './reconcile.store.ts'
import { LeaseLost, type RegionLease, type RegionMemory } from './region-lock.store.ts'
import { SpeakerError, type Route, type Speaker } from './speaker.ts'

export type ReconcileDeps = {
  readonly db: Db
  readonly speaker: Speaker
  /** The speaker's own ASN, which it is asked for once per connection. */
  readonly asn: () => Promise<number>
  readonly routes: RouteSettings
  /** Every row of the region in one snapshot: readRegionRows(). */
  readonly readRows: (db: Db, regionId: number) => Promise<readonly PlanRow[]>
  readonly now: () => Date
  /** Milliseconds that only go forward. */
  readonly elapsedMs: () => number
}

/** How many routes of each kind there were, and what was sent. */
export type RunReport = Record<
  'desired' | 'observed' | 'announced' | 'withdrawn' | 'held' | 'waiting' | 'refused' | 'quarantined',
  number
>

/** One run under the lease. Rejects with whatever failed it, after noting that the region could not be checked. */
export async function reconcileRegion(deps: ReconcileDeps, lease: RegionLease): Promise<RunReport> {
  try {
    return await run(deps, lease)
  } catch (error) {
    // Whoever took over says how the region is; a database that is down cannot be told.
    if (!(error instanceof LeaseLost)) {
      const message = error instanceof Error ? error.message : String(error)
      await saveFailedCheck(deps.db, lease, message).catch(() => {})
    }
    throw error
  }
}

async function run(deps: ReconcileDeps, lease: RegionLease): Promise<RunReport> {
  const { db, speaker } = deps
  const { regionId } = lease
  const startedMs = deps.elapsedMs()
  const startedAt = deps.now()
  const ageMs = () => deps.elapsedMs() - startedMs
  const [rows, observed, memory, asn] = await Promise.all([
    deps.readRows(db, regionId),
    speaker.list(),
    lease.readMemory(),
    deps.asn(),
  ])
  const region = { id: regionId, asn, routes: deps.routes }
  const { plan, waiting } = damp(planRoutes(region, rows, observed), startedAt)
  const verdict = guardPlan(plan, { ...memory, planAgeMs: ageMs() })
  const sent = await send(deps, lease, plan, verdict, ageMs)
  const after = sent.calls === 0 ? plan.observed : byPrefix(await speaker.list())
  const outcome = outcomeOf(plan, verdict, waiting, after, sent.refused)
  await saveSeen(db, lease, seenRows(regionId, plan, outcome))
  await saveHold(db, regionId, memory, verdict)
  if (verdict.hold?.reason === 'stale_plan') throw new Error(verdict.hold.detail)
  await saveCheck(db, lease, startedAt)
  return reportOf(plan, verdict, outcome, sent)
}

type Sent = { readonly calls: number; readonly withdrawn: number; readonly refused: ReadonlySet<string> }

/** Carries the verdict out, in planOrder. Nothing is sent when another reconciler has taken over. */
async function send(
  deps: ReconcileDeps,
  lease: RegionLease,
  plan: Plan,
  { announce, withdraw }: Verdict,
  ageMs: () => number,
): Promise<Sent> {
  if (announce.length + withdraw.length === 0) return { calls: 0, withdrawn: 0, refused: new Set() }
  if (withdraw.length > 0) {
    const approved = withdraw.filter((one) => one.approved).length
    await lease.recordWithdrawals({ approved, free: withdraw.length - approved })
  }
  return whileHolding(deps.db, lease, async (trx) => {
    requireFresh(ageMs())
    const refusedNew = await refusedBy(deps.speaker.announce(announce))
    const unexplained = new Set(plan.unexplained)
    const { known = [], unknown = [] } = Object.groupBy(prefixesOf(withdraw), (prefix) =>
      unexplained.has(prefix) ? 'unknown' : 'known',
    )
    if (withdraw.length === 0) return { calls: 1, withdrawn: 0, refused: refusedNew }
    const confirmed = await confirmWithdrawals(trx, lease.regionId, known, unknown)
    requireFresh(ageMs())
    const refusedOld = await refusedBy(deps.speaker.withdraw(confirmed.map((prefix) => ({ prefix }))))
    return { calls: 2, withdrawn: confirmed.length, refused: refusedNew.union(refusedOld) }
  })
}

/** The last look before each call: a process may have been paused for any time since the plan was made. */
function requireFresh(planAgeMs: number): void {
  if (planAgeMs > planAgeMsMax)
    throw new Error(`the plan is ${Math.round(planAgeMs / 1000)} s old; nothing more is sent`)
}

/** What of a call was refused; the rest of it was carried out. Any other failure is the run's. */
async function refusedBy(call: Promise<void>): Promise<Set<string>> {
  try {
    await call
    return new Set()
  } catch (error) {
    if (!(error instanceof SpeakerError) || error.kind !== 'refused' || error.refused.length === 0)
      throw error
    return new Set(error.refused.map(({ subject }) => subject))
  }
}

function outcomeOf(
  plan: Plan,
  verdict: Verdict,
  waiting: ReadonlyMap<Prefix, Date>,
  after: ReadonlyMap<Prefix, Route>,
  refused: ReadonlySet<string>,
): Outcome {
  const held = new Set(verdict.hold?.withdrawals)
  return {
    after,
    wanted: byPrefix(plan.announce),
    waiting,
    held,
    declined: new Set(verdict.declined),
    refused,
  }
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
    withdrawn: sent.withdrawn,
    held: outcome.held.size + outcome.declined.size,
    waiting: outcome.waiting.size,
    refused: sent.refused.size,
    quarantined: plan.quarantined.length,
  }
}

const byPrefix = (routes: readonly Route[]): Map<Prefix, Route> =>
  new Map(routes.map((route) => [route.prefix, route]))

const prefixesOf = (withdrawals: readonly { prefix: Prefix }[]): Prefix[] =>
  withdrawals.map(({ prefix }) => prefix)
