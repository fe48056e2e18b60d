// The forecast of a month's 95th percentile: exact at the end of the month and for traffic that repeats, and not far off otherwise.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { billingMonth } from './billing-month.ts'
import { type BucketRate, billingGridMs } from './bucket.ts'
import { forecastOf } from './forecast.ts'
import { percentileOf } from './percentile.ts'

const month = billingMonth('2026-06', 'UTC')
const dayMs = 86_400_000

/** Rates from five weeks before the month until its end. */
function ratesOf(bpsAt: (ms: number) => number): BucketRate[] {
  const rates: BucketRate[] = []
  for (let at = month.startMs - 35 * dayMs; at < month.endMs; at += billingGridMs)
    rates.push({ startMs: at, inBps: bpsAt(at), outBps: 0 })
  return rates
}

const inMonth = (rates: readonly BucketRate[]) => rates.filter(({ startMs }) => startMs >= month.startMs)
const truthOf = (rates: readonly BucketRate[]) => percentileOf(inMonth(rates), 'in', 95)!.bps
const forecast = (rates: readonly BucketRate[], nowMs: number) =>
  forecastOf(rates, ({ inBps }) => inBps, 95, month, nowMs)

/** A wave of a day, lower at weekends. */
const weekly = (ms: number) =>
  Math.round(
    1e9 * (1 + 0.5 * Math.sin((2 * Math.PI * ms) / dayMs)) * (Math.floor(ms / dayMs + 4) % 7 < 2 ? 0.4 : 1),
  )

describe('the forecast of the 95th percentile', () => {
  const rates = ratesOf(weekly)

  it('at the end of the month is the percentile itself', () => {
    const kept = rates.filter((_, index) => index % 7 !== 0)
    assert.equal(forecast(kept, month.endMs), truthOf(kept))
  })

  it('is exact for traffic that repeats every week, on every day of the month', () => {
    for (let day = 0; day < 30; day++)
      assert.equal(forecast(rates, month.startMs + day * dayMs + 1), truthOf(rates), `day ${day}`)
  })

  it('does not read samples of the future', () => {
    const nowMs = month.startMs + 10 * dayMs
    const changed = rates.map((rate) => (rate.startMs < nowMs ? rate : { ...rate, inBps: 1e12 }))
    assert.equal(forecast(changed, nowMs), forecast(rates, nowMs))
  })

  it('uses what exists without history, and is unknown without samples', () => {
    const nowMs = month.startMs + 3 * dayMs
    const young = rates.filter(({ startMs }) => startMs >= nowMs - dayMs)
    assert.ok(forecast(young, nowMs)! > 0)
    assert.equal(forecast([], nowMs), undefined)
  })

  it('has a median error of at most 5 % in simulated months of noise, growth and bursts', () => {
    const errors = Array.from({ length: 12 }, (_, seed) => {
      let state = 1_000 + seed
      const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
      const growth = (random() - 0.3) / (100 * dayMs)
      const noisy = ratesOf((ms) => {
        const burst = random() < 0.02 ? 1 + random() : 1
        return Math.round(weekly(ms) * (1 + growth * (ms - month.startMs)) * burst * (0.9 + 0.2 * random()))
      })
      const truth = truthOf(noisy)
      const days = [5, 10, 20]
      return days.map((day) => Math.abs(forecast(noisy, month.startMs + day * dayMs)! / truth - 1))
    })
    const sorted = errors.flat().sort((a, b) => a - b)
    assert.ok(sorted[sorted.length >> 1]! <= 0.05, `${sorted.map((error) => error.toFixed(3)).join(' ')}`)
  })
})
