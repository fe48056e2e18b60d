// The rate of a rule's counter, which the server reads every 10 s and the portal polls every 5 s.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ratesOf, readingsAfter, type Readings } from './hit-rates.ts'

const start = Date.parse('2026-03-01T12:00:00Z')
const time = (seconds: number) => new Date(start + seconds * 1000).toISOString()

/** Returns the rate after each answer: when it is received, the packets, and when the server last saw them rise. */
function ratesAfter(answers: readonly (readonly [received: number, packets: number, hit: number])[]) {
  let readings: Readings = new Map()
  return answers.map(([received, packets, hit]) => {
    const hits = { packets, bytes: packets * 100, last_hit: time(hit) }
    readings = readingsAfter(readings, [{ id: 1, hits }], start + received * 1000)
    return ratesOf(readings).get('1')
  })
}

describe('the rate of a rule', () => {
  it('is that between two readings of the server, whenever the portal receives them', () => {
    const rates = ratesAfter([
      [9, 1000, 0],
      [11, 2000, 10],
      [16, 2000, 10],
      [19, 2000, 10],
      [20.5, 3000, 20],
    ])
    assert.deepEqual(rates, [undefined, 100, 100, 100, 100])
  })

  it('ends once the counter has stopped, and begins anew', () => {
    const rates = ratesAfter([
      [1, 1000, 0],
      [11, 2000, 10],
      [31, 2000, 10],
      [41, 2000, 10],
      [301, 2100, 300],
      [311, 4100, 310],
    ])
    assert.deepEqual(rates, [undefined, 100, 100, undefined, undefined, 200])
  })

  it('is not that of the short time between the readings of two scrubbers', () => {
    const rates = ratesAfter([
      [1, 1000, 0.1],
      [10.05, 1500, 10],
      [15, 2000, 10.1],
      [20.2, 3000, 20.1],
    ])
    assert.deepEqual(
      rates.map((rate) => rate && Math.round(rate)),
      [undefined, 51, 51, 149],
    )
  })

  it('is unknown for a rule that is not counted or never matched', () => {
    const rules = [
      { id: 1, hits: null },
      { id: 2, hits: { packets: 0, bytes: 0, last_hit: null } },
    ]
    assert.equal(ratesOf(readingsAfter(new Map(), rules, start)).size, 0)
  })
})
