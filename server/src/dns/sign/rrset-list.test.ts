import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { domainName } from '../../net/dns/testing.ts'
import { decodeRrsets, encodeRrsets } from './rrset-list.ts'

const rrset = fc.record(
  {
    name: domainName,
    type: fc.integer({ min: 1, max: 65_535 }),
    ttl: fc.nat(2_147_483_647),
    rdata: fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 4 }),
  },
  { noNullPrototype: true },
)

describe('the encoding of record sets', () => {
  it('returns the sets in their order', () => {
    fc.assert(
      fc.property(fc.array(rrset, { maxLength: 6 }), (sets) => {
        assert.deepEqual(decodeRrsets(encodeRrsets(sets)), sets)
      }),
    )
  })

  it('rejects every part of an encoded list that is not a list', () => {
    const whole = encodeRrsets([{ name: '.' as never, type: 16, ttl: 60, rdata: [Uint8Array.of(1, 65)] }])
    for (let end = 1; end < whole.length; end++)
      assert.throws(() => decodeRrsets(whole.subarray(0, end)), RangeError)
  })
})
