// The state of a team's verification of a domain after a check, and the time of the next one: pure. Three daily checks
// in a row without the record end it; a check without an answer has no effect.
import type { DomainCheckResult } from '@pharos/contract/team/domain'
import type { RecordState } from './domain-proof.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
/** Less than a minute, including the loop's interval. */
const pendingMs = 45_000
/** Time after which a record that was never found is checked on request only. */
const stopAfterMs = 30 * dayMs
const missedMax = 3

/** The stored state. */
export type DomainState = {
  /** Null if the team is not verified for the domain. */
  readonly verified: Date | null
  readonly pendingSince: Date
  readonly lastCheck: Date | null
  readonly lastCheckResult: DomainCheckResult | null
  /** Consecutive daily checks that did not find the record. */
  readonly missed: number
  /** Null if the checks were stopped. */
  readonly due: Date | null
}

export type DomainCheck = {
  readonly record: RecordState
  /** Another team has the domain. */
  readonly claimed: boolean
  /** A check on request: it is not a daily check and never ends a verification. */
  readonly onRequest: boolean
}

export type DomainTransition = {
  /** `verify` and `lose` change whether the team is verified for the domain. */
  readonly kind: 'verify' | 'lose' | 'keep'
  readonly after: DomainState
}

/** `id` is the id of the row; it determines the time of day of the daily check. */
export function transition(id: number, before: DomainState, check: DomainCheck, now: Date): DomainTransition {
  const lastCheckResult =
    check.record === 'valid' && check.claimed && !before.verified ? 'claimed' : check.record
  const checked: DomainState = { ...before, lastCheck: now, lastCheckResult }
  return before.verified
    ? transitionVerified(id, checked, check, now)
    : transitionPending(id, checked, check, now)
}

function transitionPending(
  id: number,
  checked: DomainState,
  { record, claimed }: DomainCheck,
  now: Date,
): DomainTransition {
  if (record !== 'valid' || claimed)
    return { kind: 'keep', after: { ...checked, due: nextPending(checked.pendingSince, now) } }
  return { kind: 'verify', after: { ...checked, verified: now, missed: 0, due: nextDaily(id, now) } }
}

function transitionVerified(
  id: number,
  checked: DomainState,
  { record, onRequest }: DomainCheck,
  now: Date,
): DomainTransition {
  if (record === 'valid') return { kind: 'keep', after: { ...checked, missed: 0, due: nextDaily(id, now) } }
  if (onRequest) return { kind: 'keep', after: checked }
  if (record === 'unavailable') return { kind: 'keep', after: { ...checked, due: later(now, hourMs) } }
  const missed = checked.missed + 1
  if (missed < missedMax) return { kind: 'keep', after: { ...checked, missed, due: nextDaily(id, now) } }
  const pending = { verified: null, missed: 0, pendingSince: now, due: nextPending(now, now) }
  return { kind: 'lose', after: { ...checked, ...pending } }
}

const later = (now: Date, ms: number): Date => new Date(now.getTime() + ms)

/** Every minute on the first day, at growing intervals on the second, and hourly from then on. */
export function nextPending(since: Date, now: Date): Date | null {
  const age = now.getTime() - since.getTime()
  if (age >= stopAfterMs) return null
  return later(now, Math.min(hourMs, Math.max(pendingMs, (age - dayMs) / 24)))
}

/** Returns the row's time of day, at least half a day from now: the checks of many teams are spread over the day. */
export function nextDaily(id: number, now: Date): Date {
  // Multiplicative hashing (Knuth 6.4): consecutive ids are far from each other.
  const timeOfDay = ((Math.imul(id, 0x9e3779b1) >>> 0) / 2 ** 32) * dayMs
  const earliest = now.getTime() + dayMs / 2
  return new Date(earliest + ((((timeOfDay - earliest) % dayMs) + dayMs) % dayMs))
}
