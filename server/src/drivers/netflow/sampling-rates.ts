// The sampling rates that exporters announce in options. Newer announcements replace older ones:
// - a repeated rate expires after a silence of six times the longest interval between its announcements, at least 15
//   minutes; a rate that was not repeated since the start expires after three days, three times the longest interval
//   that IOS accepts. Datagrams with options get lost like others, so several must be missing;
// - silence is measured against the other announcements of the exporter, not by the clock. An exporter that announces
//   its rates once keeps them forever, and downtime of the collector does not count;
// - an options template whose rates change their scope (domain, interfaces, samplers) replaces its former rates
//   immediately.
// The database gets every rate that is new, changed or expired, and once an hour the time of repeated rates.
import type { SamplingRecord } from '../../flow/flow-decoder.ts'
import type { Decoding } from './decoding.ts'
import {
  recordAddressOf,
  rateScopeOf,
  rateScopes,
  type ObservationDomain,
  type SamplingRate,
  type RateScope,
  type FlowTemplate,
} from './domain.ts'
import type { Exporter } from './exporter-table.ts'
import { RateCounts } from './common-rates.ts'

/** Seconds. */
const reportInterval = 3600
const sweepInterval = 300
const silenceMin = 900
const silenceMax = 3 * 86_400
const intervalsOfSilence = 6

/** The rates on the shared state. */
export class SamplingRates {
  readonly #decoding: Decoding

  constructor(decoding: Decoding) {
    this.#decoding = decoding
  }

  /** Stores a rate from options; `time` is the time of the datagram, in Unix seconds. */
  announce(
    exporter: Exporter,
    domain: ObservationDomain,
    sampler: number,
    inIf: number,
    value: number,
    time: number,
  ): void {
    const [scope, key] = placeOf(sampler, inIf)
    const known = domain.rates[scope].get(key)
    if (!known) {
      const added = this.#add(exporter, domain, scope, key, {
        value,
        announced: time,
        reported: time,
        interval: 0,
      })
      if (added) this.#decoding.events.onSampling?.(recordOf(exporter, domain, scope, key, added))
      return
    }
    const isRepeated = known.value === value
    if (!isRepeated) {
      count(exporter, domain, scope, key, known.value, -1)
      count(exporter, domain, scope, key, value, 1)
      known.value = value
    }
    // The first interval since a restart is unknown.
    known.interval = known.interval === undefined ? 0 : Math.max(known.interval, time - known.announced)
    // Options that waited for their template are older.
    known.announced = Math.max(known.announced, time)
    if (!isRepeated || time - known.reported >= reportInterval) {
      known.reported = time
      this.#decoding.events.onSampling?.(recordOf(exporter, domain, scope, key, known))
    }
    if (isRepeated) this.#removeOutdated(exporter, time)
  }

  /** Takes a rate of an earlier run, unless the exporter has announced one since. */
  restore(
    exporter: Exporter,
    domain: ObservationDomain,
    { sampler, inIf, rate: value, announced }: SamplingRecord,
  ): void {
    const [scope, key] = placeOf(sampler, inIf)
    if (domain.rates[scope].has(key)) return
    this.#add(exporter, domain, scope, key, { value, announced, reported: announced, interval: undefined })
  }

  #add(
    exporter: Exporter,
    domain: ObservationDomain,
    scope: RateScope,
    key: number,
    rate: SamplingRate,
  ): SamplingRate | undefined {
    if (!this.#decoding.quota.take(exporter, 'rates')) {
      this.#decoding.counters.overLimit++
      return undefined
    }
    domain.rates[scope].set(key, rate)
    count(exporter, domain, scope, key, rate.value, 1)
    return rate
  }

  #remove(
    exporter: Exporter,
    domain: ObservationDomain,
    scope: RateScope,
    key: number,
    rate: SamplingRate,
  ): void {
    domain.rates[scope].delete(key)
    count(exporter, domain, scope, key, rate.value, -1)
    this.#decoding.quota.giveBack(exporter, 'rates')
    this.#decoding.events.onOutdatedSampling?.(recordOf(exporter, domain, scope, key, rate))
  }

  /** An options template was changed. */
  replaceTemplate(
    exporter: Exporter,
    domain: ObservationDomain,
    before: FlowTemplate,
    after: FlowTemplate,
  ): void {
    const scope = rateScopeOf(before)
    const next = rateScopeOf(after)
    if (scope === undefined || next === undefined || scope === next) return
    for (const [key, rate] of domain.rates[scope]) this.#remove(exporter, domain, scope, key, rate)
  }

  /** Silence is measured up to the previous sweep: all rates are repeated between two sweeps, not before the first. */
  #removeOutdated(exporter: Exporter, time: number): void {
    const { common, domains } = exporter
    const before = common.sweptAt
    if (time - before < sweepInterval) return
    common.sweptAt = time
    for (const domain of domains.values()) {
      for (const scope of rateScopes) {
        for (const [key, rate] of domain.rates[scope]) {
          if (before - rate.announced > silenceOf(rate)) this.#remove(exporter, domain, scope, key, rate)
        }
      }
    }
  }

  /** The domain has sent its first flows. */
  markFlows({ common: { bySampler } }: Exporter, domain: ObservationDomain): void {
    if (domain.hasFlows) return
    domain.hasFlows = true
    for (const [sampler, { value }] of domain.rates.sampler) {
      const rates = bySampler.get(sampler)!
      rates.silent.add(value, -1)
      rates.others.add(value, 1)
    }
  }
}

/** A sampler's number is more exact than the interface that uses it. */
function placeOf(sampler: number, inIf: number): readonly [scope: RateScope, key: number] {
  if (sampler !== 0) return ['sampler', sampler]
  return inIf === 0 ? ['domain', 0] : ['interface', inIf]
}

const silenceOf = ({ interval }: SamplingRate): number =>
  interval ? Math.min(silenceMax, Math.max(silenceMin, intervalsOfSilence * interval)) : silenceMax

/** Counts a rate of the exporter once more or once less. */
function count(
  { common }: Exporter,
  { hasFlows }: ObservationDomain,
  scope: RateScope,
  key: number,
  value: number,
  by: 1 | -1,
): void {
  if (scope === 'interface') {
    common.ofInterfaces += by
    return
  }
  common.others.add(value, by)
  if (scope === 'domain') return
  const rates = common.bySampler.get(key) ?? { silent: new RateCounts(), others: new RateCounts() }
  rates[hasFlows ? 'others' : 'silent'].add(value, by)
  if (rates.silent.isEmpty && rates.others.isEmpty) common.bySampler.delete(key)
  else common.bySampler.set(key, rates)
}

function recordOf(
  exporter: Exporter,
  { version, id }: ObservationDomain,
  scope: RateScope,
  key: number,
  { value, announced }: SamplingRate,
): SamplingRecord {
  return {
    ...recordAddressOf(exporter),
    version,
    domain: id,
    sampler: scope === 'sampler' ? key : 0,
    inIf: scope === 'interface' ? key : 0,
    rate: value,
    announced,
  }
}

/** Every rate of an exporter. */
export function listRates(exporter: Exporter): SamplingRecord[] {
  return [...exporter.domains.values()].flatMap((domain) =>
    rateScopes.flatMap((scope) =>
      Array.from(domain.rates[scope], ([key, rate]) => recordOf(exporter, domain, scope, key, rate)),
    ),
  )
}
