// How full ports are in each bucket of 5 minutes, of many ports in one statement: the rates of the usage of a port beside its speed.
import type { ReadStatement } from '../../db/postgres.ts'
import { billingGridMs, bpsOf, completeMs } from './bucket.ts'
import type { Counted } from './counted.store.ts'
import { listSpeeds, readHeldBuckets, type HeldPort } from './port-loads.store.ts'

export type PortLoads = {
  /** Null: not known; undefined: the team does not have the port now. */
  readonly speedBps: number | null | undefined
  readonly buckets: readonly PortLoad[]
}
export type PortLoad = {
  readonly startMs: number
  /** Percent of the speed, as the customer sees the directions; null: the device does not count it. */
  readonly inPercent: number | null
  readonly outPercent: number | null
  /** False: a later reading may still change it. */
  readonly isWhole: boolean
}

/** Returns the loads by key. Buckets of which less than half is measured are left out. */
export async function readPortLoads(
  read: ReadStatement,
  ports: readonly HeldPort[],
): Promise<ReadonlyMap<number, PortLoads>> {
  if (ports.length === 0) return new Map()
  const [speeds, counted] = await Promise.all([listSpeeds(read, ports), readHeldBuckets(read, ports)])
  return new Map(
    ports.map(({ key }) => {
      const speedBps = speeds.get(key)
      const own = counted.get(key)
      return [key, { speedBps, buckets: own && speedBps ? loadsOf(own, speedBps) : [] }]
    }),
  )
}

function loadsOf({ at, coveredMs, values }: Counted, speedBps: number): PortLoad[] {
  const percentOf = (octets: number | null, covered: number): number | null =>
    octets === null ? null : Math.round((100_000 * bpsOf(octets, covered)) / speedBps) / 1000
  return at.flatMap((startMs, index) => {
    const covered = coveredMs[index]!
    if (covered < completeMs) return []
    // The customer receives what the device sends.
    const inPercent = percentOf(values.octets_out![index]!, covered)
    const outPercent = percentOf(values.octets_in![index]!, covered)
    return [{ startMs, inPercent, outPercent, isWhole: covered >= billingGridMs }]
  })
}
