// Every model of billing against an independent implementation: loops over single buckets and exact fractions, without
// code of the product.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  billingDirections,
  billingMethods,
  billingScopes,
  type BillingDirection,
  type BillingPrices,
} from '@pharos/contract/inventory/billing-rules'
import * as fc from 'fast-check'
import { scaled } from '../../runtime/testing-scale.ts'
import { bpsOf } from '../usage/bucket.ts'
import { billOf } from './bill.ts'
import { addSamples, type Sample } from './samples.ts'
import {
  commitOf,
  includedOf,
  monthBucketsOf,
  periodOf,
  priceTermsOf,
  segmentsOf,
  type TimedTerms,
} from './terms.ts'

const bucket = 300_000
const day = 288 * bucket

/** A sample of a port: null is missing. */
type Cell = readonly [octetsIn: number, octetsOut: number] | null

const decimal = fc
  .tuple(fc.nat(999), fc.nat(9_999), fc.nat(4))
  .map(([whole, fraction, scale]) =>
    scale === 0 ? `${whole}` : `${whole}.${String(fraction).padStart(4, '0').slice(0, scale)}`,
  )
const price = fc.option(decimal, { nil: null })
const tiersOf = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 40_000_000 }), decimal), { maxLength: 3 })
  .map((some) => [
    { above: 0, price: '1.25' },
    ...[...new Map(some)].sort(([a], [b]) => a - b).map(([above, of]) => ({ above, price: of })),
  ])
const pricesOf: fc.Arbitrary<BillingPrices> = fc
  .record({
    decimals: fc.nat(3),
    monthly: price,
    commit: price,
    overage: price,
    tiers: fc.option(tiersOf, { nil: [] }),
    tier_mode: fc.constantFrom('graduated' as const, 'whole' as const),
  })
  .map((one) => ({
    currency: 'EUR',
    ...one,
    ...(one.tiers.length > 0 && { commit: null, overage: null }),
  }))

/** The terms of one bill: method, direction and scopes stay; the rest changes once in the month. */
const termsOf = fc
  .record({
    method: fc.constantFrom(...billingMethods),
    direction: fc.constantFrom(...billingDirections),
    commitScope: fc.constantFrom(...billingScopes),
    prices: pricesOf,
    changed: fc.oneof(fc.nat(60 * bucket), fc.nat(28 * day)),
    values: fc.array(
      fc.record({
        commitBps: fc.option(fc.nat(20_000_000), { nil: null }),
        includedOctets: fc.option(fc.nat(50_000_000_000), { nil: null }),
        price: fc.option(decimal, { nil: null }),
      }),
      { minLength: 2, maxLength: 2 },
    ),
  })
  .map(({ changed, values, prices, ...fixed }): TimedTerms[] => {
    const border = Date.parse('2026-02-01') + changed
    return values.map(({ price: monthly, ...value }, at) => ({
      ...fixed,
      ...value,
      prices: { ...prices, monthly },
      scope: 'service' as const,
      timezone: 'UTC',
      day: 1,
      startMs: at === 0 ? -Infinity : border,
      endMs: at === 0 ? border : Infinity,
    }))
  })

const cellOf: fc.Arbitrary<Cell> = fc.oneof(
  { weight: 9, arbitrary: fc.tuple(fc.nat(3_000_000_000), fc.nat(3_000_000_000)) },
  { weight: 1, arbitrary: fc.constant(null) },
)
/** Ports, each with its samples from a bucket of the month on. */
const portsOf = fc.array(
  fc.record({ first: fc.nat(40), cells: fc.array(cellOf, { minLength: 1, maxLength: 150, size: 'max' }) }),
  { minLength: 1, maxLength: 3 },
)

/** An exact fraction. */
const times = (quantity: number, text: string): { n: bigint; d: bigint } => {
  const places = text.includes('.') ? text.length - text.indexOf('.') - 1 : 0
  return { n: BigInt(quantity) * BigInt(text.replace('.', '')), d: 10n ** BigInt(places) }
}
/** Halves up, in units of the currency. */
function rounded({ n, d }: { n: bigint; d: bigint }, decimals: number): bigint {
  const scaled = n * 10n ** BigInt(decimals)
  const [whole, rest] = [scaled / d, scaled % d]
  return 2n * rest >= d ? whole + 1n : whole
}
const unitsOf = (amount: string): bigint => BigInt(amount.replace('.', ''))

describe('a bill', () => {
  it('is that of an independent recount, in figures and money', () => {
    fc.assert(
      fc.property(termsOf, portsOf, (history, ports) => {
        const month = periodOf('2026-02', history)
        const [segment] = segmentsOf(month, history)
        const own = ports.map(({ first, cells }) => {
          const startMs = month.startMs + first * bucket
          const endMs = Math.min(month.endMs, startMs + cells.length * bucket)
          const samples = cells.flatMap((cell, at): Sample[] => {
            const start = startMs + at * bucket
            if (!cell || start >= month.endMs) return []
            const [octetsIn, octetsOut] = cell
            const rate = { startMs: start, inBps: bpsOf(octetsIn, bucket), outBps: bpsOf(octetsOut, bucket) }
            return [{ startMs: start, coveredMs: bucket, octetsIn, octetsOut, rate }]
          })
          return { startMs, endMs, samples, cells }
        })
        const parts = own.map(({ startMs, endMs }) => ({ startMs, endMs }))
        const all = addSamples(
          own.map(({ samples, startMs, endMs }) => ({
            samples,
            wasUp: (at: number) => at >= startMs && at < endMs,
          })),
        )
        const monthBuckets = monthBucketsOf('2026-02', history)
        const bill = billOf(
          {
            portId: null,
            portIds: own.map((_, at) => at + 1),
            name: 'Pool',
            circuitId: '',
            speedBps: null,
            hasSmallCounters: false,
            parts,
            samples: all,
            attackOctets: null,
          },
          {
            ...segment!,
            timezone: 'UTC',
            commitBps: commitOf(parts, history),
            includedOctets: includedOf(parts, history, monthBuckets),
            prices: priceTermsOf(parts, history, monthBuckets),
          },
          { period: month, nowMs: month.endMs + day },
        )

        // Manual calculation: bucket after bucket of the month.
        const [terms] = history
        const isEach = terms!.commitScope === 'port'
        const rates: [bigint, bigint][] = []
        let [octetsIn, octetsOut, greater, any] = [0n, 0n, 0n, false]
        let [buckets, commits, included] = [0n, 0n, 0n]
        const counts = [0, 0]
        let [hasCommit, hasIncluded] = [false, false]
        for (let at = month.startMs; at < month.endMs; at += bucket) {
          const here = own.filter(({ startMs, endMs }) => at >= startMs && at < endMs)
          if (here.length === 0) continue
          buckets++
          const valid = at >= history[1]!.startMs ? 1 : 0
          counts[valid]!++
          const { commitBps, includedOctets } = history[valid]!
          const times = BigInt(isEach ? here.length : 1)
          commits += times * BigInt(commitBps ?? 0)
          included += times * BigInt(includedOctets ?? 0)
          hasCommit ||= commitBps !== null
          hasIncluded ||= includedOctets !== null
          const cells = here.map(({ startMs, cells: of }) => of[(at - startMs) / bucket]!)
          const known = cells.filter((cell) => cell !== null)
          const sums = [0, 1].map((way) => known.reduce((sum, cell) => sum + BigInt(cell[way]!), 0n))
          if (known.length > 0) any = true
          octetsIn += sums[0]!
          octetsOut += sums[1]!
          greater += sums[0]! > sums[1]! ? sums[0]! : sums[1]!
          if (known.length === cells.length)
            rates.push(
              [0, 1].map((way) =>
                known.reduce((sum, cell) => sum + (BigInt(cell[way]!) * 8_000n) / 300_000n, 0n),
              ) as [bigint, bigint],
            )
        }
        const max = (a: bigint, b: bigint) => (a > b ? a : b)
        const ofSample: Record<Exclude<BillingDirection, 'max'>, (rate: [bigint, bigint]) => bigint> = {
          in: ([inbound]) => inbound,
          out: ([, outbound]) => outbound,
          sum: ([inbound, outbound]) => inbound + outbound,
          max_sample: ([inbound, outbound]) => max(inbound, outbound),
        }
        const percentile = (percent: number, of: (rate: [bigint, bigint]) => bigint): bigint => {
          const values = rates.map(of).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
          let rank = 1
          while (rank * 100 < percent * values.length) rank++
          return values[rank - 1]!
        }
        const mean = (of: (rate: [bigint, bigint]) => bigint): bigint =>
          rates.reduce((sum, rate) => sum + of(rate), 0n) / BigInt(rates.length)
        const figure = (by: (of: (rate: [bigint, bigint]) => bigint) => bigint): bigint => {
          const { direction } = terms!
          if (direction === 'max') return max(by(ofSample.in), by(ofSample.out))
          if (direction === 'sum' && terms!.method === 'average') return by(ofSample.in) + by(ofSample.out)
          return by(ofSample[direction])
        }
        const commit = hasCommit ? commits / buckets : null
        const free = hasIncluded && terms!.method === 'volume' ? included / BigInt(monthBuckets) : null
        const isMeasured = rates.length > 0
        const percent = { p90: 90, p95: 95, p98: 98 }[terms!.method as 'p95']
        const bps =
          terms!.method === 'flat'
            ? commit
            : terms!.method === 'volume' || !isMeasured
              ? null
              : figure((of) => (percent === undefined ? mean(of) : percentile(percent, of)))
        const byDirection = {
          in: octetsIn,
          out: octetsOut,
          max: max(octetsIn, octetsOut),
          max_sample: greater,
          sum: octetsIn + octetsOut,
        }
        const octets = terms!.method === 'volume' && any ? byDirection[terms!.direction] : null
        const over = (billed: bigint | null, of: bigint | null): number | null =>
          billed === null || of === null ? null : Number(max(0n, billed - of))
        const asNumber = (value: bigint | null) => (value === null ? null : Number(value))
        const { commit_bps, included_octets, billable_bps, billable_octets, overage_bps, overage_octets } =
          bill
        assert.deepEqual(
          { commit_bps, included_octets, billable_bps, billable_octets, overage_bps, overage_octets },
          {
            commit_bps: asNumber(commit),
            included_octets: asNumber(free),
            billable_bps: asNumber(bps),
            billable_octets: asNumber(octets),
            overage_bps: over(bps, commit),
            overage_octets: over(octets, free),
          },
        )

        // The money: of each part with its own prices, one line after another.
        const isVolume = terms!.method === 'volume'
        const billed = isVolume ? octets : terms!.method === 'flat' ? (bps ?? 0n) : bps
        if (billed === null || (!isMeasured && terms!.method !== 'flat')) {
          assert.deepEqual([bill.price!.amount, bill.price!.lines], [null, []])
          return
        }
        const least = (isVolume ? free : commit) ?? 0n
        const unit = isVolume ? 1_000_000_000n : 1_000_000n
        const isSame = JSON.stringify(history[0]!.prices) === JSON.stringify(history[1]!.prices)
        const shares = isSame
          ? [[counts[0]! + counts[1]!, 0] as const]
          : counts.map((n, at) => [n, at] as const)
        const amounts: bigint[] = []
        for (const [count, at] of shares) {
          if (count === 0) continue
          const prices = history[at]!.prices!
          const add = (quantity: bigint, text: string | null, per: bigint, whole: bigint) => {
            if (text === null) return
            const { n, d } = times(count, text)
            amounts.push(rounded({ n: n * quantity, d: d * per * whole }, prices.decimals))
          }
          const whole = isVolume ? buckets : BigInt(monthBuckets)
          add(1n, prices.monthly, 1n, BigInt(monthBuckets))
          if (prices.tiers.length === 0) {
            if ((isVolume ? free : commit) !== null) add(least, prices.commit, unit, whole)
            add(max(0n, billed - least), prices.overage, unit, whole)
            continue
          }
          const total = max(billed, least)
          const borders = prices.tiers.map(({ above }) =>
            isVolume ? (BigInt(above) * buckets) / BigInt(monthBuckets) : BigInt(above),
          )
          let reached = 0
          borders.forEach((above, tier) => {
            if (tier > 0 && total > above) reached = tier
          })
          if (prices.tier_mode === 'whole') add(total, prices.tiers[reached]!.price, unit, whole)
          else
            for (let tier = 0; tier <= reached; tier++) {
              const until = tier === reached ? total : borders[tier + 1]!
              add(until - borders[tier]!, prices.tiers[tier]!.price, unit, whole)
            }
        }
        assert.deepEqual(
          bill.price!.lines.map(({ amount }) => unitsOf(amount)),
          amounts,
        )
        assert.equal(
          unitsOf(bill.price!.amount!),
          amounts.reduce((sum, one) => sum + one, 0n),
        )
      }),
      { numRuns: scaled(3_000) },
    )
  })
})
