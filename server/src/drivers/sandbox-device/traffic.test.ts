// The traffic of simulated interfaces.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { countersSince, octetsAt } from './traffic.ts'

test('counters never fall, and have the mean rate over a year', () => {
  const year = 365 * 86_400_000
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 3 * year }),
      fc.integer({ min: 0, max: 86_400_000 }),
      fc.integer({ min: 1, max: 1e11 }),
      fc.integer({ min: 0, max: 2 ** 32 - 1 }),
      (at, later, bps, seed) => {
        const start = countersSince + at
        assert.ok(octetsAt(start + later, bps, seed) >= octetsAt(start, bps, seed))
        const perYear = Number(octetsAt(start + year, bps, seed) - octetsAt(start, bps, seed))
        const expected = (bps / 8) * 365 * 86_400
        assert.ok(Math.abs(perYear - expected) <= expected * 0.01 + 1)
      },
    ),
  )
})
