// How long an account makes somebody wait who keeps failing to sign in. Pure: the count, the times and now decide.
//
// Five failures are free; after each further one the wait doubles, up to a quarter of an hour, and never longer: nobody
// is shut out for good. An attempt counts from its beginning, as if it had failed, until it turns out otherwise: however
// many come at once, no more get through than would have one after the other.

export const freeFailures = 5
const firstWaitMs = 1_000
export const longestWaitMs = 15 * 60_000
export const forgottenAfterMs = 24 * 3_600_000

export type Failures = {
  readonly failures: number
  /** When the latest attempt began. */
  readonly latest: Date
}

/** What nobody has failed at yet. */
export const noFailures: Failures = { failures: 0, latest: new Date(0) }

/** The wait from the latest attempt on, after so many failures. */
export function waitMsAfter(failures: number): number {
  if (failures < freeFailures) return 0
  return Math.min(firstWaitMs * 2 ** (failures - freeFailures), longestWaitMs)
}

export type AttemptVerdict =
  | { readonly kind: 'refused'; readonly waitMs: number }
  /** `next`: what is known while the attempt is under way, and if it fails. */
  | { readonly kind: 'counted'; readonly next: Failures }

/** Whether an attempt may begin now. A clock that went back makes nobody wait longer than the longest wait. */
export function judgeAttempt(known: Failures, now: Date): AttemptVerdict {
  const sinceMs = now.getTime() - known.latest.getTime()
  if (sinceMs >= forgottenAfterMs) return { kind: 'counted', next: { failures: 1, latest: now } }
  const waitMs = waitMsAfter(known.failures)
  const leftMs = Math.min(waitMs - sinceMs, waitMs)
  if (leftMs > 0) return { kind: 'refused', waitMs: leftMs }
  return { kind: 'counted', next: { failures: known.failures + 1, latest: now } }
}
