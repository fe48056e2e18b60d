// The samples of a billed month: the buckets of 5 minutes of a port, or of several added, and their file. Pure.
import { type BucketRate, rateOf, sumMembers } from '../usage/bucket.ts'
import type { Counted } from '../usage/counted.store.ts'

/** A bucket with anything measured, in the view of the customer. Null: no such counter. */
export type Sample = {
  readonly startMs: number
  readonly coveredMs: number
  readonly octetsIn: number | null
  readonly octetsOut: number | null
  /** Undefined: too little is measured for a rate. */
  readonly rate: BucketRate | undefined
}

/** The customer receives what the device sends. */
export const samplesOf = ({ at, coveredMs, values }: Counted): Sample[] =>
  at.map((startMs, index) => {
    const covered = coveredMs[index]!
    const [octetsIn, octetsOut] = [values.octets_out![index]!, values.octets_in![index]!]
    const rate = rateOf({ startMs, coveredMs: covered, values: { octetsIn, octetsOut } })
    return { startMs, coveredMs: covered, octetsIn, octetsOut, rate }
  })

export type SampledPort = {
  readonly samples: readonly Sample[]
  /** Whether it was up at any time of the bucket while it belonged to the service. */
  wasUp(startMs: number): boolean
}

/** The samples of several ports as one: added per bucket. A bucket has a rate if every port that was up has one. */
export function addSamples(ports: readonly SampledPort[]): Sample[] {
  if (ports.length === 1) return [...ports[0]!.samples]
  const rates = new Map(
    sumMembers(
      ports.map(({ samples, wasUp }) => ({ rates: samples.flatMap(({ rate }) => rate ?? []), wasUp })),
    ).map((rate) => [rate.startMs, rate]),
  )
  const byStart = Map.groupBy(
    ports.flatMap(({ samples }) => samples),
    ({ startMs }) => startMs,
  )
  return [...byStart]
    .sort(([a], [b]) => a - b)
    .map(([startMs, parts]) => ({
      startMs,
      coveredMs: Math.min(...parts.map(({ coveredMs }) => coveredMs)),
      octetsIn: sumOf(parts.map(({ octetsIn }) => octetsIn)),
      octetsOut: sumOf(parts.map(({ octetsOut }) => octetsOut)),
      rate: rates.get(startMs),
    }))
}

const sumOf = (values: readonly (number | null)[]): number | null =>
  values.some((value) => value === null) ? null : values.reduce<number>((sum, value) => sum + value!, 0)

const head = 'start,covered_ms,octets_in,octets_out,in_bps,out_bps,sum_bps'

/**
 * The file of the samples, whose SHA-256 is in a closed bill: RFC 4180 with LF, ordered by time, times in UTC. Skips
 * buckets without a measurement.
 */
export function samplesFile(samples: readonly Sample[]): string {
  const rows = samples.map(({ startMs, coveredMs, octetsIn, octetsOut, rate }) =>
    [
      new Date(startMs).toISOString().replace('.000Z', 'Z'),
      coveredMs,
      octetsIn ?? '',
      octetsOut ?? '',
      ...(rate ? [rate.inBps, rate.outBps, rate.inBps + rate.outBps] : ['', '', '']),
    ].join(','),
  )
  return `${[head, ...rows].join('\n')}\n`
}
