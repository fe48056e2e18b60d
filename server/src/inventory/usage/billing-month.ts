// The billing month of a service in its time zone, on the grid of 5 minutes in UTC. Two months neither overlap nor
// leave a gap. It must not read a clock.
import { Temporal } from 'temporal-polyfill'
import { billingGridMs } from './bucket.ts'

/** Start inclusive, end exclusive; ms since 1970, multiples of the grid. */
export type Period = { readonly startMs: number; readonly endMs: number }

/** A closed period is final: readings may arrive late by this much. */
const closingMs = 24 * 3_600_000

/**
 * Returns the period of a month such as `2026-03` in an IANA time zone: from midnight of its `day` (1 to 28) until the
 * same day of the next month. Local midnight is on the grid: every current offset is a multiple of 15 minutes; past
 * offsets are rounded up. Throws a RangeError if the month or the zone does not exist.
 */
export function billingMonth(month: string, timezone: string, day = 1): Period {
  const first = Temporal.PlainYearMonth.from(month, { overflow: 'reject' })
  return { startMs: startOf(first, timezone, day), endMs: startOf(first.add({ months: 1 }), timezone, day) }
}

/** Returns the month of a time, such as `2026-03`. */
export function monthOf(ms: number, timezone: string): string {
  const local = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timezone)
  return local.toPlainDate().toPlainYearMonth().toString()
}

function startOf(month: Temporal.PlainYearMonth, timezone: string, day: number): number {
  const midnight = month.toPlainDate({ day }).toZonedDateTime(timezone)
  return roundUp(midnight.epochMilliseconds)
}

const roundUp = (ms: number): number => Math.ceil(ms / billingGridMs) * billingGridMs

/**
 * Returns the part of a period in which the port was assigned; undefined if it is empty. Excludes a bucket that is only
 * partly in an assignment, so that a customer never gets traffic of another one.
 */
export function assignedPart(
  period: Period,
  assigned: { readonly startMs: number; readonly endMs: number | null },
): Period | undefined {
  const startMs = Math.max(period.startMs, roundUp(assigned.startMs))
  const end = Math.floor((assigned.endMs ?? Infinity) / billingGridMs) * billingGridMs
  const endMs = Math.min(period.endMs, end)
  return startMs < endMs ? { startMs, endMs } : undefined
}

/** Returns the time on the grid: from the first whole bucket until the first whole bucket of the next period. */
export const onGrid = ({ startMs, endMs }: Period): Period => ({
  startMs: roundUp(startMs),
  endMs: roundUp(endMs),
})

/** Returns the intersection; undefined if it is empty. */
export function intersect(a: Period, b: Period): Period | undefined {
  const [startMs, endMs] = [Math.max(a.startMs, b.startMs), Math.min(a.endMs, b.endMs)]
  return startMs < endMs ? { startMs, endMs } : undefined
}

/** Returns the parts without the time of others. Both are in the order of time, and disjoint. */
export function subtract(parts: readonly Period[], taken: readonly Period[]): Period[] {
  return parts.flatMap(({ startMs, endMs }) => {
    const left: Period[] = []
    let at = startMs
    for (const other of taken) {
      if (other.endMs <= at || other.startMs >= endMs) continue
      if (other.startMs > at) left.push({ startMs: at, endMs: other.startMs })
      at = other.endMs
    }
    return at < endMs ? [...left, { startMs: at, endMs }] : left
  })
}

/** Returns the time of any of the parts, in order and disjoint. */
export function unionOf(parts: readonly Period[]): Period[] {
  const union: Period[] = []
  for (const part of parts.toSorted((a, b) => a.startMs - b.startMs)) {
    const last = union.at(-1)
    if (last && part.startMs <= last.endMs)
      union[union.length - 1] = { startMs: last.startMs, endMs: Math.max(last.endMs, part.endMs) }
    else union.push(part)
  }
  return union
}

/** Returns the number of buckets of 5 minutes: 8640 for 30 days without a change of clocks. */
export function bucketCount({ startMs, endMs }: Period): number {
  return (endMs - startMs) / billingGridMs
}

/** Whether the period is over for long enough to be closed. */
export function isClosable({ endMs }: Period, nowMs: number): boolean {
  return nowMs >= endMs + closingMs
}
