// The quick run of one region: only the rows that were switched and that no run has looked at, and only their prefixes on
// the router. It goes through the same plan, guard and fence as the full run, may do less than it, and never more: what
// a look at the whole region could hold back is left to the full run, which follows every quick run that met anything.
import type { Db } from '../../db/postgres.ts'
import {
  byPrefix,
  isSilent,
  nothingSent,
  orNoteFailure,
  outcomeOf,
  sendPlan,
  type RunDeps,
} from './carry-out.ts'
import { damp } from './damping.ts'
import { guardPlan, type Verdict } from './guard.ts'
import { seenRows } from './observe.ts'
import { planRoutes, readPrefix, type Plan, type PlanRow } from './plan.ts'
import { movingMax, saveSeen, whileHolding } from './reconcile.store.ts'
import type { RegionLease, RegionMemory } from './region-lock.store.ts'

export type QuickRunDeps = RunDeps & {
  /** The rows in motion, at most one more than `movingMax`: readMovingRows(). */
  readonly readMoving: (db: Db, regionId: number) => Promise<readonly PlanRow[]>
}

/** What the last full run under the same lease found in the region. Without one there is no quick run. */
export type KnownRegion = {
  /** Routes of ours on its router. */
  readonly observed: number
  readonly quarantined: number
}

export type QuickReport = Record<'moving' | 'announced' | 'withdrawn' | 'refused', number> & {
  /** When the full run has to follow: `soon` to see the whole again, `now` for what this one had to leave. */
  readonly full: 'soon' | 'now' | undefined
}

const idle = { moving: 0, announced: 0, withdrawn: 0, refused: 0, full: undefined } as const

/** One run under the lease. Rejects with whatever failed it, after noting that the region could not be checked. */
export function quickRun(deps: QuickRunDeps, lease: RegionLease, known: KnownRegion): Promise<QuickReport> {
  return orNoteFailure(deps.db, lease, () => run(deps, lease, known))
}

async function run(deps: QuickRunDeps, lease: RegionLease, known: KnownRegion): Promise<QuickReport> {
  const { db, speaker } = deps
  const { regionId } = lease
  const startedMs = deps.elapsedMs()
  const startedAt = deps.now()
  const ageMs = () => deps.elapsedMs() - startedMs
  const rows = await deps.readMoving(db, regionId)
  if (rows.length === 0) return idle
  if (rows.length > movingMax) return { ...idle, moving: rows.length, full: 'now' }
  const prefixes = rows.map(({ prefix }) => readPrefix(prefix)).filter((prefix) => prefix !== undefined)
  const answers = Promise.all([speaker.find(prefixes), lease.readMemory(), deps.asn()])
  // It is waited for within the fence, which is put up meanwhile.
  answers.catch(() => {})
  const { plan, waiting, verdict, sent, isLeft } = await whileHolding(db, lease, async (trx) => {
    const [observed, memory, asn] = await answers
    const region = { id: regionId, asn, routes: deps.routes }
    const { plan, waiting } = damp(planRoutes(region, rows, observed), startedAt)
    const whole = guardPlan(plan, { ...memory, planAgeMs: ageMs(), routes: known.observed })
    if (whole.hold?.reason === 'stale_plan') throw new Error(whole.hold.detail)
    const isLeft = leavesWithdrawals(plan, whole, memory, known)
    const verdict = isLeft ? onlyAnnounce(whole) : whole
    const sent = isSilent(verdict) ? nothingSent : await sendPlan(trx, deps, lease, plan, verdict, ageMs)
    return { plan, waiting, verdict, sent, isLeft }
  })
  const after = isSilent(verdict) ? plan.observed : byPrefix(await speaker.find(prefixes))
  await saveSeen(db, lease, seenRows(regionId, plan, outcomeOf(plan, verdict, waiting, after, sent)))
  return {
    moving: rows.length,
    announced: verdict.announce.length,
    withdrawn: sent.withdrawn.size,
    refused: sent.refused.size,
    full: isLeft ? 'now' : 'soon',
  }
}

/**
 * Whether the full run might hold one of the withdrawals, seeing more: the guard holds some already, a hold is open that
 * they would belong to, or there are rows that make no sense, here or elsewhere in the region.
 */
function leavesWithdrawals(plan: Plan, verdict: Verdict, memory: RegionMemory, known: KnownRegion): boolean {
  if (verdict.hold || plan.quarantined.length > 0) return true
  return verdict.withdraw.length > 0 && (memory.openHold !== null || known.quarantined > 0)
}

const onlyAnnounce = ({ announce, declined }: Verdict): Verdict => ({ announce, withdraw: [], declined })
