// The order of a run that makes a target as the database wants it: read, decide, send under the fence, read back, save. The domain owns every
// statement and every decision; this file owns when they may happen. It retries nothing: the next run is the retry.
import { sql } from 'kysely'
import { asFailure } from '../db/failure.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { Failure } from '../runtime/error.ts'
import { LeaseLost, type Fence } from './lease.ts'

/** A longer pause between reading and sending, or between two steps of sending, ends the run. */
export const pauseMsMax = 15_000

export type Reconciler<Read, Decided, Sent, After, Report> = {
  /** Reads the desired state in one snapshot, and the observed state from the target. */
  read(): Promise<Read>
  /** Pure. */
  decide(read: Read): Decided
  /** Whether there is nothing to send. */
  isEmpty(decided: Decided): boolean
  /** Calls `requireCurrent` before each step that changes the target. */
  send(decided: Decided, requireCurrent: () => Promise<void>): Promise<Sent>
  /** Reads the target again if something was sent. */
  readBack(decided: Decided, sent: Sent | undefined): Promise<After>
  /** Writes within the fence only. */
  save(fence: Fence, decided: Decided, sent: Sent | undefined, after: After): Promise<Report>
  /** Saves in the fence that the target could not be reconciled. */
  saveFailure(trx: Trx, error: unknown): Promise<void>
}

export type FencedRunDeps = {
  readonly db: Db
  /** Monotonic clock, in milliseconds. */
  readonly elapsedMs: () => number
}

/** Runs once under the lease. Rejects with the error of the run, after saving the failure. */
export async function runOnce<Read, Decided, Sent, After, Report>(
  { db, elapsedMs }: FencedRunDeps,
  lease: Fence,
  reconciler: Reconciler<Read, Decided, Sent, After, Report>,
): Promise<Report> {
  try {
    let currentMs = elapsedMs()
    const decided = reconciler.decide(await reconciler.read())
    const send = (trx: Trx): Promise<Sent> =>
      reconciler.send(decided, async () => {
        const pausedMs = elapsedMs() - currentMs
        if (pausedMs > pauseMsMax) throw new RunPaused(pausedMs)
        // Fails if PostgreSQL has ended the transaction and with it the fence; otherwise its limit begins again.
        await sql`select`.execute(trx)
        currentMs = elapsedMs()
      })
    const sent = reconciler.isEmpty(decided) ? undefined : await lease.fence(db, send)
    return await reconciler.save(lease, decided, sent, await reconciler.readBack(decided, sent))
  } catch (error) {
    if (!(error instanceof LeaseLost || error instanceof RunPaused || isDatabaseAway(error)))
      await lease.fence(db, (trx) => reconciler.saveFailure(trx, error)).catch(() => {})
    throw error
  }
}

/** The plan may be outdated: nothing more was sent. */
class RunPaused extends Error {
  constructor(pausedMs: number) {
    super(`the run made no progress for ${Math.round(pausedMs / 1000)} s; nothing more is sent`)
    this.name = 'RunPaused'
  }
}

export function isDatabaseAway(error: unknown): boolean {
  const failure = asFailure(error)
  return failure instanceof Failure && failure.code === 'unavailable'
}
