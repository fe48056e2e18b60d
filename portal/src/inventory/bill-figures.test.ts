import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { measuredPart } from './bill-figures.ts'

describe('the figures of a bill', () => {
  const part = (samples: number, missing_samples: number) => measuredPart({ samples, missing_samples })

  it('are marked if more is missing than a percentile leaves out', () => {
    assert.equal(part(852, 7_788), 9)
    assert.equal(part(2, 7_958), 0)
    assert.equal(part(8_200, 440), 94)
    for (const [samples, missing] of [
      [8_640, 0],
      [8_208, 432],
      [0, 0],
    ] as const)
      assert.equal(part(samples, missing), undefined)
  })
})
