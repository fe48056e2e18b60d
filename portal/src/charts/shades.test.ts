// The scale of a heatmap.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { shadeAt, shadeScale } from './shades.ts'

describe('the scale of a heatmap', () => {
  it('ends at a readable value above the largest, at most three powers of ten below it', () => {
    assert.deepEqual(shadeScale([[1.7e9, null, 0], [40]])?.ticks, [2e6, 2e7, 2e8, 2e9])
    assert.deepEqual(shadeScale([[480, 510]])?.ticks, [100, 1000])
  })

  it('does not exist without a value above 0', () => {
    assert.equal(shadeScale([[0, null], []]), undefined)
  })

  it('has a stronger shade for a larger value, and a place for every value', () => {
    const value = fc.double({ min: 1e-3, max: 1e15, noNaN: true })
    fc.assert(
      fc.property(fc.array(value, { minLength: 2 }), (values) => {
        const scale = shadeScale([values])!
        const places = values.toSorted((a, b) => a - b).map((one) => shadeAt(one, scale))
        assert.ok(places.every((place, at) => place >= (places[at - 1] ?? 0) && place <= 1))
        assert.ok(scale.high >= Math.max(...values) * (1 - 1e-9))
      }),
    )
  })
})
