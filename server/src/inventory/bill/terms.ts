// The billing terms of a service over time: which of them apply to a month, and from when until when. Pure.
import type {
  BillingDirection,
  BillingMethod,
  BillingPrices,
  BillingScope,
} from '@pharos/contract/inventory/billing-rules'
import { Temporal } from 'temporal-polyfill'
import { billingMonth, bucketCount, intersect, onGrid, unionOf, type Period } from '../usage/billing-month.ts'
import type { PriceTerms } from './price.ts'

export type BillingTerms = {
  readonly method: BillingMethod
  readonly direction: BillingDirection
  readonly scope: BillingScope
  /** Scope of the commit and the included octets: per port, or all ports of the bill. */
  readonly commitScope: BillingScope
  readonly timezone: string
  /** First day of a month, 1 to 28. */
  readonly day: number
  readonly commitBps: number | null
  /** Included octets of a whole month. */
  readonly includedOctets: number | null
  readonly prices: BillingPrices | null
  /** The service that bills the ports; null or missing: this one. */
  readonly poolId?: number | null
}
/** From `startMs` until `endMs`; -Infinity for the first terms, Infinity for the last. */
export type TimedTerms = BillingTerms & Period

/** In the order of time, without gaps; at least one. */
export type TermsHistory = readonly TimedTerms[]

const termsAt = (history: TermsHistory, ms: number): TimedTerms =>
  history.find(({ endMs }) => ms < endMs) ?? history.at(-1)!

/**
 * Returns the month of a service, named after the calendar month in which it begins. Each border is midnight of the
 * billing day in the time zone, both as of the first midnight UTC of the calendar month, so that after a change two
 * months neither overlap nor leave a gap.
 */
export const periodOf = (month: string, history: TermsHistory): Period => ({
  startMs: startOf(month, history),
  endMs: startOf(monthAfter(month, 1), history),
})

const monthAfter = (month: string, months: number): string =>
  String(Temporal.PlainYearMonth.from(month).add({ months }))

const termsOf = (month: string, history: TermsHistory): TimedTerms =>
  termsAt(history, Date.parse(`${month}-01T00:00:00Z`))

const startOf = (month: string, history: TermsHistory): number => monthFrom(month, history).startMs

/** From its start until the same day of the next month. */
function monthFrom(month: string, history: TermsHistory): Period {
  const { timezone, day } = termsOf(month, history)
  return billingMonth(month, timezone, day)
}

/** Returns the time zone in which a month begins. */
export const timezoneOf = (month: string, history: TermsHistory): string => termsOf(month, history).timezone

/**
 * Returns the buckets of a month for which a price or an amount of a month is: from one billing day to the next. A month in which the day
 * changes has more or fewer.
 */
export const monthBucketsOf = (month: string, history: TermsHistory): number =>
  bucketCount(monthFrom(month, history))

/** Returns the month of a time, such as `2026-03`. */
export function monthAt(ms: number, history: TermsHistory): string {
  const utc = new Date(ms).toISOString().slice(0, 7)
  if (ms < startOf(utc, history)) return monthAfter(utc, -1)
  return ms < startOf(monthAfter(utc, 1), history) ? utc : monthAfter(utc, 1)
}

export type Segment = Period & Pick<BillingTerms, 'method' | 'direction' | 'scope' | 'commitScope'>

/**
 * Returns the parts of a period with the same method, direction, scopes and currency, without the time in which another service bills the
 * ports. Terms apply from the first whole bucket on. Prices that begin or end do not split it.
 */
export function segmentsOf(period: Period, history: TermsHistory): Segment[] {
  const segments: (Segment & { readonly currency: string | null })[] = []
  for (const { method, direction, scope, commitScope, prices, poolId, ...valid } of history) {
    if (poolId != null) continue
    const part = intersect(onGrid(valid), period)
    if (!part) continue
    const currency = prices && `${prices.currency} ${prices.decimals}`
    const next = { method, direction, scope, commitScope: scope === 'port' ? scope : commitScope, ...part }
    const last = segments.at(-1)
    const isSame =
      last !== undefined &&
      (['method', 'direction', 'scope', 'commitScope'] as const).every((name) => last[name] === next[name]) &&
      (last.currency === null || currency === null || last.currency === currency)
    if (isSame)
      segments[segments.length - 1] = { ...last, endMs: part.endMs, currency: currency ?? last.currency }
    else segments.push({ ...next, currency })
  }
  return segments.map(({ currency: _currency, ...segment }) => segment)
}

/** Returns the time in which a service bills its own ports, on the grid. */
export const ownTimes = (history: TermsHistory): Period[] =>
  history.flatMap((terms) => (terms.poolId == null ? [onGrid(terms)] : []))

export const scopesOf = (month: string, history: TermsHistory): ReadonlySet<BillingScope> =>
  new Set(segmentsOf(periodOf(month, history), history).map(({ scope }) => scope))

const bucketsIn = (valid: Period, parts: readonly Period[]): number =>
  parts.reduce((sum, part) => {
    const both = intersect(onGrid(valid), part)
    return sum + (both ? bucketCount(both) : 0)
  }, 0)

/**
 * Returns the sum of a value over the buckets of a bill; per port if the commit is per port. Null counts as 0, unless
 * all values are null. `parts`: of each port; parts of two ports may overlap.
 */
function sumOver(
  parts: readonly Period[],
  history: TermsHistory,
  valueOf: (terms: BillingTerms) => number | null,
): bigint | null {
  const together = unionOf(parts)
  let [sum, isKnown] = [0n, false]
  for (const terms of history) {
    const isEach = terms.scope === 'port' || terms.commitScope === 'port'
    const count = bucketsIn(terms, isEach ? parts : together)
    if (count === 0) continue
    const value = valueOf(terms)
    sum += BigInt(count) * BigInt(value ?? 0)
    isKnown ||= value !== null
  }
  return isKnown ? sum : null
}

/** Returns the commit in the time of a bill: the mean of the commits by their buckets, rounded down. */
export function commitOf(parts: readonly Period[], history: TermsHistory): number | null {
  const sum = sumOver(parts, history, ({ commitBps }) => commitBps)
  return sum === null ? null : Number(sum / BigInt(bucketsOf(parts)))
}

/** Returns the octets that are included in the time of a bill: in proportion to its share of the month, rounded down. */
export function includedOf(
  parts: readonly Period[],
  history: TermsHistory,
  monthBuckets: number,
): number | null {
  const sum = sumOver(parts, history, ({ includedOctets }) => includedOctets)
  return sum === null ? null : Number(sum / BigInt(monthBuckets))
}

/** The buckets of a bill: buckets in which any of its ports belonged to the service. */
const bucketsOf = (parts: readonly Period[]): number =>
  unionOf(parts).reduce((sum, part) => sum + bucketCount(part), 0)

/** Returns the prices in the time of a bill, each with its buckets; null without prices. */
export function priceTermsOf(
  parts: readonly Period[],
  history: TermsHistory,
  monthBuckets: number,
): PriceTerms | null {
  const together = unionOf(parts)
  const priced = history.flatMap(({ prices, ...valid }) => {
    const buckets = bucketsIn(valid, together)
    return prices && buckets > 0 ? [{ prices, buckets }] : []
  })
  const [first] = priced
  if (!first) return null
  const same = Map.groupBy(priced, ({ prices }) => JSON.stringify(prices))
  return {
    currency: first.prices.currency,
    decimals: first.prices.decimals,
    buckets: bucketsOf(parts),
    month_buckets: monthBuckets,
    parts: [...same.values()].map((some) => {
      const { currency: _currency, decimals: _decimals, ...prices } = some[0]!.prices
      return { ...prices, buckets: some.reduce((sum, { buckets }) => sum + buckets, 0) }
    }),
  }
}
