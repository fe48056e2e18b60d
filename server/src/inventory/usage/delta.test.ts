// Increases of counters: every rule that drops one, and that a simulated device never yields an increase that it did not have.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { CounterRow } from '../collect/device-source.ts'
import { deltaOf, type PortFacts } from './delta.ts'
import { createRow, laterRow } from './testing.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const port: PortFacts = { speedBps: 10e9, isReplaced: false }
const row = createRow({ octetsIn: 1_000_000n, octetsOut: 2n ** 53n, packetsIn: 500n })
const next = (changes: Partial<CounterRow>) => laterRow(row, 60_000, changes)
const [gigabit, megabit100] = [
  { ...port, speedBps: 1e9 },
  { ...port, speedBps: 1e8 },
]

/** Returns the octets received, or the reason why they are unknown. */
function resultOf(before: CounterRow, after: CounterRow, facts: PortFacts = port): bigint | string | null {
  const delta = deltaOf(before, after, facts)
  return delta.kind === 'counted' ? delta.values.octetsIn : delta.reason
}

describe('the increase between two readings', () => {
  it('is exact above 2^53, in whole milliseconds', () => {
    const delta = deltaOf({ ...row, at: row.at - 0.5 }, next({ octetsOut: 2n ** 53n + 1n }), port)
    assert.equal(delta.kind, 'counted')
    assert.deepEqual(delta.values, {
      octetsIn: 0n,
      octetsOut: 1n,
      packetsIn: 0n,
      packetsOut: 0n,
      errorsIn: 0n,
      errorsOut: 0n,
      discardsIn: 0n,
      discardsOut: 0n,
    })
    assert.ok(delta.kind === 'counted' && Number.isInteger(delta.startMs) && !delta.isClockStep)
  })

  it('is that of each reading after a reset, not repeated, and zero for a port that is down', () => {
    const reset = next({ octetsIn: 10n, octetsOut: 0n })
    assert.equal(resultOf(row, reset), 'counter_back')
    assert.equal(resultOf(reset, laterRow(reset, 60_000, { octetsIn: 17n })), 7n)
    assert.equal(resultOf(row, next({ oper: 'down' })), 0n)
  })

  it('is unknown, not zero, for a counter that the device does not have', () => {
    const none = { octetsIn: null, packetsIn: null }
    assert.equal(resultOf({ ...row, ...none }, next(none)), null)
    assert.equal(resultOf({ ...row, ...none }, next({})), 'other_counters')
    assert.equal(resultOf(row, next({ octetsIn: null })), 'other_counters')
  })

  it('has unknown errors if only the counter of errors went back', () => {
    const delta = deltaOf(
      { ...row, errorsIn: 9n },
      next({ octetsIn: row.octetsIn! + 5n, errorsIn: 1n }),
      port,
    )
    assert.deepEqual([delta.kind, delta.values?.octetsIn, delta.values?.errorsIn], ['counted', 5n, null])
  })

  const growing = { octetsIn: row.octetsIn! + 1_000n }
  const young = { ...row, uptimeCs: 1_000 }
  const wrapping = { ...row, uptimeCs: 2 ** 32 - 3_000 }
  const cases: [string, CounterRow, CounterRow, PortFacts, bigint | string][] = [
    ['a restart', row, next({ ...growing, uptimeCs: 2_000 }), port, 'restart'],
    [
      'a restart soon after the last one',
      young,
      laterRow(young, 300_000, { ...growing, uptimeCs: 20_000 }),
      port,
      'restart',
    ],
    [
      'uptime that wrapped',
      wrapping,
      laterRow(wrapping, 60_000, { ...growing, uptimeCs: 3_000 }),
      port,
      1_000n,
    ],
    [
      'a restart long before a wrap',
      { ...row, uptimeCs: 2 ** 32 - 100_000 },
      next({ ...growing, uptimeCs: 3_000 }),
      port,
      'restart',
    ],
    [
      'another discontinuity time',
      row,
      next({ ...growing, discontinuity: 8_643_000 }),
      port,
      'discontinuity',
    ],
    [
      'a discontinuity time that is not reported once',
      row,
      next({ ...growing, discontinuity: null }),
      port,
      1_000n,
    ],
    ['another MAC address', row, next(growing), { ...port, isReplaced: true }, 'replaced'],
    ['packets that went back', row, next({ ...growing, packetsIn: 499n }), port, 'counter_back'],
    ['16 minutes', row, laterRow(row, 960_000, growing), port, 'gap'],
    ['15 minutes', row, laterRow(row, 900_000, growing), port, 1_000n],
    ['a clock that went back', row, { ...next(growing), at: row.at - 1 }, port, 'clock'],
    ['a clock that was set by an hour', row, { ...next(growing), at: row.at + 3_660_000 }, port, 'clock'],
    ['counters of another size', row, next({ ...growing, bits: 32 }), port, 'other_counters'],
    // 10 Gbit/s for 60 s are 75 GB; allowed are 65.1 s.
    ['the rate of the port', row, next({ octetsIn: row.octetsIn! + 75_000_000_000n }), port, 75_000_000_000n],
    [
      'packets without octets',
      row,
      next({ ...growing, octetsIn: row.octetsIn!, packetsIn: 510n }),
      port,
      'stale',
    ],
    ['few packets without octets', row, next({ octetsIn: row.octetsIn!, packetsIn: 509n }), port, 0n],
    ['more than the port can do', row, next({ octetsIn: row.octetsIn! + 82_000_000_000n }), port, 'too_fast'],
    [
      'an unknown speed',
      row,
      next({ octetsIn: row.octetsIn! + 82_000_000_000n }),
      { ...port, speedBps: null },
      82_000_000_000n,
    ],
    [
      '100 Tbit/s at an unknown speed',
      row,
      next({ octetsIn: 2n ** 60n }),
      { ...port, speedBps: 0 },
      'too_fast',
    ],
  ]
  for (const [name, before, after, facts, expected] of cases) {
    it(`after ${name} is ${typeof expected === 'bigint' ? 'counted' : 'dropped'}`, () => {
      assert.equal(resultOf(before, after, facts), expected)
    })
  }

  it('of a long gap is kept for billing by volume', () => {
    const delta = deltaOf(row, laterRow(row, 960_000, growing), port)
    assert.equal(delta.values?.octetsIn, 1_000n)
  })

  it('is marked if a clock was set by more than 5 s', () => {
    const delta = deltaOf(row, { ...next(growing), at: row.at + 66_000 }, port)
    assert.ok(delta.kind === 'counted' && delta.isClockStep)
  })
})

describe('counters of 32 bits', () => {
  const before = createRow({ bits: 32, octetsIn: 2n ** 32n - 100n })
  const after = (ms: number) => laterRow(before, ms, { octetsIn: 400n })

  it('may wrap once in less than half of the time that the port needs for 2^32 octets', () => {
    // 343 s at 100 Mbit/s, 34 s at 1 Gbit/s.
    assert.equal(resultOf(before, after(60_000), megabit100), 500n)
    assert.equal(resultOf(before, after(15_000), gigabit), 500n)
    assert.equal(resultOf(before, after(30_000), gigabit), 'counter_back')
    assert.equal(resultOf(before, after(60_000), { ...port, speedBps: null }), 'counter_back')
  })

  it('have not wrapped if the port could not transfer as much', () => {
    const early = createRow({ bits: 32, octetsIn: 2n ** 31n })
    assert.equal(resultOf(early, laterRow(early, 60_000, { octetsIn: 0n }), megabit100), 'counter_back')
  })

  it('are approximate', () => {
    const delta = deltaOf(before, after(60_000), megabit100)
    assert.ok(delta.kind === 'counted' && delta.isApproximate)
  })
})

it('A device with lost polls, restarts and clocks that wrap never yields octets that it did not transfer', () => {
  const step = fc.record({
    seconds: fc.integer({ min: 20, max: 1_200 }),
    jitterMs: fc.integer({ min: 0, max: 1_900 }),
    mbps: fc.integer({ min: 0, max: 10_000 }),
    restarts: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  })
  const start = fc.constantFrom(0, 100, 2 ** 32 - 50_000)
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 30 }), start, (steps, uptimeCs) => {
      let before = createRow({ uptimeCs })
      for (const { seconds, jitterMs, mbps, restarts } of steps) {
        const octets = BigInt(seconds * mbps) * 125_000n
        // A restart takes 8 s at least, and the counters begin again.
        const clock = restarts ? (seconds - 8) * 100 : (before.uptimeCs + seconds * 100) % 2 ** 32
        const octetsIn = (restarts ? 0n : before.octetsIn!) + octets
        const after = { ...before, uptimeCs: clock, octetsIn, at: before.at + seconds * 1_000 }
        const delta = deltaOf(before, { ...after, at: after.at + jitterMs }, port)
        // A restart at the very time of a wrap cannot be seen.
        const isWrapNear = before.uptimeCs > 2 ** 32 - 10_000
        if (restarts && isWrapNear) return
        if (restarts) assert.equal(delta.kind, 'dropped')
        else if (seconds <= 840) assert.equal(delta.values?.octetsIn, octets)
        before = after
      }
    }),
    { numRuns: scaled(1_000) },
  )
})
