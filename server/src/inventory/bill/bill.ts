// The figures of a billed month from its samples. Pure; rates are whole bits per second.
import type { BillablePort } from '@pharos/contract/bill'
import type { BillingDirection } from '@pharos/contract/billing-rules'
import { intersect, type Period } from '../usage/billing-month.ts'
import { type BucketRate, billingGridMs } from '../usage/bucket.ts'
import { forecast95 } from '../usage/forecast.ts'
import { percentile95 } from '../usage/percentile.ts'
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
  /** Of the month and, for the forecast, of the four weeks before now. */
  readonly samples: readonly Sample[]
  /** Received octets of attacks by the start of the bucket; null if no flows of the ports were received. */
  readonly attackOctets: ReadonlyMap<number, number> | null
}

export type MonthNow = { readonly period: Period; readonly nowMs: number }

/** The share of buckets above the 95th percentile: if more are missing, all of these may be among them. */
const reviewedShare = 0.05

/** The bill as of now. `closed` and `samples_sha256` are null. */
export function billOf(billed: Billed, rules: BillingTerms, { period, nowMs }: MonthNow): BillablePort {
  const parts = billed.parts.flatMap((part) => intersect(part, period) ?? [])
  const samples = billed.samples.filter(({ startMs }) => startMs + billingGridMs <= nowMs)
  const ofMonth = samples.filter(({ startMs }) => startMs >= period.startMs && startMs < period.endMs)
  const rates = ofMonth.flatMap(({ rate }) => rate ?? [])
  const [p95In, p95Out] = [percentile95(rates, 'in'), percentile95(rates, 'out')]
  const averages = { in: averageOf(rates, 'inBps'), out: averageOf(rates, 'outBps') }
  const octets = { in: totalOf(ofMonth, 'octetsIn'), out: totalOf(ofMonth, 'octetsOut') }
  const problem = problemOf(billed, rules, rates)
  const ranked = rules.method === 'p95' && problem === null ? percentile95(rates, rules.direction) : undefined
  const billable = problem === null ? billedRate(rules, ranked?.bps ?? null, averages) : null
  const isOver = nowMs >= period.endMs
  const expected = expectedSamples(parts, nowMs)
  const missing = Math.max(0, expected - rates.length)
  return {
    port_id: billed.portId,
    port_ids: [...billed.portIds],
    name: billed.name,
    circuit_id: billed.circuitId,
    speed_bps: billed.speedBps,
    billing_method: rules.method,
    direction: rules.direction,
    scope: rules.scope,
    commit_bps: rules.commitBps,
    p95_in_bps: p95In?.bps ?? null,
    p95_out_bps: p95Out?.bps ?? null,
    average_in_bps: averages.in,
    average_out_bps: averages.out,
    octets_in: octets.in,
    octets_out: octets.out,
    billable_bps: billable,
    billable_octets: rules.method === 'volume' ? ofDirection(rules.direction, octets) : null,
    overage_bps:
      billable === null || rules.commitBps === null ? null : Math.max(0, billable - rules.commitBps),
    forecast_bps:
      isOver || rules.method !== 'p95' || problem !== null
        ? null
        : forecastOf(samples, rules, { period, nowMs }),
    attack_excluded_bps: problem === null ? rateWithoutAttacks(billed, rules, rates) : null,
    problem,
    samples: rates.length,
    missing_samples: missing,
    review:
      isOver && rules.method !== 'flat' && missing > reviewedShare * expected ? 'missing_samples' : null,
    rank: ranked?.rank ?? null,
    ranked_at: ranked ? isoOf(ranked.startMs) : null,
    period_start: isoOf(Math.min(...parts.map(({ startMs }) => startMs))),
    period_end: isoOf(Math.max(...parts.map(({ endMs }) => endMs))),
    timezone: rules.timezone,
    as_of: isoOf(nowMs),
    closed: null,
    samples_sha256: null,
    corrects: null,
    correction_reason: null,
  }
}

const isoOf = (ms: number): string => new Date(ms).toISOString()

function problemOf(
  { hasSmallCounters }: Billed,
  { method }: BillingTerms,
  rates: readonly BucketRate[],
): BillablePort['problem'] {
  if (method === 'flat') return null
  if (method === 'p95' && hasSmallCounters) return 'counters_32_bit'
  return rates.length === 0 ? 'no_samples' : null
}

/** The billed rate if buckets lose what flows show of attacks, at most all that was received. Null without flows. */
function rateWithoutAttacks(
  { attackOctets }: Billed,
  rules: BillingTerms,
  rates: readonly BucketRate[],
): number | null {
  if (attackOctets === null || rules.method === 'flat') return null
  const reduced = rates.map((rate) => {
    const bps = Math.floor(((attackOctets.get(rate.startMs) ?? 0) * 8_000) / billingGridMs)
    return { ...rate, inBps: Math.max(0, rate.inBps - bps) }
  })
  const averages = { in: averageOf(reduced, 'inBps'), out: averageOf(reduced, 'outBps') }
  return billedRate(rules, percentile95(reduced, rules.direction)?.bps ?? null, averages)
}

type Both = { readonly in: number | null; readonly out: number | null }

function ofDirection(direction: BillingDirection, both: Both): number | null {
  if (direction === 'in' || direction === 'out') return both[direction]
  if (both.in === null || both.out === null) return null
  return direction === 'max' ? Math.max(both.in, both.out) : both.in + both.out
}

function billedRate(
  { method, direction, commitBps }: BillingTerms,
  p95: number | null,
  averages: Both,
): number | null {
  if (method === 'p95') return p95
  if (method === 'average') return ofDirection(direction, averages)
  return method === 'flat' ? commitBps : null
}

function averageOf(rates: readonly BucketRate[], name: 'inBps' | 'outBps'): number | null {
  if (rates.length === 0) return null
  return Math.floor(rates.reduce((sum, rate) => sum + rate[name], 0) / rates.length)
}

/** Of everything that was measured, in incomplete buckets too. */
function totalOf(samples: readonly Sample[], name: 'octetsIn' | 'octetsOut'): number | null {
  const known = samples.flatMap((sample) => sample[name] ?? [])
  return known.length === 0 ? null : known.reduce((sum, octets) => sum + octets, 0)
}

function forecastOf(
  samples: readonly Sample[],
  { direction }: BillingTerms,
  { period, nowMs }: MonthNow,
): number | null {
  const rates = samples.flatMap(({ rate }) => rate ?? [])
  const of = (bpsOf: (rate: BucketRate) => number) => forecast95(rates, bpsOf, period, nowMs) ?? null
  const both = { in: () => of(({ inBps }) => inBps), out: () => of(({ outBps }) => outBps) }
  if (direction === 'in' || direction === 'out') return both[direction]()
  if (direction === 'sum') return of(({ inBps, outBps }) => inBps + outBps)
  return ofDirection('max', { in: both.in(), out: both.out() })
}

/** Buckets that are over, of any of the parts. */
function expectedSamples(parts: readonly Period[], nowMs: number): number {
  const starts = new Set<number>()
  const until = Math.floor(nowMs / billingGridMs) * billingGridMs
  for (const { startMs, endMs } of parts)
    for (let at = startMs; at < Math.min(endMs, until); at += billingGridMs) starts.add(at)
  return starts.size
}
