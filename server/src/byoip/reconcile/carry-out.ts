// What both kinds of run do alike: send a guarded plan under the fence of the region, and put together what became of it.
// It decides nothing: what may be sent was decided by the guard, and a failure here is the run's.
import type { Db, Trx } from '../../db/postgres.ts'
import type { Prefix } from '../../net/prefix.ts'
import { planAgeMsMax, type Verdict } from './guard.ts'
import type { Outcome } from './observe.ts'
import type { Plan, RouteSettings } from './plan.ts'
import { confirmWithdrawals, saveFailedCheck } from './reconcile.store.ts'
import { LeaseLost, type RegionLease } from './region-lock.store.ts'
import { SpeakerError, type Route, type Speaker } from './speaker.ts'

/** What every run needs. */
export type RunDeps = {
  readonly db: Db
  readonly speaker: Speaker
  /** The speaker's own ASN, which it is asked for once per connection. */
  readonly asn: () => Promise<number>
  readonly routes: RouteSettings
  readonly now: () => Date
  /** Milliseconds that only go forward. */
  readonly elapsedMs: () => number
}

/** The run was dropped while it read, for one that is more urgent: it has changed nothing and found nothing out. */
export class GivenWay extends Error {
  constructor() {
    super('the run gave way to a more urgent one')
    this.name = 'GivenWay'
  }
}

/** Rejects with whatever failed the run, after noting that the region could not be checked. */
export async function orNoteFailure<T>(db: Db, lease: RegionLease, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    // Whoever took over says how the region is; a database that is down cannot be told.
    if (!(error instanceof LeaseLost || error instanceof GivenWay)) {
      const message = error instanceof Error ? error.message : String(error)
      await saveFailedCheck(db, lease, message).catch(() => {})
    }
    throw error
  }
}

export type Sent = {
  readonly withdrawn: ReadonlySet<Prefix>
  readonly refused: ReadonlySet<string>
}

export const nothingSent: Sent = { withdrawn: new Set(), refused: new Set() }

/** Whether there is anything to send, and so anything to read back. */
export const isSilent = ({ announce, withdraw }: Verdict): boolean => announce.length + withdraw.length === 0

/** Carries the verdict out in planOrder, in a transaction of whileHolding(). */
export async function sendPlan(
  trx: Trx,
  { speaker }: RunDeps,
  lease: RegionLease,
  plan: Plan,
  { announce, withdraw }: Verdict,
  ageMs: () => number,
): Promise<Sent> {
  requireFresh(ageMs())
  const refusedNew = await refusedBy(speaker.announce(announce))
  if (withdraw.length === 0) return { withdrawn: new Set(), refused: refusedNew }
  const approved = withdraw.filter((one) => one.approved).length
  const unexplained = new Set(plan.unexplained)
  const { known = [], unknown = [] } = Object.groupBy(prefixesOf(withdraw), (prefix) =>
    unexplained.has(prefix) ? 'unknown' : 'known',
  )
  const [confirmed] = await Promise.all([
    confirmWithdrawals(trx, lease.regionId, known, unknown),
    lease.recordWithdrawals({ approved, free: withdraw.length - approved }),
  ])
  requireFresh(ageMs())
  const refusedOld = await refusedBy(speaker.withdraw(confirmed.map((prefix) => ({ prefix }))))
  return { withdrawn: new Set(confirmed), refused: refusedNew.union(refusedOld) }
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

export function outcomeOf(
  plan: Plan,
  verdict: Verdict,
  waiting: ReadonlyMap<Prefix, Date>,
  after: ReadonlyMap<Prefix, Route>,
  { withdrawn, refused }: Sent,
): Outcome {
  return {
    after,
    wanted: byPrefix(plan.announce),
    waiting,
    withdrawn,
    held: new Set(verdict.hold?.withdrawals),
    declined: new Set(verdict.declined),
    refused,
  }
}

export const byPrefix = (routes: readonly Route[]): Map<Prefix, Route> =>
  new Map(routes.map((route) => [route.prefix, route]))

const prefixesOf = (withdrawals: readonly { prefix: Prefix }[]): Prefix[] =>
  withdrawals.map(({ prefix }) => prefix)
