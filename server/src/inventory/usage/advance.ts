// The result of the next reading of an interface: completed minutes, and the state for the following reading. Pure.
import type { CounterRow } from './reading.ts'
import { mergeParts, minuteMs, spread, type Bucket } from './bucket.ts'
import { deltaOf, type CountedDelta, type DropReason, type DroppedDelta, type PortFacts } from './delta.ts'

/** State from which counting continues. */
export type Mark = {
  readonly last: CounterRow
  /** The minute of the last reading, so far. */
  readonly open: Bucket | null
}

export type Progress = Mark & {
  /** The state before an implausible last reading: counting continues from here if the next reading fits. */
  readonly held: Mark | null
}

export type Advance = {
  readonly progress: Progress
  readonly closed: readonly Bucket[]
  readonly dropped: DropReason | null
}

/** A faulty answer looks like these, and so does a reset: the next reading shows which of both it was. */
const doubtful: ReadonlySet<DropReason> = new Set(['counter_back', 'too_fast', 'stale', 'other_counters'])

/**
 * A dropped increase leaves a gap; counting restarts with this reading, or continues from before a faulty one. If the
 * clock went back, the open minute is dropped: its time comes again.
 */
export function advance(before: Progress | undefined, row: CounterRow, facts: PortFacts): Advance {
  if (!before) return { progress: { last: row, open: null, held: null }, closed: [], dropped: null }
  // A device that sends its readings by itself has sent no other one since the last poll.
  if (row.at === before.last.at) return { progress: before, closed: [], dropped: null }
  const fromHeld = before.held ? deltaOf(before.held.last, row, facts) : undefined
  if (fromHeld?.kind === 'counted') return added(before.held!.open, fromHeld, row)
  const delta = deltaOf(before.last, row, facts)
  const open = before.open ?? before.held?.open ?? null
  if (delta.kind === 'counted') return added(open, delta, row)
  const isBack = row.at < before.last.at
  if (isBack || !isDoubtful(delta, before.last)) return without(isBack ? null : open, row, delta.reason)
  const isHeld = before.held !== null && isDoubtful(fromHeld!, before.held.last)
  if (isHeld)
    return { progress: { last: row, open: null, held: before.held }, closed: [], dropped: delta.reason }
  const held = { last: before.last, open: before.open }
  const closed = before.held?.open ? [before.held.open] : []
  return { progress: { last: row, open: null, held }, closed, dropped: delta.reason }
}

/** Counters of 32 bits wrap: a smaller value is no fault. */
const isDoubtful = ({ reason }: DroppedDelta, { bits }: CounterRow): boolean =>
  doubtful.has(reason) && bits === 64

const added = (open: Bucket | null, delta: CountedDelta, row: CounterRow): Advance =>
  closing([...(open ? [open] : []), ...spread(delta, minuteMs)], row, null)

const without = (open: Bucket | null, row: CounterRow, reason: DropReason): Advance =>
  closing(open ? [open] : [], row, reason)

function closing(parts: readonly Bucket[], last: CounterRow, dropped: DropReason | null): Advance {
  const buckets = mergeParts(parts)
  const current = Math.floor(Math.round(last.at) / minuteMs) * minuteMs
  return {
    progress: { last, open: buckets.find(({ startMs }) => startMs >= current) ?? null, held: null },
    closed: buckets.filter(({ startMs }) => startMs < current),
    dropped,
  }
}
