// Rates of the rules' counters, from the readings that polls of the portal return. Pure.
import type { ShieldRule } from '@pharos/contract/shield/shield'

type Reading = {
  /** The packets at `readMs`, from which the next rate is counted. */
  readonly packets: number
  readonly readMs: number
  /** `last_hit` of the newest answer, and when the portal received it first. */
  readonly lastHit: string
  readonly receivedMs: number
  /** Packets per second. */
  readonly rate?: number
}
/** Readings by the id of their rule. */
export type Readings = ReadonlyMap<number, Reading>

type Counted = Pick<ShieldRule, 'id' | 'hits'>

/** The server reads each scrubber every 10 s; closer readings come from different scrubbers. */
const closestMs = 5_000
/** After this time without a new reading the counter has stopped. */
const stoppedMs = 25_000

/** Returns the readings after an answer that the portal received at `now`, in milliseconds. */
export const readingsAfter = (before: Readings, rules: readonly Counted[], now: number): Readings =>
  new Map(
    rules.flatMap(({ id, hits }) =>
      hits?.last_hit ? [[id, readingAfter(before.get(id), hits.packets, hits.last_hit, now)] as const] : [],
    ),
  )

function readingAfter(before: Reading | undefined, packets: number, lastHit: string, now: number): Reading {
  const readMs = Date.parse(lastHit)
  const first: Reading = { packets, readMs, lastHit, receivedMs: now }
  if (!before || packets < before.packets) return first
  if (lastHit === before.lastHit) {
    const { rate: _, ...stopped } = before
    return now - before.receivedMs > stoppedMs ? stopped : before
  }
  const distance = readMs - before.readMs
  if (distance < closestMs) return { ...before, lastHit, receivedMs: now }
  return distance > stoppedMs ? first : { ...first, rate: ((packets - before.packets) / distance) * 1000 }
}

/** Returns packets per second by the id of a rule as text, of the counters that rise. */
export const ratesOf = (readings: Readings): ReadonlyMap<string, number> =>
  new Map(
    [...readings].flatMap(([id, { rate }]) =>
      rate === undefined || rate <= 0 ? [] : [[String(id), rate] as const],
    ),
  )
