// Counter samples of sFlow on their way to the inventory. They are bounded by exporter: while the database is down, the
// newest sample of each interface stays queued.
import { saveSamples, type CounterSample } from '../inventory/collect/sampled-counters.ts'
import type { Db } from '../db/postgres.ts'
import { reportRefused, type RefusedRow } from '../db/write-rows.ts'
import type { InterfaceCounters } from '../flow/flow-decoder.ts'

/** Anybody who can send datagrams can invent numbers of interfaces. */
const waitingMax = 10_000

/** No port is faster: it is not known. */
const speedMax = 10n ** 15n

export type CounterSamples = {
  add(counters: InterfaceCounters): void
  /**
   * Writes queued samples. Rejects if the database does not answer (they stay queued), and if it refuses samples, which
   * are dropped.
   */
  save(db: Db): Promise<void>
}

export function createCounterSamples(): CounterSamples {
  /** By exporter, then by number of the interface. */
  const waiting = new Map<string, Map<number, CounterSample>>()
  const put = (exporter: string, sample: CounterSample, isNewer: boolean): void => {
    const samples = waiting.get(exporter) ?? new Map<number, CounterSample>()
    waiting.set(exporter, samples)
    const isKnown = samples.has(sample.ifIndex)
    if (isKnown ? isNewer : samples.size < waitingMax) samples.set(sample.ifIndex, sample)
  }
  return {
    add(counters) {
      if (isPossible(counters)) put(counters.exporter, sampleOf(counters), true)
    },
    async save(db) {
      const refused: RefusedRow<unknown>[] = []
      for (const [exporter, samples] of waiting) {
        waiting.delete(exporter)
        try {
          refused.push(...(await saveSamples(db, exporter, [...samples.values()])))
        } catch (error) {
          for (const sample of samples.values()) put(exporter, sample, false)
          throw error
        }
      }
      reportRefused('counters of interfaces', refused)
    },
  }
}

/** Numbers and types of interfaces are positive numbers of 31 bits (RFC 2863). */
const isPossible = ({ ifIndex, ifType }: InterfaceCounters): boolean =>
  ifIndex > 0 && ifIndex < 2 ** 31 && ifType < 2 ** 31

function sampleOf({
  exporter: _exporter,
  agent: _agent,
  direction: _direction,
  ...counters
}: InterfaceCounters): CounterSample {
  const { timeMs, uptimeMs, name, ifIndex, ifType, speed, adminUp, operUp, ...totals } = counters
  return {
    at: timeMs,
    uptimeMs,
    name,
    ifIndex,
    type: ifType,
    speedBps: speed > speedMax ? 0 : Number(speed),
    isAdminUp: adminUp,
    isOperUp: operUp,
    counters: totals,
  }
}
