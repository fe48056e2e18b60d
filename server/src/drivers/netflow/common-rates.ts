// The rates of an exporter for flows of a domain without rates: some exporters announce them in only one domain.

/** The number of announcements of each rate, so that the only rate is found without reading all. */
export class RateCounts {
  readonly #counts = new Map<number, number>()

  /** Adds the rate once more, or with -1 once less. */
  add(rate: number, by: 1 | -1): void {
    const count = (this.#counts.get(rate) ?? 0) + by
    if (count > 0) this.#counts.set(rate, count)
    else this.#counts.delete(rate)
  }

  get isEmpty(): boolean {
    return this.#counts.size === 0
  }

  /** The common rate; 0 without rates, or if they differ. */
  get only(): number {
    return this.#counts.size === 1 ? this.#counts.keys().next().value! : 0
  }
}

/** The rates of all domains of an exporter, as far as flows of other domains have them. */
export type CommonRates = {
  /** Rate of interfaces: other interfaces may not be sampled at all. */
  ofInterfaces: number
  /** Rates of domains and samplers. */
  readonly others: RateCounts
  /**
   * By sampler: IOS XE announces its samplers in a domain without flows; a domain with flows is used only without such
   * a domain.
   */
  readonly bySampler: Map<number, { readonly silent: RateCounts; readonly others: RateCounts }>
  /** When outdated rates were last searched: Unix seconds of a repeated rate. */
  sweptAt: number
}

export const createCommonRates = (): CommonRates => ({
  ofInterfaces: 0,
  others: new RateCounts(),
  bySampler: new Map(),
  sweptAt: 0,
})

/** Exporters announce their rates every few minutes, by default of IOS every 30. */
const unsampledSeconds = 3600

/**
 * The rate of a flow without a sampler, if its exporter announces no rates: 0 (unknown) in the first hour of the
 * exporter, then 1. Exporters that do not sample, such as softflowd, announce no rates.
 */
export const rateWithoutAny = (
  {
    shared: { firstSeen },
    used,
  }: { readonly shared: { readonly firstSeen: number }; readonly used: { readonly rates: number } },
  time: number,
): number => (used.rates === 0 && time - firstSeen >= unsampledSeconds ? 1 : 0)

/**
 * The rate of a flow for which neither its domain nor domain 0 has a rate: the rate of its sampler, or without a
 * sampler the only rate of the exporter. 0 without a rate, or if they differ.
 */
export function commonRateOf({ ofInterfaces, others, bySampler }: CommonRates, sampler: number): number {
  if (sampler === 0) return ofInterfaces > 0 ? 0 : others.only
  const rates = bySampler.get(sampler)
  return rates ? (rates.silent.isEmpty ? rates.others : rates.silent).only : 0
}
