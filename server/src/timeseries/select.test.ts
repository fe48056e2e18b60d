// A selected value equals the value at the index of the sorted list.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { selectSmallest } from './select.ts'

describe('a selected value', () => {
  it('is at its index in the sorted values, with equal ones too', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -9, max: 99 }), { minLength: 1, maxLength: 200 }),
        fc.nat(),
        (values, at) => {
          const index = at % values.length
          const sorted = values.toSorted((a, b) => a - b)
          assert.equal(selectSmallest(Float64Array.from(values), index), sorted[index])
        },
      ),
    )
  })

  it('is found in values that are sorted, reversed or all the same', () => {
    for (const values of [[1, 2, 3, 4, 5], [5, 4, 3, 2, 1], [2, 2, 2, 2, 2], [7]])
      for (const index of values.keys())
        assert.equal(
          selectSmallest(Float64Array.from(values), index),
          values.toSorted((a, b) => a - b)[index],
        )
  })
})
