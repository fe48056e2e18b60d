import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { rateOf, unitFor } from './rate-units.ts'

describe('rates with units', () => {
  it('shows a rate in the largest unit that fits', () => {
    assert.equal(unitFor('bps', 1e9).label, 'Gbps')
    assert.equal(unitFor('bps', 250e6).label, 'Mbps')
    assert.equal(unitFor('pps', 100).label, 'kpps')
    assert.equal(unitFor('pps', null).label, 'Mpps')
  })

  it('reads what is typed as a whole number, and nothing as no threshold', () => {
    assert.equal(rateOf('1.5', unitFor('bps', 1e9)), 1_500_000_000)
    assert.equal(rateOf(0.1, unitFor('pps', 1e6)), 100_000)
    assert.equal(rateOf('', unitFor('bps', 1e9)), null)
  })
})
