// The state machine of alert rules: limits, gaps, hysteresis, and evaluation in parts.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { evaluate, newMemory, type AlertStep, type AlertTiming } from './evaluate.ts'

const minuteMs = 60_000
const gridMs = 5 * minuteMs
const timing = (forMinutes: number, clearMinutes: number): AlertTiming => ({
  limit: { threshold: 80, unit: 'percent', comparison: 'above', forMinutes },
  clearMinutes,
})
const stepsOf = (values: readonly (number | null)[], lengthMs = gridMs): AlertStep[] =>
  values.map((value, at) => ({ startMs: at * lengthMs, endMs: (at + 1) * lengthMs, value }))

/** The changes as `fired 15`, with the minute. */
const changesOf = (rule: AlertTiming, values: readonly (number | null)[], lengthMs = gridMs) =>
  evaluate(rule, newMemory(0), stepsOf(values, lengthMs)).changes.map(
    ({ kind, atMs }) => `${kind} ${atMs / minuteMs}`,
  )
const stateAfter = (rule: AlertTiming, values: readonly (number | null)[]) =>
  evaluate(rule, newMemory(0), stepsOf(values)).memory.state

const [high, low] = [90, 10]
const cases: readonly [
  name: string,
  rule: AlertTiming,
  (number | null)[],
  changes: string[],
  state: string,
][] = [
  ['nothing beyond the limit', timing(10, 10), [low, low], [], 'ok'],
  ['a value at the limit is within it', timing(5, 5), [80, 80, 80], [], 'ok'],
  ['too short a peak does not fire', timing(15, 10), [high, high, low, high, high], [], 'ok'],
  ['fires once while it stays beyond', timing(10, 10), [high, high, high, high], ['fired 10'], 'firing'],
  ['a short dip does not end it', timing(5, 10), [high, low, high, low, high], ['fired 5'], 'firing'],
  ['ends after the time within', timing(5, 10), [high, low, low, low], ['fired 5', 'cleared 15'], 'ok'],
  [
    'fires again after its end',
    timing(5, 5),
    [high, low, high],
    ['fired 5', 'cleared 10', 'fired 15'],
    'firing',
  ],
  ['one missing value does not end the run', timing(10, 10), [high, null, high], ['fired 15'], 'firing'],
  ['a missing value does not count for it', timing(15, 10), [high, null, high], [], 'ok'],
  ['a long gap ends the run', timing(10, 10), [high, null, null, null, high], [], 'ok'],
  ['no values at all are unknown', timing(5, 5), [null, null, null], [], 'unknown'],
  ['no data is never ok', timing(5, 5), [low, null, null, null], [], 'unknown'],
  ['two missing values are not unknown yet', timing(5, 5), [low, null, null], [], 'ok'],
  [
    'a firing stays open in a gap, silently',
    timing(5, 5),
    [high, null, null, null, high],
    ['fired 5'],
    'firing',
  ],
  [
    'a firing ends after a gap only by values',
    timing(5, 5),
    [high, null, null, null, low],
    ['fired 5', 'cleared 25'],
    'ok',
  ],
]

describe('a rule', () => {
  for (const [name, rule, values, changes, state] of cases)
    it(name, () => assert.deepEqual([changesOf(rule, values), stateAfter(rule, values)], [changes, state]))

  it('tells once that there are no data, and again after there were some', () => {
    const gap = Array.from({ length: 20 }, () => null)
    assert.deepEqual(changesOf(timing(5, 5), [low, ...gap, low, ...gap]), ['unknown 65', 'unknown 170'])
  })

  it('compares from below', () => {
    const rule: AlertTiming = {
      limit: { threshold: 3, unit: 'dB', comparison: 'below', forMinutes: 10 },
      clearMinutes: 5,
    }
    assert.deepEqual(changesOf(rule, [4, 2, 2, 3]), ['fired 15', 'cleared 20'])
  })

  it('with values of an hour is unknown after two of them are missing', () => {
    const hourMs = 60 * minuteMs
    const memory = (values: (number | null)[]) =>
      evaluate(timing(0, 60), newMemory(0), stepsOf(values, hourMs)).memory.state
    assert.deepEqual([memory([low, null]), memory([low, null, null])], ['ok', 'unknown'])
    assert.deepEqual(changesOf(timing(0, 60), [low, high], hourMs), ['fired 120'])
  })

  it('states when the value went beyond the limit, and which value fired it', () => {
    const { changes } = evaluate(timing(10, 10), newMemory(0), stepsOf([low, 85, 95]))
    assert.deepEqual(changes, [{ kind: 'fired', startedMs: 5 * minuteMs, atMs: 15 * minuteMs, value: 95 }])
  })

  it('has the same changes however the values are divided among runs', () => {
    const value = fc.constantFrom(high, low, null)
    fc.assert(
      fc.property(fc.array(value, { maxLength: 60 }), fc.nat(60), (values, cut) => {
        const steps = stepsOf(values)
        const whole = evaluate(timing(10, 15), newMemory(0), steps)
        const first = evaluate(timing(10, 15), newMemory(0), steps.slice(0, cut))
        const second = evaluate(timing(10, 15), first.memory, steps.slice(cut))
        assert.deepEqual(second.memory, whole.memory)
        assert.deepEqual([...first.changes, ...second.changes], whole.changes)
      }),
    )
  })

  it('fires and ends in turns', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(high, low, null), { maxLength: 80 }), (values) => {
        const kinds = evaluate(timing(5, 10), newMemory(0), stepsOf(values))
          .changes.map(({ kind }) => kind)
          .filter((kind) => kind !== 'unknown')
        assert.ok(kinds.every((kind, at) => kind === (at % 2 === 0 ? 'fired' : 'cleared')))
      }),
    )
  })
})
