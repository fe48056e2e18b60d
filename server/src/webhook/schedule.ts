// What follows from an attempt: when the message is tried again, and what it says about the webhook. Pure; times in ms.
import type { SendResult } from './webhook-sender.ts'

const [second, minute, hour] = [1_000, 60_000, 3_600_000]

/** Of the specification's example: the wait before each attempt after the first. Three days in all. */
const waits = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
]
export const attemptsMax = waits.length + 1
/** Up to so much later, so that what failed together does not come back together. */
const jitter = 0.2

/** A webhook that does not answer rests: twice as long after each failure in a row. */
const restFirst = 5 * second
const restMax = 5 * minute
/** A webhook that asks for a pause gets it, and no longer one than this. */
const pauseMax = hour
const retryAfterMax = 24 * hour

/** Nothing was taken for so long. */
export const failingMax = 5 * 24 * hour
/** A webhook is given up by a message that was tried this often, so that one failure in a quiet week is not enough. */
const attemptsBeforeGivingUp = 3

/** Why an attempt did not count, in words; undefined where the message was taken. */
export function errorOf(result: SendResult): string | undefined {
  if (result.kind === 'unanswered') return result.error
  const { status } = result
  if (status >= 200 && status <= 299) return undefined
  if (status >= 300 && status <= 399) return `the answer was ${status}: redirects are not followed`
  return `the answer was ${status}`
}

/** The state of the message after its attempt number `step`, counted from 1. */
export function afterAttempt(
  result: SendResult,
  step: number,
  random: number,
): { readonly state: 'delivered' | 'failed' } | { readonly state: 'pending'; readonly waitMs: number } {
  if (errorOf(result) === undefined) return { state: 'delivered' }
  const wait = waits[step - 1]
  if (wait === undefined || isGone(result)) return { state: 'failed' }
  const asked = Math.min(retryAfterMs(result), retryAfterMax)
  return { state: 'pending', waitMs: Math.round(Math.max(asked, wait) * (1 + jitter * random)) }
}

/** Nobody wants messages there any more. */
export const isGone = (result: SendResult): boolean => result.kind === 'answered' && result.status === 410

/** How long nothing more is sent there; `failures`: in a row, this one counted. A wrong answer is an answer: no rest. */
export function restAfter(result: SendResult, failures: number): number {
  if (errorOf(result) === undefined) return 0
  const asked = Math.min(retryAfterMs(result), pauseMax)
  if (result.kind === 'answered' && ![429, 502, 503, 504].includes(result.status)) return asked
  return Math.max(asked, Math.min(restMax, restFirst * 2 ** Math.min(failures - 1, 20)))
}

/** Only who is overloaded, or says so, is asked when he has time. */
function retryAfterMs(result: SendResult): number {
  if (result.kind !== 'answered' || result.retryAfterSeconds === null) return 0
  return result.status === 429 || result.status === 503 ? result.retryAfterSeconds * second : 0
}

/** Whether the webhook has failed for so long that nothing more is sent. */
export function isGivenUp(failingSince: Date, now: Date, step: number): boolean {
  return now.getTime() - failingSince.getTime() >= failingMax && step >= attemptsBeforeGivingUp
}
