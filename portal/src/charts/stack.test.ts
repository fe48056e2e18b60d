import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { columnsOf, drawnRange, drawnTimes, isolatedValues, periodOf, stack } from './stack.ts'

describe('a stack', () => {
  it('is the running sum; a gap of one series is nothing, a gap of all remains one', () => {
    assert.deepEqual(
      stack([
        [1, null, null],
        [2, 3, null],
        [4, null, null],
      ]),
      [
        [1, 0, null],
        [3, 3, null],
        [7, 3, null],
      ],
    )
    assert.deepEqual(
      stack([
        [1, undefined, null],
        [2, undefined, undefined],
      ]),
      [
        [1, undefined, null],
        [3, undefined, null],
      ],
    )
    assert.deepEqual(stack([]), [])
  })
})

describe('the columns of a chart', () => {
  it('of a band are its edges, then its lines', () => {
    const series = [{ label: 'rx', unit: 'dBm', color: 1, values: [2], low: [1], high: [3] }] as const
    assert.deepEqual(
      columnsOf('band', series).map(({ role, values }) => [role, ...values]),
      [
        ['low', 1],
        ['high', 3],
        ['line', 2],
      ],
    )
    assert.equal(columnsOf('lines', series).length, 1)
  })

  it('of a stack are its sums, then the lines over it', () => {
    const one = { label: 'a', unit: 'bps', color: 1, values: [2] } as const
    const line = { ...one, label: 'line', isLine: true, values: [9] }
    assert.deepEqual(
      columnsOf('stacked-area', [line, one, one]).map(({ series, role, values }) => [
        series,
        role,
        ...values,
      ]),
      [
        [1, 'stack', 2],
        [2, 'stack', 4],
        [0, 'line', 9],
      ],
    )
  })

  it('have points where no line would show a value', () => {
    assert.deepEqual(isolatedValues([1, null, 2, 3, null, 4]), [0, 5])
    assert.deepEqual(isolatedValues([null, 7, null]), [1])
    assert.deepEqual(isolatedValues([1, undefined, 2, undefined, null, 4, undefined]), [5])
  })
})

describe('the times of a chart', () => {
  it('of a single measurement are a step until the end', () => {
    assert.deepEqual(drawnTimes({ kind: 'area', times: [5], range: [0, 10] }), [5, 10])
    assert.deepEqual(drawnTimes({ kind: 'area', times: [5], range: [0, 10], heldUntil: 8 }), [5, 8])
    assert.deepEqual(drawnTimes({ kind: 'scatter', times: [5], range: [0, 10] }), [5])
  })

  it('of bars have room for the first and the last', () => {
    assert.equal(periodOf([0, 10, 30]), 10)
    assert.deepEqual(drawnRange({ kind: 'bars', times: [0, 10, 20] }), [-5, 25])
    assert.deepEqual(drawnRange({ kind: 'stacked-bars', times: [0, 10, 20], range: [0, 30] }), [-5, 25])
    assert.deepEqual(drawnRange({ kind: 'lines', times: [0, 10, 20] }), [0, 20])
  })
})
