import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { BillablePort } from '@pharos/contract/inventory/bill'
import { billsSoFar } from './bills-so-far.ts'

const bill = (overage_bps: number | null, amount: string | null = '250.00', currency = 'EUR') =>
  ({
    overage_bps,
    overage_octets: null,
    problem: null,
    price: { amount, currency },
  }) as unknown as BillablePort

describe('the bills so far', () => {
  it('add up what is above the commits, and name the port with the most', () => {
    const two = billsSoFar([
      { service: 'Transit Amsterdam', bills: [bill(3_700_000_000, '2192.92'), bill(0)] },
      { service: 'Transit Frankfurt', bills: [bill(300_000_000, '0.5')] },
    ])
    assert.equal(two?.overageBps, 4_000_000_000)
    assert.equal(two?.largest?.service, 'Transit Amsterdam')
    assert.deepEqual(two?.amount, { value: '2443.42', currency: 'EUR' })
  })

  it('are within the commit if nothing is above it, and nothing if nothing is billed', () => {
    const within = billsSoFar([{ service: 'Transit', bills: [bill(null), bill(0)] }])
    assert.deepEqual([within?.overageBps, within?.largest], [null, undefined])
    const unmeasured = { ...bill(null), problem: 'no_samples' } as BillablePort
    assert.equal(billsSoFar([{ service: 'Transit', bills: [unmeasured] }]), undefined)
    assert.equal(billsSoFar([]), undefined)
  })

  it('have no amount if one of them is not known, or in another currency', () => {
    for (const other of [bill(null, null), bill(null, '1.00', 'CHF'), { ...bill(null), price: null }])
      assert.equal(billsSoFar([{ service: 'Transit', bills: [bill(null), other] }])?.amount, undefined)
  })
})
