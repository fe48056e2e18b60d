// Faulty readings, resets and steps of the clock: every octet counts exactly once.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { scaled } from '../../runtime/testing-scale.ts'
import type { CounterRow } from './reading.ts'
import { advance, type Progress } from './advance.ts'
import type { Bucket } from './bucket.ts'
import type { DropReason } from './delta.ts'
import { createRow, laterRow } from './testing.ts'

const minute = 60_000
const facts = { speedBps: 10_000_000_000, isReplaced: false }
const counted = (octets: bigint): Partial<CounterRow> => ({ octetsIn: octets, octetsOut: octets })

function run(rows: readonly CounterRow[]) {
  let progress: Progress | undefined
  const closed: Bucket[] = []
  const dropped: DropReason[] = []
  for (const row of rows) {
    const next = advance(progress, row, facts)
    progress = next.progress
    closed.push(...next.closed)
    if (next.dropped) dropped.push(next.dropped)
  }
  const all = [...closed, ...(progress!.open ? [progress!.open] : [])]
  return {
    dropped,
    closed,
    octets: all.reduce((sum, { values }) => sum + values.octetsIn!, 0n),
    coveredMs: all.reduce((sum, one) => sum + one.coveredMs, 0),
    progress: progress!,
  }
}

/** A reading a minute, with these totals. */
function readings(...totals: readonly (bigint | Partial<CounterRow>)[]): CounterRow[] {
  const first = createRow({})
  return totals.map((total, at) =>
    laterRow(first, at * minute, typeof total === 'bigint' ? counted(total) : total),
  )
}

describe('a reading that does not fit', () => {
  test('costs nothing if the next one continues the one before it', () => {
    for (const faulty of [
      counted(5n),
      counted(10n ** 18n),
      { ...counted(1_000_100n), bits: 32 as const },
      { octetsIn: null, octetsOut: null },
    ]) {
      const { octets, coveredMs } = run(readings(1_000_000n, 1_000_100n, faulty, 1_000_300n, 1_000_400n))
      assert.deepEqual([octets, coveredMs], [400n, 4 * minute])
    }
  })

  test('costs nothing if octets stood still for it while packets were counted, and is missing if they still do', () => {
    const at = (octets: bigint, packetsIn: bigint) => ({ ...counted(octets), packetsIn })
    const late = run(readings(at(100n, 0n), at(200n, 50n), at(200n, 90n), at(500n, 130n), at(600n, 170n)))
    assert.deepEqual([late.octets, late.coveredMs, late.dropped], [500n, 4 * minute, ['stale']])
    const frozen = run(
      readings(at(100n, 0n), ...Array.from({ length: 40 }, (_, n) => at(200n, BigInt(n + 1) * 50n))),
    )
    assert.deepEqual([frozen.octets, frozen.coveredMs], [100n, minute])
    assert.ok(frozen.dropped.length >= 39)
  })

  test('begins anew if the next one continues it: a reset, or other counters', () => {
    const reset = run(readings(1_000_000n, 1_000_100n, 5n, 70n, 100n))
    assert.deepEqual(
      [reset.octets, reset.coveredMs, reset.dropped],
      [100n + 95n, 3 * minute, ['counter_back']],
    )
    const jumped = run(readings(0n, 100n, 10n ** 15n, 10n ** 15n + 60n))
    assert.deepEqual([jumped.octets, jumped.dropped], [160n, ['too_fast']])
    const small = (octets: bigint): Partial<CounterRow> => ({ ...counted(octets), bits: 32 })
    const other = run(readings(0n, 100n, small(100n), small(150n)))
    assert.deepEqual([other.octets, other.dropped], [150n, ['other_counters']])
  })

  test('is given up after 15 minutes, with what was counted before', () => {
    const faulty = Array.from({ length: 17 }, (_, at) => counted(BigInt(100 - at)))
    const { octets, closed } = run(readings(1_000_000n, 1_000_100n, ...faulty))
    assert.equal(octets, 100n)
    assert.equal(closed.length, 1)
  })

  test('any single one among others loses no octet and no time', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 10 ** 9 }), fc.integer({ min: 10, max: 300 })), {
          minLength: 4,
          maxLength: 12,
        }),
        fc.nat(),
        fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
        (steps, place, garbage) => {
          let row = createRow(counted(10n ** 12n))
          const rows = [row]
          for (const [octets, seconds] of steps) {
            row = laterRow(row, seconds * 1000, counted(row.octetsIn! + BigInt(octets)))
            rows.push(row)
          }
          const at = 1 + (place % (rows.length - 2))
          const isPossible =
            garbage >= rows[at - 1]!.octetsIn! && garbage - rows[at - 1]!.octetsIn! < 10n ** 13n
          fc.pre(!isPossible)
          const broken = rows.map((one, index) => (index === at ? { ...one, ...counted(garbage) } : one))
          const [good, bad] = [run(rows), run(broken)]
          assert.equal(bad.octets, good.octets)
          assert.equal(bad.coveredMs, good.coveredMs)
        },
      ),
      { numRuns: scaled(2_000, 20_000) },
    )
  })

  test('more packets than the port can transfer are unknown, and the octets are kept', () => {
    const { closed } = run(readings(0n, { ...counted(600n), packetsIn: 2n ** 64n - 1n }, counted(1200n)))
    assert.deepEqual(
      closed.map(({ values: { octetsIn, packetsIn } }) => [octetsIn, packetsIn]),
      [
        [600n, null],
        [600n, null],
      ].slice(0, closed.length),
    )
  })
})

describe('a step of the clock', () => {
  test('backwards drops the open minute, and the minutes that come again are counted from it on', () => {
    const first = createRow(counted(0n))
    const half = laterRow(first, 1.5 * minute, counted(150n))
    const back = { ...laterRow(half, minute, counted(250n)), at: half.at - 10 * minute }
    const next = laterRow(back, minute, counted(350n))
    const { octets, closed, dropped } = run([first, half, back, next])
    assert.deepEqual(dropped, ['clock'])
    assert.equal(octets, 100n + 100n)
    assert.ok(closed.every(({ coveredMs }) => coveredMs <= minute))
  })
})
