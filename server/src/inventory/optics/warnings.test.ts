// Early warnings: each rule, its attribution, hysteresis, and a simulated year of healthy, fading and damaged lanes.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { OpticLimits } from '../collect/device-source.ts'
import type { DayValue } from './levels.ts'
import { findLowMargin, marginOf } from './margin.ts'
import { findStep } from './step.ts'
import { findTrend, slopeOf } from './trend.ts'
import { advanceWarnings, findingsOf, type LaneHistory, type WarningState } from './warnings.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const limits: OpticLimits = { alarmLow: -18, warnLow: -14, warnHigh: 1, alarmHigh: 2 }
const seriesOf = (days: number, valueAt: (day: number) => number): DayValue[] =>
  Array.from({ length: days }, (_, day) => ({ day, value: valueAt(day) }))
/** Noise without a trend, +-0.1. */
const noise = (day: number) => (((day * 7_919) % 11) - 5) / 50
const steady = (days: number, level = -6) => seriesOf(days, (day) => level + noise(day))

const laneOf = (lane: Partial<LaneHistory>): LaneHistory => ({
  rx: [],
  tx: [],
  bias: [],
  farTx: null,
  limits: {
    rx_power: limits,
    tx_power: limits,
    bias: { alarmLow: 5, warnLow: 10, warnHigh: 70, alarmHigh: 80 },
  },
  ...lane,
})

describe('the margin', () => {
  it('is measured from the low alarm level, or from the low warning level without one', () => {
    assert.deepEqual(marginOf(-12.34, limits), { marginDb: 5.66, limit: 'alarm_low' })
    assert.deepEqual(marginOf(-12.34, { ...limits, alarmLow: null, warnLow: 0 }), {
      marginDb: -12.34,
      limit: 'warn_low',
    })
    assert.equal(marginOf(-12, { ...limits, alarmLow: null, warnLow: null }), undefined)
  })

  it('is low if the median of 3 days is less than 1 dB above the warning level', () => {
    const series = [-6, -13.1, -6, -13.2].map((value, day) => ({ day, value }))
    assert.deepEqual(findLowMargin(series, limits, 3), { marginDb: 0.9, limit: 'warn_low' })
    assert.equal(findLowMargin(series, limits, 2), undefined)
    assert.equal(findLowMargin(series, undefined, 3), undefined)
    assert.equal(findLowMargin(series, limits, 9), undefined)
  })
})

describe('a step', () => {
  const fallen = seriesOf(40, (day) => (day < 30 ? -6 : -8) + noise(day))

  it('is found on its second day, with its first day', () => {
    assert.equal(findStep(fallen, 30), undefined)
    const step = findStep(fallen, 31)!
    assert.equal(step.day, 30)
    assert.ok(Math.abs(step.stepDb + 2) < 0.3)
    assert.equal(findStep(fallen, 34)?.day, 30)
  })

  it('is not a single day, a change of 1 dB, or one within the usual variation', () => {
    assert.equal(findStep([...steady(30), { day: 30, value: -9 }, { day: 31, value: -6 }], 31), undefined)
    assert.equal(
      findStep(
        seriesOf(32, (day) => (day < 30 ? -6 : -7)),
        31,
      ),
      undefined,
    )
    const restless = seriesOf(32, (day) => (day < 30 ? -6 + (day % 3) / 2 : -7.5))
    assert.equal(findStep(restless, 31), undefined)
  })
})

describe('the slope', () => {
  it('of a straight line is exact, over missing days and outliers', () => {
    const point = fc.record({ perDay: fc.double({ min: -1, max: 1, noNaN: true }), missing: fc.nat(20) })
    fc.assert(
      fc.property(point, ({ perDay, missing }) => {
        const line = seriesOf(21, (day) => -6 + perDay * day).filter(({ day }) => day !== missing)
        const found = slopeOf(line.map((one) => (one.day === 10 ? { ...one, value: -30 } : one)))!
        assert.ok(Math.abs(found.perDay - perDay) < 1e-9)
        assert.ok(found.low <= found.perDay && found.perDay <= found.high)
      }),
    )
  })
})

describe('a trend', () => {
  const fading = seriesOf(60, (day) => -8 - Math.max(0, day - 20) * 0.1 + noise(day))

  it('has the days until the level is reached', () => {
    const trend = findTrend(fading, -14, 45)!
    assert.ok(Math.abs(trend.perDay + 0.1) < 0.01)
    assert.ok(Math.abs(trend.daysLeft - 35) <= 4)
  })

  it('is not found if the level is far away or unknown, for a step, and with few days', () => {
    assert.equal(findTrend(fading, -30, 45), undefined)
    assert.equal(findTrend(fading, undefined, 45), undefined)
    assert.equal(
      findTrend(
        seriesOf(60, (day) => (day < 35 ? -6 : -9) + noise(day)),
        -14,
        45,
      ),
      undefined,
    )
    assert.equal(
      findTrend(
        fading.filter(({ day }) => day > 32),
        -14,
        45,
      ),
      undefined,
    )
  })
})

describe('the cause', () => {
  const falling = seriesOf(60, (day) => -8 - day * 0.08 + noise(day))
  const causesOf = (lane: Partial<LaneHistory>) =>
    findingsOf(laneOf(lane), 40).map(({ code, metric, cause }) => `${metric} ${code} ${cause}`)

  it('of a falling receive level is the path if the far end transmits steadily', () => {
    assert.deepEqual(causesOf({ rx: falling, farTx: steady(60, -2) }), ['rx_power trend path'])
    assert.deepEqual(causesOf({ rx: falling, farTx: falling }), ['rx_power trend far_module'])
    assert.deepEqual(causesOf({ rx: falling }), ['rx_power trend path_or_far_module'])
  })

  it('of a falling transmit level and of a rising bias current is the module', () => {
    const bias = seriesOf(60, (day) => 40 + day * 0.5)
    assert.deepEqual(causesOf({ tx: falling, bias, rx: steady(60) }), [
      'tx_power trend module',
      'bias trend module',
    ])
  })
})

describe('hysteresis', () => {
  const lane = (levels: readonly number[], hole = -1) =>
    laneOf({
      rx: levels.map((value, day) => ({ day, value })).filter(({ day }) => day !== hole),
    })
  /** Days on which the warning of a low margin is raised. */
  const raisedDays = (levels: readonly number[], hole?: number) => {
    let states: WarningState[] = []
    return levels.flatMap((_, day) => {
      states = advanceWarnings(states, lane(levels, hole), day)
      return states.some(({ isRaised, finding }) => isRaised && finding.code === 'low_margin') ? [day] : []
    })
  }
  // The margin uses the median of 3 days, so it is low from the second low day on.
  const low = -13.5

  it('raises on the second day of a finding and clears on the second day without it', () => {
    assert.deepEqual(raisedDays([-6, -6, low, low, low, -6, -6, -6, -6]), [4, 5, 6])
    assert.deepEqual(raisedDays([-6, -6, low, low, -6, -6, -6]), [4, 5])
    assert.deepEqual(raisedDays([-6, -6, low, -6, -6]), [])
  })

  it('does not count a day on which the port was down', () => {
    assert.deepEqual(raisedDays([-6, -6, low, low, low, low, low], 4), [5, 6])
  })

  it('does not count a day twice', () => {
    const levels = [-6, -6, low, low, low]
    const once = [0, 1, 2, 3].reduce<WarningState[]>(
      (states, day) => advanceWarnings(states, lane(levels), day),
      [],
    )
    assert.equal(once.length, 1)
    assert.deepEqual(advanceWarnings(once, lane(levels), 3), once)
    assert.ok(!once[0]!.isRaised)
  })
})

const yearDays = 365

/**
 * A lane with harsh noise: 0.15 dB, a wave of a week of 0.3 dB, a slow walk, an outage on 30 % and a cleaning on 20 % of the lanes. `changeAt`
 * is added to its level.
 */
function simulatedLane(
  seed: number,
  days: number,
  marginDb: number | undefined,
  changeAt: (day: number) => number,
) {
  let state = seed * 7_919 + 13
  const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
  const normal = () => Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random())
  for (let skip = 0; skip < 10; skip++) random()
  const base = -14 + (marginDb ?? 1.5 + 8 * random())
  const phase = 7 * random()
  const outage = random() < 0.3 ? { start: random() * days, days: 1 + 10 * random() } : undefined
  const cleaning = random() < 0.2 ? { start: random() * days, db: 0.3 + 1.5 * random() } : undefined
  let walk = 0
  return seriesOf(days, (day) => {
    walk = 0.995 * walk + 0.02 * normal()
    const week = 0.3 * Math.sin((2 * Math.PI * (day + phase)) / 7)
    const cleaned = cleaning && day >= cleaning.start ? cleaning.db : 0
    return base + walk + 0.15 * normal() + week + cleaned + changeAt(day)
  }).filter(({ day }) => !outage || day < outage.start || day >= outage.start + outage.days)
}

/** Returns the first day on which a warning of each code was raised. */
function firstRaised(rx: readonly DayValue[], from: number): Map<string, number> {
  const first = new Map<string, number>()
  let states: WarningState[] = []
  for (let day = from; day <= rx.at(-1)!.day; day++) {
    // The rules read at most a month.
    const lane = laneOf({ rx: rx.filter((one) => one.day <= day && one.day > day - 31) })
    states = advanceWarnings(states, lane, day)
    for (const { isRaised, finding } of states)
      if (isRaised && !first.has(finding.code)) first.set(finding.code, day)
  }
  return first
}

const sorted = (values: readonly number[]) => values.toSorted((a, b) => a - b)
const middle = (values: readonly number[]) => sorted(values)[values.length >> 1]!

describe('a simulated year', () => {
  it('of healthy lanes has no warning of a trend', () => {
    const lanes = scaled(60, 60)
    const found = Array.from({ length: lanes }, (_, at) =>
      firstRaised(
        simulatedLane(at + 1, yearDays, undefined, () => 0),
        30,
      ),
    )
    assert.deepEqual(
      found.flatMap((first, at) => (first.has('trend') ? [`lane ${at + 1} day ${first.get('trend')}`] : [])),
      [],
    )
    assert.ok(found.filter((first) => first.has('step')).length <= lanes / 100 + 1)
  })

  it('of fading lanes has a warning of a trend weeks before the level is too low', () => {
    const onset = 40
    const found = Array.from({ length: scaled(60, 60) }, (_, at) => {
      const rx = simulatedLane(10_000 + at, 110, 4, (day) => -0.06 * Math.max(0, day - onset))
      return firstRaised(rx, 30).get('trend') ?? Infinity
    })
    assert.ok(middle(found) - onset <= 20, `median day ${middle(found) - onset}`)
    // The level is reached 67 days after the onset.
    assert.ok(
      found.every((day) => day <= onset + 57),
      `last day ${sorted(found).at(-1)! - onset}`,
    )
  })

  it('of damaged lanes has a warning of a step the next day, and rarely one of a trend', () => {
    const lanes = scaled(60, 60)
    const found = Array.from({ length: lanes }, (_, at) =>
      firstRaised(
        simulatedLane(20_000 + at, 90, 5, (day) => (day < 50 ? 0 : -2)),
        30,
      ),
    )
    assert.ok(found.filter((first) => first.get('step') === 51).length >= 0.9 * lanes)
    assert.ok(found.filter((first) => first.has('trend')).length <= 0.02 * lanes)
  })
})
