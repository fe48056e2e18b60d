import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { measuredPart, overageSentence } from './bill-figures.ts'

describe('the figures of a bill', () => {
  const part = (samples: number, missing_samples: number) => measuredPart({ samples, missing_samples })

  it('say the overage in a sentence, or what is expected', () => {
    const bill = {
      overage_bps: null,
      overage_octets: null,
      commit_bps: null,
      included_octets: null,
      billable_bps: null,
      forecast_bps: null,
    }
    const rates = (billable_bps: number, overage_bps: number, forecast_bps: number | null) =>
      overageSentence({ ...bill, commit_bps: 10e9, billable_bps, overage_bps, forecast_bps })
    assert.equal(rates(13.7e9, 3.7e9, 14e9), '3.7 Gbps above the commit of 10 Gbps.')
    assert.equal(rates(7e9, 0, 9e9), '3 Gbps below the commit of 10 Gbps.')
    assert.equal(
      rates(7e9, 0, 14e9),
      '3 Gbps below the commit of 10 Gbps. Expected 4 Gbps above the commit at the end of the month.',
    )
    assert.equal(
      overageSentence({ ...bill, overage_octets: 2e12, included_octets: 5e12 }),
      '2 TB above the 5 TB that are included.',
    )
    assert.equal(overageSentence(bill), undefined)
  })

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
