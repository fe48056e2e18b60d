// Counters that devices send by themselves (sFlow), on their way to polls: the newest sample of each interface is kept.
import type { Db } from '../../db/postgres.ts'
import { writeRows, type RefusedRow } from '../../db/write-rows.ts'
import { nextSample, type CounterSample, type SampledInterface } from './next-sample.ts'
import { deleteOldSamples, listSamples, lockSampledDevice, upsertSamples } from './sampled-counters.store.ts'

export type { CounterSample }

/** More are not stored: anybody who can send datagrams can invent numbers of interfaces. */
const interfacesMax = 10_000

/**
 * Stores the samples of an exporter, in order of arrival, and returns the refused ones. Ignores samples of a device
 * that is not read by sFlow.
 */
export function saveSamples(
  db: Db,
  exporter: string,
  samples: readonly CounterSample[],
): Promise<RefusedRow<unknown>[]> {
  return db.transaction().execute(async (trx) => {
    const deviceId = await lockSampledDevice(trx, exporter)
    if (deviceId === undefined) return []
    const newest = new Map((await listSamples(trx, deviceId)).map((one) => [one.ifIndex, one]))
    const changed = new Map<number, SampledInterface>()
    for (const sample of samples) {
      const known = newest.get(sample.ifIndex)
      const next = known || newest.size < interfacesMax ? nextSample(known, sample) : undefined
      if (!next) continue
      newest.set(next.ifIndex, next)
      changed.set(next.ifIndex, next)
    }
    const refused = await writeRows(trx, [...changed.values()], (some) => upsertSamples(trx, deviceId, some))
    await deleteOldSamples(trx, deviceId)
    return refused
  })
}
