// How complete the flows of an answer are: as collectors store it, and as the fields of an answer.
import type { FlowDelay } from './flow-delay.store.ts'

export { readFlowDelay, saveFlowDelay } from './flow-delay.store.ts'

/** Waiting flows of less than this are the usual way of a flow into the store. */
const delayMaxSeconds = 30

export type DelayFields = {
  readonly delay_seconds: number | null
  readonly complete_until: string | null
  readonly partial: boolean
}

/**
 * Returns the fields for an answer about flows until `endMs`: waiting older flows do not affect a window that ended
 * before them.
 */
export function delayFieldsOf(
  { seconds, completeUntil, isLost }: FlowDelay,
  { startMs, endMs }: { readonly startMs: number; readonly endMs: number },
): DelayFields {
  const isWithin = completeUntil !== null && endMs > completeUntil.getTime() && endMs > startMs
  return {
    delay_seconds: seconds,
    complete_until: completeUntil?.toISOString() ?? null,
    partial: isLost || (isWithin && (seconds ?? 0) > delayMaxSeconds),
  }
}
