// Rotates the refresh tokens of concurrent requests in common statements, each with one commit. The result does not
// depend on which requests share a statement: omitted tokens are tried alone.
import type { Db } from '../db/postgres.ts'
import { Failure } from '../runtime/error.ts'
import { inBatches } from '../runtime/in-batches.ts'
import { rotateSessions, type Presented, type SessionHolder, type SessionLifetime } from './session.store.ts'

/** Rotates the presented token; undefined if it is not the newest of an active session. */
export type Rotate = (presented: Presented) => Promise<SessionHolder | undefined>

/** Limit per statement, which then takes a few milliseconds. */
const batchMax = 50

/** Creates the function for one process. */
export function createRotate(db: Db, lifetime: SessionLifetime): Rotate {
  const rotateInBatch = inBatches(batchMax, (presented: readonly Presented[]) =>
    rotateBatch(db, presented, lifetime),
  )
  return async (presented) => {
    const holder = await rotateInBatch(presented)
    if (holder) return holder
    // Not the newest token, or a session that is being changed: this statement waits for the change.
    const [alone] = await rotateSessions(db, [presented], lifetime, { skipLocked: false })
    return alone
  }
}

/** Returns the holder of each token; undefined for tokens that the statement did not rotate. */
async function rotateBatch(
  db: Db,
  presented: readonly Presented[],
  lifetime: SessionLifetime,
): Promise<(SessionHolder | undefined)[]> {
  const holders = await rotateSessions(db, presented, lifetime, { skipLocked: true }).catch(leaveOut)
  const bySession = new Map(holders.map((holder) => [holder.sessionId, holder]))
  return presented.map(({ sessionId }) => bySession.get(sessionId))
}

/** One value that PostgreSQL rejects must not fail the other requests; a database that is unavailable fails all of them. */
function leaveOut(error: unknown): SessionHolder[] {
  if (error instanceof Failure) throw error
  return []
}
