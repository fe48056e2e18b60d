// The consequences of an attempt: when the message is sent again, and the new state of the webhook. Pure; times in ms.
import { backOff } from '../runtime/back-off.ts'
import type { SendResult } from './webhook-sender.ts'

const [second, minute, hour] = [1_000, 60_000, 3_600_000]

/** The delay before each attempt after the first, as in the example of Standard Webhooks. Three days in total. */
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
/** Jitter, so that messages that failed together are not retried together. */
const jitter = 0.2

/** A webhook that does not respond is paused: twice as long after each consecutive failure. */
const restMs = { first: 5 * second, max: 5 * minute }
/** The longest pause that Retry-After can set. */
const pauseMax = hour
const retryAfterMax = 24 * hour

/** A webhook that has failed for this long is disabled. */
export const failingMax = 5 * 24 * hour
/**
 * A webhook is disabled only by a message with this many attempts, so that one failure in a quiet week is not enough.
 */
const attemptsBeforeDisabling = 3

/** Returns why the attempt failed, as text; undefined if the message was accepted. */
export function errorOf(result: SendResult): string | undefined {
  if (result.kind === 'unanswered') return result.error
  const { status } = result
  if (status >= 200 && status <= 299) return undefined
  if (status >= 300 && status <= 399) return `the response was ${status}: redirects are not followed`
  return `the response was ${status}`
}

/** Returns the state of the message after its attempt number `step`, counted from 1. */
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

/** Whether the endpoint wants no more messages: 410 Gone. */
export const isGone = (result: SendResult): boolean => result.kind === 'answered' && result.status === 410

/**
 * Returns how long the webhook is paused. `failures`: consecutive, including this one. An error response is a response
 * and causes no pause.
 */
export function restAfter(result: SendResult, failures: number): number {
  if (errorOf(result) === undefined) return 0
  const asked = Math.min(retryAfterMs(result), pauseMax)
  if (result.kind === 'answered' && ![429, 502, 503, 504].includes(result.status)) return asked
  return Math.max(asked, backOff(failures, restMs))
}

/** Retry-After is honoured for endpoints that report an overload, and for no others. */
function retryAfterMs(result: SendResult): number {
  if (result.kind !== 'answered' || result.retryAfterSeconds === null) return 0
  return result.status === 429 || result.status === 503 ? result.retryAfterSeconds * second : 0
}

/** Whether the webhook has failed for so long that it is disabled. */
export function mustBeDisabled(failingSince: Date, now: Date, step: number): boolean {
  return now.getTime() - failingSince.getTime() >= failingMax && step >= attemptsBeforeDisabling
}
