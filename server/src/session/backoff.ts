// The delay after failed sign-ins to an account. Pure: it depends on the count, the times and now.
//
// Five failures are free; each further one doubles the delay, up to 15 minutes, so that no user is locked out permanently. An
// attempt counts as failed from its start until it succeeds, so simultaneous attempts are admitted no more often than sequential
// ones.

export const freeFailures = 5
const firstWaitMs = 1_000
export const longestWaitMs = 15 * 60_000
export const forgottenAfterMs = 24 * 3_600_000

export type Failures = {
  readonly failures: number
  /** When the latest attempt began. */
  readonly latest: Date
}

/** The state without failures. */
export const noFailures: Failures = { failures: 0, latest: new Date(0) }

/** Returns the delay after the latest attempt for this number of failures. */
export function waitMsAfter(failures: number): number {
  if (failures < freeFailures) return 0
  return Math.min(firstWaitMs * 2 ** (failures - freeFailures), longestWaitMs)
}

export type AttemptVerdict =
  | { readonly kind: 'refused'; readonly waitMs: number }
  /** `next`: the state while the attempt is in progress, and if it fails. */
  | { readonly kind: 'counted'; readonly next: Failures }

/** Returns whether an attempt may start now. If the clock was set back, the delay is still at most the longest one. */
export function judgeAttempt(known: Failures, now: Date): AttemptVerdict {
  const sinceMs = now.getTime() - known.latest.getTime()
  if (sinceMs >= forgottenAfterMs) return { kind: 'counted', next: { failures: 1, latest: now } }
  const waitMs = waitMsAfter(known.failures)
  const leftMs = Math.min(waitMs - sinceMs, waitMs)
  if (leftMs > 0) return { kind: 'refused', waitMs: leftMs }
  return { kind: 'counted', next: { failures: known.failures + 1, latest: now } }
}
