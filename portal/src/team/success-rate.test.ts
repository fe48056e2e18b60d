import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { successRate } from './success-rate.ts'

const of = (delivered: number, failed: number) => [
  ...Array.from({ length: delivered }, () => ({ state: 'delivered' as const })),
  ...Array.from({ length: failed }, () => ({ state: 'failed' as const })),
]

describe('the success rate of a webhook', () => {
  it('is unknown without finished deliveries', () => {
    assert.equal(successRate([{ state: 'pending' }, { state: 'cancelled' }]), undefined)
  })
  it('is 100 only if none failed', () => {
    assert.deepEqual(successRate(of(199, 1)), { percent: 99, count: 200 })
    assert.deepEqual(successRate([...of(3, 0), { state: 'pending' as const }]), { percent: 100, count: 3 })
  })
})
