// What the next reading of an interface adds: minutes that are over, and the state to keep for the reading after it. Pure.
import type { CounterRow } from '../collect/device-source.ts'
import { mergeParts, minuteMs, spread, type Bucket } from './bucket.ts'
import { deltaOf, type DropReason, type PortFacts } from './delta.ts'

export type Progress = {
  readonly last: CounterRow
  /** The minute of the last reading, so far. */
  readonly open: Bucket | null
}

export type Advance = {
  readonly progress: Progress
  readonly closed: readonly Bucket[]
  readonly dropped: DropReason | null
}

/** An increase that is dropped leaves a gap; counting begins again with this reading. */
export function advance(before: Progress | undefined, row: CounterRow, facts: PortFacts): Advance {
  if (!before) return { progress: { last: row, open: null }, closed: [], dropped: null }
  // A device that sends its readings by itself has sent no other one since the last poll.
  if (row.at === before.last.at) return { progress: before, closed: [], dropped: null }
  const delta = deltaOf(before.last, row, facts)
  const parts = delta.kind === 'counted' ? spread(delta, minuteMs) : []
  const buckets = mergeParts(before.open ? [before.open, ...parts] : parts)
  const current = Math.floor(Math.round(row.at) / minuteMs) * minuteMs
  return {
    progress: { last: row, open: buckets.find(({ startMs }) => startMs >= current) ?? null },
    closed: buckets.filter(({ startMs }) => startMs < current),
    dropped: delta.kind === 'dropped' ? delta.reason : null,
  }
}
