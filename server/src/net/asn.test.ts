import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { AsnError, parseAsn, reservedAsn } from './asn.ts'
import type { AsnErrorReason } from './asn.ts'

describe('parseAsn', () => {
  for (const [value, asn] of [
    ['AS64500', 64_500],
    ['as64500', 64_500],
    ['64500', 64_500],
    [64_500, 64_500],
    ['1', 1],
    ['AS4294967295', 4_294_967_295],
  ] as const) {
    it(`reads ${JSON.stringify(value)} as ${asn}`, () => assert.equal(parseAsn(value), asn))
  }

  const refusals: readonly [value: string | number, reason: AsnErrorReason, canonical?: number][] = [
    ['1.10', 'asdot', 65_546],
    ['AS65535.65535', 'asdot', 4_294_967_295],
    ['0.5', 'asdot', 5],
    ['0.0', 'range'],
    ['1.65536', 'syntax'],
    ['1.2.3', 'syntax'],
    ['0', 'range'],
    ['AS0', 'range'],
    ['4294967296', 'range'],
    [0, 'range'],
    [-1, 'range'],
    [64_500.5, 'range'],
    [Number.NaN, 'range'],
    [Infinity, 'range'],
    [4_294_967_296, 'range'],
    ['', 'syntax'],
    ['AS', 'syntax'],
    ['AS 64500', 'syntax'],
    [' 64500', 'syntax'],
    ['064500', 'syntax'],
    ['ASN64500', 'syntax'],
    ['64500x', 'syntax'],
    ['0xfbf4', 'syntax'],
    ['-1', 'syntax'],
    ['99999999999', 'syntax'],
  ]
  for (const [value, reason, canonical] of refusals) {
    it(`refuses ${JSON.stringify(value)} for ${reason}`, () => {
      assert.throws(
        () => parseAsn(value),
        (error) => {
          assert.ok(error instanceof AsnError)
          assert.deepEqual([error.reason, error.canonical], [reason, canonical])
          if (canonical) assert.ok(error.message.includes(String(canonical)))
          return true
        },
      )
    })
  }
})

describe('reservedAsn', () => {
  it('returns each reserved range at both its ends and none beside it', () => {
    const edges = [
      [0, 0],
      [23_456, 23_456],
      [64_496, 131_071],
      [4_200_000_000, 4_294_967_295],
    ] as const
    for (const [first, last] of edges) {
      assert.ok(reservedAsn(first) && reservedAsn(last), `${first} to ${last}`)
      assert.equal(reservedAsn(first - 1), undefined)
      assert.equal(reservedAsn(last + 1), undefined)
    }
  })

  it('distinguishes documentation ASNs from the rest', () => {
    const documentation = [64_496, 64_511, 65_536, 65_551]
    const other = [
      0, 23_456, 64_512, 65_534, 65_535, 65_552, 131_071, 4_200_000_000, 4_294_967_294, 4_294_967_295,
    ]
    for (const asn of documentation) assert.equal(reservedAsn(asn)?.documentation, true, String(asn))
    for (const asn of other) assert.equal(reservedAsn(asn)?.documentation, false, String(asn))
  })

  it('returns none for the ASNs of networks', () => {
    for (const asn of [1, 112, 3333, 64_495, 131_072, 400_000]) assert.equal(reservedAsn(asn), undefined)
  })
})
