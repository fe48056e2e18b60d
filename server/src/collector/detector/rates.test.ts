import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scaled } from '../../runtime/testing-scale.ts'
import { lowerOf } from './measure.ts'
import { Rates } from './rates.ts'
import { createRandom, poisson } from './testing-scenario.ts'

const octets = 1400

/** The rates of each second of a flow that is exported each `every` seconds, give or take `jitter`. */
function exported(bps: number, every: number, jitter: number, seconds: number): number[] {
  const rates = new Rates(1)
  rates.setSpan(1)
  const random = createRandom(3)
  const found: number[] = []
  let next = every
  let last = 0
  for (let second = 1; second <= seconds; second++) {
    if (second >= next) {
      rates.add(0, 1, (bps / 8) * (second - last), 1, 1, (second - last) * 1000)
      last = second
      next = second + every + Math.round((random() * 2 - 1) * jitter)
    }
    rates.tick(0)
    found.push(rates.bps(0))
  }
  return found
}

test('the rate of a steady flow is at most a sixth above it, however often it is exported', () => {
  for (const [every, jitter, peak] of [
    [60, 6, 1.1],
    [300, 10, 1.08],
    [600, 10, 1.2],
  ] as const) {
    const rates = exported(1e9, every, jitter, 20_000)
    const highest = Math.max(...rates.slice(5000))
    assert.ok(highest <= peak * 1e9, `${highest / 1e9} times the rate if exported every ${every} s`)
    const mean = rates.slice(5000).reduce((sum, one) => sum + one, 0) / (rates.length - 5000)
    assert.ok(Math.abs(mean - 1e9) < 0.03 * 1e9, `mean ${mean}`)
  }
})

test('the true rate is at or above L in 99 of 100 samplings', () => {
  const samplings = scaled(10_000, 2000)
  for (const sampling of [1000, 16_384]) {
    const random = createRandom(sampling)
    const rates = new Rates(1)
    rates.setSpan(1)
    const pps = 8_000
    let above = 0
    for (let reading = 0; reading < samplings; reading++) {
      // Readings with 40 s between them are independent.
      for (let second = 0; second < 40; second++) {
        const sampled = poisson(pps / sampling, random)
        if (sampled > 0) rates.add(0, 1, sampled * sampling * octets, sampled * sampling, sampling, 0)
        rates.tick(0)
      }
      const lower = lowerOf(rates.measure(0))
      if (lower.pps <= pps && lower.bps <= pps * octets * 8) above++
    }
    assert.ok(above >= 0.99 * samplings, `${above} of ${samplings} at 1:${sampling}`)
  }
})

test('a counter without sense leaves finite rates that fade', () => {
  const rates = new Rates(1)
  rates.setSpan(1)
  rates.add(0, 1, 2 ** 63 * 16_384, 1, 16_384, 0)
  for (let second = 0; second < 700; second++) rates.tick(0)
  const { bps, bpsVariance } = rates.measure(0)
  assert.ok(
    Number.isFinite(bps) && Number.isFinite(bpsVariance) && bps < 1 && bpsVariance < 1,
    `${bps}, ${bpsVariance}`,
  )
})

test('what was added to a row is in its own rate and in that of the row to which it is added up', () => {
  const rates = new Rates(2)
  rates.setSpan(1)
  rates.add(0, 5, 1000, 10, 100, 0)
  rates.add(0, 6, 3000, 10, 1, 60_000)
  rates.addRow(0, 1)
  rates.tick(0)
  rates.tick(1)
  assert.deepEqual(rates.measure(0), rates.measure(1))
  const shares = new Map<number, number>()
  rates.visitVectors(1, (vector, ofOctets) => shares.set(vector, Math.round(ofOctets * 100)))
  assert.deepEqual(
    shares,
    new Map([
      [5, 25],
      [6, 75],
    ]),
  )
})

test('the usual traffic of the last hour hardly has what began a minute ago', () => {
  const rates = new Rates(1)
  rates.setSpan(1)
  const send = (seconds: number, bps: number) => {
    for (let second = 0; second < seconds; second++) {
      rates.add(0, 1, bps / 8, 1, 1, 0)
      rates.tick(0)
    }
  }
  send(900, 1e6)
  assert.ok(Math.abs(rates.recent(0, 900).bps - 1e6) < 0.05e6, `${rates.recent(0, 900).bps}`)
  send(60, 1e9)
  assert.ok(rates.recent(0, 960).bps < 15e6, `${rates.recent(0, 960).bps}`)
})
