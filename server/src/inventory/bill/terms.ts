// The billing terms of a service over time: which of them apply to a month, and from when until when. Pure.
import type { BillingDirection, BillingMethod, BillingScope } from '@pharos/contract/billing-rules'
import { Temporal } from 'temporal-polyfill'
import { billingMonth, intersect, onGrid, type Period } from '../usage/billing-month.ts'
import { billingGridMs } from '../usage/bucket.ts'

export type BillingTerms = {
  readonly method: BillingMethod
  readonly direction: BillingDirection
  readonly scope: BillingScope
  readonly timezone: string
  readonly commitBps: number | null
}
/** From `startMs` until `endMs`; the first terms have none, and the last ones no end: -Infinity and Infinity. */
export type TimedTerms = BillingTerms & Period

/** In the order of time, without gaps; at least one. */
export type TermsHistory = readonly TimedTerms[]

const termsAt = (history: TermsHistory, ms: number): TimedTerms =>
  history.find(({ endMs }) => ms < endMs) ?? history.at(-1)!

/**
 * Returns the month of a service. Each border is midnight in the time zone that applied at midnight of UTC, so that two months have
 * no bucket in common and none between them after a change of the time zone.
 */
export const periodOf = (month: string, history: TermsHistory): Period => ({
  startMs: startOf(month, history),
  endMs: startOf(monthAfter(month, 1), history),
})

const monthAfter = (month: string, months: number): string =>
  String(Temporal.PlainYearMonth.from(month).add({ months }))

const startOf = (month: string, history: TermsHistory): number =>
  billingMonth(month, timezoneOf(month, history)).startMs

/** Returns the time zone in which a month begins. */
export const timezoneOf = (month: string, history: TermsHistory): string =>
  termsAt(history, Date.parse(`${month}-01T00:00:00Z`)).timezone

/** Returns the month of a time, such as `2026-03`. */
export function monthAt(ms: number, history: TermsHistory): string {
  const utc = new Date(ms).toISOString().slice(0, 7)
  if (ms < startOf(utc, history)) return monthAfter(utc, -1)
  return ms < startOf(monthAfter(utc, 1), history) ? utc : monthAfter(utc, 1)
}

export type Segment = Period & Pick<BillingTerms, 'method' | 'direction' | 'scope'>

/** Returns the parts of a period with the same method, direction and scope. Terms apply from the first whole bucket on. */
export function segmentsOf(period: Period, history: TermsHistory): Segment[] {
  const segments: Segment[] = []
  for (const { method, direction, scope, ...valid } of history) {
    const part = intersect(onGrid(valid), period)
    if (!part) continue
    const last = segments.at(-1)
    if (last?.method === method && last.direction === direction && last.scope === scope)
      segments[segments.length - 1] = { ...last, endMs: part.endMs }
    else segments.push({ method, direction, scope, ...part })
  }
  return segments
}

export const scopesOf = (month: string, history: TermsHistory): ReadonlySet<BillingScope> =>
  new Set(segmentsOf(periodOf(month, history), history).map(({ scope }) => scope))

/** Returns the commit of disjoint parts of time: the mean of the commits by their buckets, rounded down. None counts as 0, unless there is none at all. */
export function commitOf(parts: readonly Period[], history: TermsHistory): number | null {
  let [buckets, sum, isKnown] = [0n, 0n, false]
  for (const { commitBps, ...valid } of history) {
    for (const part of parts) {
      const both = intersect(onGrid(valid), part)
      if (!both) continue
      const count = BigInt((both.endMs - both.startMs) / billingGridMs)
      buckets += count
      sum += count * BigInt(commitBps ?? 0)
      isKnown ||= commitBps !== null
    }
  }
  return isKnown ? Number(sum / buckets) : null
}
