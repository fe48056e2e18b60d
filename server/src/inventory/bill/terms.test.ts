import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { billingMonth } from '../usage/billing-month.ts'
import { commitOf, monthAt, periodOf, segmentsOf, timezoneOf, type TimedTerms } from './terms.ts'

const first: TimedTerms = {
  method: 'p95',
  direction: 'max',
  scope: 'port',
  timezone: 'UTC',
  commitBps: 1000,
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
})
