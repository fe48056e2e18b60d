// The state machine of an alert rule: from values in order to firings. Pure; the loop and the trial against the past use the same.
// A missing value counts neither as beyond the limit nor as within it.
import {
  alertTellUnknownAfterMinutes,
  alertUnknownAfterMinutes,
  type AlertLimit,
  type AlertState,
} from '@pharos/contract/alert/alert-rule'

const minuteMs = 60_000

/** What is known of a rule after its last value. */
export type AlertMemory = {
  readonly state: AlertState
  readonly sinceMs: number
  /** Whether a firing is open. It stays open while the state is unknown. */
  readonly isFiring: boolean
  /** The last measured value. */
  readonly value: number | null
  /** Measured time beyond the limit in the current run, and within it. */
  readonly aboveMs: number
  readonly belowMs: number
  /** Start of the run beyond the limit. */
  readonly runSinceMs: number | null
  readonly unknownMs: number
  readonly toldUnknown: boolean
}

/** One value of a series; null: nothing was measured in that time. */
export type AlertStep = { readonly startMs: number; readonly endMs: number; readonly value: number | null }

export type AlertChange =
  | { readonly kind: 'fired'; readonly startedMs: number; readonly atMs: number; readonly value: number }
  | { readonly kind: 'cleared'; readonly atMs: number }
  | { readonly kind: 'unknown'; readonly sinceMs: number; readonly atMs: number }

export type AlertTiming = { readonly limit: AlertLimit; readonly clearMinutes: number }

/** The memory of a rule that has not compared any value. */
export const newMemory = (sinceMs: number): AlertMemory => ({
  state: 'unknown',
  sinceMs,
  isFiring: false,
  value: null,
  aboveMs: 0,
  belowMs: 0,
  runSinceMs: null,
  unknownMs: 0,
  toldUnknown: false,
})

const isBeyond = ({ threshold, comparison }: AlertLimit, value: number): boolean =>
  comparison === 'above' ? value > threshold : value < threshold

/** Returns the memory after the steps, and the changes in them in order. */
export function evaluate(
  timing: AlertTiming,
  before: AlertMemory,
  steps: readonly AlertStep[],
): { readonly memory: AlertMemory; readonly changes: readonly AlertChange[] } {
  const changes: AlertChange[] = []
  let memory = before
  for (const step of steps) {
    const next =
      step.value === null ? withoutValue(memory, step) : withValue(timing, memory, step, step.value)
    memory = next.memory
    if (next.change) changes.push(next.change)
  }
  return { memory, changes }
}

type Next = { readonly memory: AlertMemory; readonly change?: AlertChange }

/** A gap that is too long ends the run: nobody knows what happened in it. */
function withoutValue(before: AlertMemory, { startMs, endMs }: AlertStep): Next {
  const lengthMs = endMs - startMs
  const unknownMs = before.unknownMs + lengthMs
  // Values of an hour or a day are missing once or twice.
  const limitMs = Math.max(alertUnknownAfterMinutes * minuteMs, 2 * lengthMs)
  const tellMs = Math.max(alertTellUnknownAfterMinutes * minuteMs, 4 * lengthMs)
  const memory = { ...before, unknownMs }
  if (unknownMs < limitMs) return { memory }
  const gapStartMs = endMs - unknownMs
  const isNew = before.state !== 'unknown'
  const unknown = {
    ...memory,
    state: 'unknown' as const,
    sinceMs: isNew ? gapStartMs : before.sinceMs,
    aboveMs: 0,
    belowMs: 0,
    runSinceMs: null,
  }
  if (unknownMs < tellMs || before.toldUnknown) return { memory: unknown }
  return {
    memory: { ...unknown, toldUnknown: true },
    change: { kind: 'unknown', sinceMs: gapStartMs, atMs: endMs },
  }
}

function withValue(
  { limit, clearMinutes }: AlertTiming,
  before: AlertMemory,
  { startMs, endMs }: AlertStep,
  value: number,
): Next {
  const beyond = isBeyond(limit, value)
  const lengthMs = endMs - startMs
  const known = {
    ...before,
    value,
    unknownMs: 0,
    toldUnknown: false,
    aboveMs: beyond ? before.aboveMs + lengthMs : 0,
    belowMs: beyond ? 0 : before.belowMs + lengthMs,
    runSinceMs: beyond ? (before.runSinceMs ?? startMs) : null,
  }
  if (!before.isFiring && beyond && known.aboveMs >= limit.forMinutes * minuteMs)
    return {
      memory: { ...known, state: 'firing', sinceMs: endMs, isFiring: true },
      change: { kind: 'fired', startedMs: known.runSinceMs!, atMs: endMs, value },
    }
  if (before.isFiring && !beyond && known.belowMs >= clearMinutes * minuteMs)
    return {
      memory: { ...known, state: 'ok', sinceMs: endMs, isFiring: false },
      change: { kind: 'cleared', atMs: endMs },
    }
  const state = before.isFiring ? 'firing' : 'ok'
  return { memory: { ...known, state, sinceMs: before.state === state ? before.sinceMs : startMs } }
}
