// The figures of a billed month from its samples. Pure; rates are whole bits per second.
import type { BillablePort } from '@pharos/contract/inventory/bill'
import type { BillingDirection, BillingMethod } from '@pharos/contract/inventory/billing-rules'
import { intersect, type Period } from '../usage/billing-month.ts'
import { type BucketRate, billingGridMs } from '../usage/bucket.ts'
import { forecastOf } from '../usage/forecast.ts'
import { bpsIn, percentileOf, type Percentile } from '../usage/percentile.ts'
import { chargedOf, priceOf, type PriceTerms } from './price.ts'
import type { Sample } from './samples.ts'
import type { BillingTerms } from './terms.ts'

/** A port, or all ports of a service together. */
export type Billed = {
  /** Null: all ports of the service. */
  readonly portId: number | null
  readonly portIds: readonly number[]
  readonly name: string
  readonly circuitId: string
  readonly speedBps: number | null
  /** A port counts with 32 bits, too few for its speed. */
  readonly hasSmallCounters: boolean
  /** The assignments, on the grid; the samples are of these. */
  readonly parts: readonly Period[]
  /** Samples of the month and, for the forecast, of the four weeks before now. */
  readonly samples: readonly Sample[]
  /** Received octets of attacks by the start of the bucket; null if no flows of the ports were received. */
  readonly attackOctets: ReadonlyMap<number, number> | null
}

export type MonthNow = { readonly period: Period; readonly nowMs: number }

/** The rules of one bill: the terms in its time, with the amounts of that time. */
export type BillRules = Pick<
  BillingTerms,
  'method' | 'direction' | 'scope' | 'commitScope' | 'timezone' | 'commitBps' | 'includedOctets'
> & { readonly prices: PriceTerms | null }

const percents: Readonly<Partial<Record<BillingMethod, number>>> = { p90: 90, p95: 95, p98: 98 }

/**
 * If more buckets are missing than a percentile excludes, all excluded ones may be among them. 5 % for other methods.
 */
const reviewedPercent = (method: BillingMethod): number => 100 - (percents[method] ?? 95)

/** The bill as of now. `closed` and `samples_sha256` are null. */
export function billOf(billed: Billed, rules: BillRules, { period, nowMs }: MonthNow): BillablePort {
  const { method, direction, commitBps } = rules
  const includedOctets = method === 'volume' ? rules.includedOctets : null
  const parts = billed.parts.flatMap((part) => intersect(part, period) ?? [])
  const samples = billed.samples.filter(({ startMs }) => startMs + billingGridMs <= nowMs)
  const ofMonth = samples.filter(({ startMs }) => startMs >= period.startMs && startMs < period.endMs)
  const rates = ofMonth.flatMap(({ rate }) => rate ?? [])
  const percent = percents[method]
  const problem = problemOf(billed, rules, rates)
  const ranked =
    percent !== undefined && problem === null ? percentileOf(rates, direction, percent) : undefined
  const billable = problem === null ? billedRate(rules, rates, ranked) : null
  const billableOctets =
    method === 'volume' && problem !== 'no_samples' ? billedOctets(direction, ofMonth) : null
  const isOver = nowMs >= period.endMs
  const expected = expectedSamples(parts, nowMs)
  const missing = Math.max(0, expected - rates.length)
  const figures = {
    billing_method: method,
    commit_bps: commitBps,
    included_octets: includedOctets,
    billable_bps: billable,
    billable_octets: billableOctets,
    problem,
  }
  return {
    port_id: billed.portId,
    port_ids: [...billed.portIds],
    name: billed.name,
    circuit_id: billed.circuitId,
    speed_bps: billed.speedBps,
    direction,
    scope: rules.scope,
    commit_scope: rules.commitScope,
    ...figures,
    p95_in_bps: percentileOf(rates, 'in', 95)?.bps ?? null,
    p95_out_bps: percentileOf(rates, 'out', 95)?.bps ?? null,
    average_in_bps: averageOf(rates, bpsIn.in),
    average_out_bps: averageOf(rates, bpsIn.out),
    octets_in: totalOf(ofMonth, ({ octetsIn }) => octetsIn),
    octets_out: totalOf(ofMonth, ({ octetsOut }) => octetsOut),
    overage_bps: overageOf(billable, commitBps),
    overage_octets: overageOf(billableOctets, includedOctets),
    forecast_bps:
      isOver || percent === undefined || problem !== null
        ? null
        : forecastOfDirection(samples, direction, percent, { period, nowMs }),
    attack_excluded_bps: problem === null ? rateWithoutAttacks(billed, rules, rates) : null,
    samples: rates.length,
    missing_samples: missing,
    review:
      isOver && method !== 'flat' && 100 * missing > reviewedPercent(method) * expected
        ? 'missing_samples'
        : null,
    rank: ranked?.rank ?? null,
    ranked: ranked?.column ?? null,
    ranked_at: ranked ? isoOf(ranked.startMs) : null,
    period_start: isoOf(Math.min(...parts.map(({ startMs }) => startMs))),
    period_end: isoOf(Math.max(...parts.map(({ endMs }) => endMs))),
    timezone: rules.timezone,
    price: rules.prices && priceOf(rules.prices, chargedOf(figures)),
    as_of: isoOf(nowMs),
    closed: null,
    samples_sha256: null,
    corrects: null,
    correction_reason: null,
    credit_note: null,
  }
}

/** The part above the commit or the included octets; null without any. */
export const overageOf = (billed: number | null, committed: number | null): number | null =>
  billed === null || committed === null ? null : Math.max(0, billed - committed)

const isoOf = (ms: number): string => new Date(ms).toISOString()

function problemOf(
  { hasSmallCounters }: Billed,
  { method }: BillRules,
  rates: readonly BucketRate[],
): BillablePort['problem'] {
  if (method === 'flat') return null
  if (percents[method] !== undefined && hasSmallCounters) return 'counters_32_bit'
  return rates.length === 0 ? 'no_samples' : null
}

/**
 * The billed rate after subtracting the attack traffic in flows from the buckets, at most all received traffic. Null
 * without flows.
 */
function rateWithoutAttacks(
  { attackOctets }: Billed,
  rules: BillRules,
  rates: readonly BucketRate[],
): number | null {
  if (attackOctets === null || rules.method === 'flat') return null
  const reduced = rates.map((rate) => {
    const bps = Math.floor(((attackOctets.get(rate.startMs) ?? 0) * 8_000) / billingGridMs)
    return { ...rate, inBps: Math.max(0, rate.inBps - bps) }
  })
  const percent = percents[rules.method]
  const ranked = percent === undefined ? undefined : percentileOf(reduced, rules.direction, percent)
  return billedRate(rules, reduced, ranked)
}

type Both = { readonly in: number | null; readonly out: number | null }

function greaterOf(both: Both): number | null {
  return both.in === null || both.out === null ? null : Math.max(both.in, both.out)
}

function billedRate(
  { method, direction, commitBps }: BillRules,
  rates: readonly BucketRate[],
  ranked: Percentile | undefined,
): number | null {
  if (percents[method] !== undefined) return ranked?.bps ?? null
  if (method === 'flat') return commitBps
  if (method === 'volume') return null
  const [inbound, outbound] = [averageOf(rates, bpsIn.in), averageOf(rates, bpsIn.out)]
  switch (direction) {
    case 'in':
      return inbound
    case 'out':
      return outbound
    case 'max':
      return greaterOf({ in: inbound, out: outbound })
    case 'max_sample':
      return averageOf(rates, bpsIn.max)
    case 'sum':
      return inbound === null || outbound === null ? null : inbound + outbound
  }
}

function billedOctets(direction: BillingDirection, samples: readonly Sample[]): number | null {
  const inbound = totalOf(samples, ({ octetsIn }) => octetsIn)
  const outbound = totalOf(samples, ({ octetsOut }) => octetsOut)
  const both = (join: (octetsIn: number, octetsOut: number) => number) =>
    totalOf(samples, ({ octetsIn, octetsOut }) =>
      octetsIn === null || octetsOut === null ? null : join(octetsIn, octetsOut),
    )
  switch (direction) {
    case 'in':
      return inbound
    case 'out':
      return outbound
    case 'max':
      return greaterOf({ in: inbound, out: outbound })
    case 'max_sample':
      return both(Math.max)
    case 'sum':
      return both((octetsIn, octetsOut) => octetsIn + octetsOut)
  }
}

/** Rounded down. */
function averageOf(rates: readonly BucketRate[], bpsOf: (rate: BucketRate) => number): number | null {
  return rates.length === 0 ? null : Number(sumOf(rates.map(bpsOf)) / BigInt(rates.length))
}

/** Total of all measured buckets, including incomplete ones. */
function totalOf(samples: readonly Sample[], octetsOf: (sample: Sample) => number | null): number | null {
  const known = samples.flatMap((sample) => octetsOf(sample) ?? [])
  return known.length === 0 ? null : Number(sumOf(known))
}

/** Exact beyond 2^53, as a month of many fast ports is. */
function sumOf(values: readonly number[]): bigint {
  let [sum, part] = [0n, 0]
  for (const value of values) {
    if (part > Number.MAX_SAFE_INTEGER - value) {
      sum += BigInt(part)
      part = 0
    }
    part += value
  }
  return sum + BigInt(part)
}

function forecastOfDirection(
  samples: readonly Sample[],
  direction: BillingDirection,
  percent: number,
  { period, nowMs }: MonthNow,
): number | null {
  const rates = samples.flatMap(({ rate }) => rate ?? [])
  const of = (column: keyof typeof bpsIn) => forecastOf(rates, bpsIn[column], percent, period, nowMs) ?? null
  if (direction === 'max') return greaterOf({ in: of('in'), out: of('out') })
  return of(direction === 'max_sample' ? 'max' : direction)
}

/** Buckets that are over, of any of the parts. */
function expectedSamples(parts: readonly Period[], nowMs: number): number {
  const starts = new Set<number>()
  const until = Math.floor(nowMs / billingGridMs) * billingGridMs
  for (const { startMs, endMs } of parts)
    for (let at = startMs; at < Math.min(endMs, until); at += billingGridMs) starts.add(at)
  return starts.size
}
