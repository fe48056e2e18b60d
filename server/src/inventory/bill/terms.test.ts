import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { billingMonth } from '../usage/billing-month.ts'
import {
  commitOf,
  includedOf,
  monthAt,
  monthBucketsOf,
  periodOf,
  priceTermsOf,
  segmentsOf,
  timezoneOf,
  type TimedTerms,
} from './terms.ts'

const first: TimedTerms = {
  method: 'p95',
  direction: 'max',
  scope: 'port',
  commitScope: 'service',
  timezone: 'UTC',
  day: 1,
  commitBps: 1000,
  includedOctets: null,
  prices: null,
  startMs: -Infinity,
  endMs: Infinity,
}
const ms = (text: string) => Date.parse(text)
/** The terms change at these times. */
function history(...changes: readonly [string, Partial<TimedTerms>][]): TimedTerms[] {
  const terms = [first]
  for (const [at, change] of changes) {
    const last = terms.pop()!
    terms.push({ ...last, endMs: ms(at) }, { ...last, ...change, startMs: ms(at) })
  }
  return terms
}

describe('the terms of a month', () => {
  test('split it where method, direction or scope changed, from the next bucket on', () => {
    const terms = history(
      ['2026-02-10T00:00:00Z', { method: 'flat' }],
      ['2026-03-10T12:01:00Z', { method: 'p95' }],
      ['2026-03-11T00:00:00Z', { commitBps: 5 }],
      ['2026-03-20T00:00:00Z', { direction: 'in' }],
      ['2026-04-01T00:00:00Z', { direction: 'out' }],
    )
    const segments = segmentsOf(periodOf('2026-03', terms), terms).map(
      ({ startMs, endMs, method, direction }) => [
        new Date(startMs).toISOString(),
        new Date(endMs).toISOString(),
        method,
        direction,
      ],
    )
    assert.deepEqual(segments, [
      ['2026-03-01T00:00:00.000Z', '2026-03-10T12:05:00.000Z', 'flat', 'max'],
      ['2026-03-10T12:05:00.000Z', '2026-03-20T00:00:00.000Z', 'p95', 'max'],
      ['2026-03-20T00:00:00.000Z', '2026-04-01T00:00:00.000Z', 'p95', 'in'],
    ])
  })

  test('have the mean of the commits, exact for large ones, and none only if there was none', () => {
    const terms = history(['2026-03-11T00:00:00Z', { commitBps: 4_000_000_000_000_003 }])
    const month = [periodOf('2026-03', terms)]
    assert.equal(commitOf(month, terms), Number((10n * 1000n + 21n * 4_000_000_000_000_003n) / 31n))
    assert.equal(
      commitOf([{ startMs: ms('2026-03-11'), endMs: ms('2026-03-12') }], terms),
      4_000_000_000_000_003,
    )
    assert.equal(
      commitOf(month, history(['2026-03-11T00:00:00Z', { commitBps: null }])),
      Math.floor(10_000 / 31),
    )
    assert.equal(commitOf(month, history(['2026-02-11T00:00:00Z', { commitBps: null }])), null)
  })

  test('have months without a gap between them over a change of the time zone', () => {
    const terms = history(
      ['2026-03-15T00:00:00Z', { timezone: 'America/Los_Angeles' }],
      ['2026-05-15T00:00:00Z', { timezone: 'Pacific/Auckland' }],
    )
    for (const [month, next] of [
      ['2026-02', '2026-03'],
      ['2026-03', '2026-04'],
      ['2026-04', '2026-05'],
      ['2026-05', '2026-06'],
      ['2026-06', '2026-07'],
    ] as const) {
      const [one, two] = [periodOf(month, terms), periodOf(next, terms)]
      assert.equal(one.endMs, two.startMs)
      assert.equal(monthAt(one.endMs - 1, terms), month)
      assert.equal(monthAt(one.endMs, terms), next)
    }
    assert.equal(timezoneOf('2026-03', terms), 'UTC')
    assert.equal(periodOf('2026-04', terms).startMs, billingMonth('2026-04', 'America/Los_Angeles').startMs)
  })

  test('begin on the billing day, and a month in which the day changes is longer or shorter', () => {
    const terms = history(
      ['2026-02-20T00:00:00Z', { day: 15, timezone: 'Europe/Amsterdam' }],
      ['2026-05-20T00:00:00Z', { day: 1 }],
    )
    const days = (month: string) => {
      const { startMs, endMs } = periodOf(month, terms)
      return [new Date(startMs).toISOString(), (endMs - startMs) / 86_400_000, monthBucketsOf(month, terms)]
    }
    assert.deepEqual(days('2026-01'), ['2026-01-01T00:00:00.000Z', 31, 31 * 288])
    // From 1 February in UTC until 15 March in Amsterdam: a month of 28 days and 14 more.
    assert.deepEqual(days('2026-02'), ['2026-02-01T00:00:00.000Z', 42 - 1 / 24, 28 * 288])
    // The clocks change.
    assert.deepEqual(days('2026-03'), ['2026-03-14T23:00:00.000Z', 31 - 1 / 24, 31 * 288 - 12])
    assert.deepEqual(days('2026-05'), ['2026-05-14T22:00:00.000Z', 17, 31 * 288])
    for (const [at, month] of [
      ['2026-03-14T22:59:59Z', '2026-02'],
      ['2026-03-14T23:00:00Z', '2026-03'],
      ['2026-05-01T00:00:00Z', '2026-04'],
      ['2026-05-31T22:00:00Z', '2026-06'],
    ] as const)
      assert.equal(monthAt(ms(at), terms), month)
  })

  test('of a pool have the commit of all ports together, or of each port in its time', () => {
    const parts = [
      { startMs: ms('2026-04-01'), endMs: ms('2026-04-21') },
      { startMs: ms('2026-04-11'), endMs: ms('2026-05-01') },
    ]
    const together = history(['2026-01-01T00:00:00Z', { scope: 'service', includedOctets: 3000 }])
    assert.equal(commitOf(parts, together), 1000)
    assert.equal(includedOf(parts, together, 30 * 288), 3000)
    const each = history([
      '2026-01-01T00:00:00Z',
      { scope: 'service', commitScope: 'port', includedOctets: 3000 },
    ])
    assert.equal(commitOf(parts, each), Math.floor((1000 * 40) / 30))
    assert.equal(includedOf(parts, each, 30 * 288), 4000)
  })

  test('have each price with its buckets, and are split where the currency changes', () => {
    const prices = (monthly: string, currency = 'EUR') => ({
      currency,
      decimals: 2,
      monthly,
      commit: null,
      overage: null,
      tiers: [],
      tier_mode: 'graduated' as const,
    })
    const terms = history(
      ['2026-04-06T00:00:00Z', { prices: prices('1') }],
      ['2026-04-11T00:00:00Z', { prices: prices('2') }],
      ['2026-04-16T00:00:00Z', { prices: prices('1') }],
      ['2026-04-21T00:00:00Z', { prices: prices('3', 'USD') }],
    )
    const segments = segmentsOf(periodOf('2026-04', terms), terms)
    assert.deepEqual(
      segments.map(({ startMs, endMs }) =>
        [startMs, endMs].map((at) => new Date(at).toISOString().slice(0, 10)),
      ),
      [
        ['2026-04-01', '2026-04-21'],
        ['2026-04-21', '2026-05-01'],
      ],
    )
    const { parts, buckets } = priceTermsOf([segments[0]!], terms, 8640)!
    assert.deepEqual(
      [buckets, ...parts.map((one) => [one.monthly, one.buckets])],
      [20 * 288, ['1', 10 * 288], ['2', 5 * 288]],
    )
    assert.equal(priceTermsOf([{ startMs: ms('2026-04-01'), endMs: ms('2026-04-02') }], terms, 8640), null)
  })
})
