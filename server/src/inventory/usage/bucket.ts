// Octets in exact time buckets: an increase is divided among the buckets that it overlaps, in integers, so that the parts add up
// to it. A bucket records for how long it has values. It must not fill gaps.
import { type CounterValues, mapCounters } from './reading.ts'

export const minuteMs = 60_000
/** The grid of billing: 5 minutes from 1970 in UTC. */
export const billingGridMs = 300_000
/** A bucket of 5 minutes with values for less time is missing. */
export const completeMs = 150_000

export type Bucket = {
  /** Multiple of the grid, ms since 1970. */
  readonly startMs: number
  /** Covered time of the values; the rest of the bucket is unknown. */
  readonly coveredMs: number
  readonly values: CounterValues
}

export type Increase = { readonly startMs: number; readonly endMs: number; readonly values: CounterValues }

/**
 * Returns the parts of an increase by bucket, in order. By cumulative division the parts add up to the increase, and
 * parts of a finer grid add up to parts of a coarser one.
 */
export function spread({ startMs, endMs, values }: Increase, gridMs: number): Bucket[] {
  const lengthMs = BigInt(endMs - startMs)
  const until = (value: bigint, ms: number): bigint => (value * BigInt(ms - startMs)) / lengthMs
  const parts: Bucket[] = []
  for (let at = Math.floor(startMs / gridMs) * gridMs; at < endMs; at += gridMs) {
    const [from, to] = [Math.max(at, startMs), Math.min(at + gridMs, endMs)]
    const partOf = (value: bigint | null): bigint | null =>
      value === null ? null : until(value, to) - until(value, from)
    parts.push({ startMs: at, coveredMs: to - from, values: mapCounters((name) => partOf(values[name])) })
  }
  return parts
}

/** Returns the sum of two parts of the same bucket. A value that is unknown for one part is unknown for both. */
function addParts(a: Bucket, b: Bucket): Bucket {
  const sumOf = (x: bigint | null, y: bigint | null): bigint | null =>
    x === null || y === null ? null : x + y
  return {
    startMs: a.startMs,
    coveredMs: a.coveredMs + b.coveredMs,
    values: mapCounters((name) => sumOf(a.values[name], b.values[name])),
  }
}

/** Returns the buckets of all parts, ordered by their start. */
export function mergeParts(parts: Iterable<Bucket>): Bucket[] {
  const buckets = new Map<number, Bucket>()
  for (const part of parts) {
    const known = buckets.get(part.startMs)
    buckets.set(part.startMs, known ? addParts(known, part) : part)
  }
  return [...buckets.values()].sort((a, b) => a.startMs - b.startMs)
}

/** Average rates of a bucket of 5 minutes, whole bit/s. */
export type BucketRate = { readonly startMs: number; readonly inBps: number; readonly outBps: number }

/** Whole bit/s, rounded down; exact for integers, below 2^53 octets and bit/s. */
export function bpsOf(octets: number, coveredMs: number): number {
  const perMs = Math.floor(octets / coveredMs)
  return 8_000 * perMs + Math.floor((8_000 * (octets - perMs * coveredMs)) / coveredMs)
}

/** Returns the rates of a bucket of 5 minutes; undefined if it is missing: unknown, or covered for less than 150 s. */
export function rateOf({
  startMs,
  coveredMs,
  values: { octetsIn, octetsOut },
}: {
  readonly startMs: number
  readonly coveredMs: number
  readonly values: { readonly octetsIn: number | null; readonly octetsOut: number | null }
}): BucketRate | undefined {
  if (coveredMs < completeMs || octetsIn === null || octetsOut === null) return undefined
  return { startMs, inBps: bpsOf(octetsIn, coveredMs), outBps: bpsOf(octetsOut, coveredMs) }
}

/** A port that is billed together with others. */
export type BucketMember = {
  readonly rates: readonly BucketRate[]
  /** Whether the port was up at any time of the bucket: only then a missing bucket hides traffic. */
  wasUp(startMs: number): boolean
}

/**
 * Returns the rates of several ports billed as one, added per bucket. A bucket is missing if a member that was up has
 * no value, so that a lost reading of one member does not lower the sum.
 */
export function sumMembers(members: readonly BucketMember[]): BucketRate[] {
  const byStart = members.map(({ rates }) => new Map(rates.map((rate) => [rate.startMs, rate])))
  const starts = [...new Set(byStart.flatMap((rates) => [...rates.keys()]))].sort((a, b) => a - b)
  const isComplete = (startMs: number): boolean =>
    members.every((member, index) => byStart[index]!.has(startMs) || !member.wasUp(startMs))
  return starts.filter(isComplete).map((startMs) => {
    const rates = byStart.flatMap((of) => of.get(startMs) ?? [])
    return {
      startMs,
      inBps: rates.reduce((sum, { inBps }) => sum + inBps, 0),
      outBps: rates.reduce((sum, { outBps }) => sum + outBps, 0),
    }
  })
}
