import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createAddressRanges, type AddressRange } from './address-ranges.ts'

describe('ranges of addresses', () => {
  it('find the value of the innermost range, and 0 outside', () => {
    const ranges = createAddressRanges(
      [
        { first: 0x0a000000, last: 0x0affffff, value: 1 },
        { first: 0x0a010000, last: 0x0a01ffff, value: 2 },
        { first: 0x0a010000, last: 0x0a0100ff, value: 3 },
        { first: 0xffffff00, last: 0xffffffff, value: 4 },
      ],
      [
        { first: 0x20010db800000000n, last: 0x20010db8ffffffffn, value: 5 },
        { first: 0x20010db8000a0000n, last: 0x20010db8000affffn, value: 6 },
      ],
    )
    const four = (address: number) => ranges.find(0, 0, 0xffff, address)
    assert.deepEqual(
      [0x0a000000, 0x0a010001, 0x0a010100, 0x0a020000, 0x0b000000, 0xffffffff, 0].map(four),
      [1, 3, 2, 1, 0, 4, 0],
    )
    assert.deepEqual(
      [
        [0x20010db8, 0],
        [0x20010db8, 0x000a0001],
        [0x20010db8, 0x000b0000],
        [0x20010db9, 0],
        [0, 0],
      ].map(([w0, w1]) => ranges.find(w0!, w1!, 0, 1)),
      [5, 6, 5, 0, 0],
    )
  })

  it('agree with a search through all ranges that nest or are disjoint', () => {
    const prefix = fc
      .tuple(fc.integer({ min: 0, max: 31 }), fc.integer({ min: 0, max: 5 }))
      .map(([low, length]) => {
        const size = 2 ** (5 - length)
        const first = Math.floor(low / size) * size
        return { first, last: first + size - 1 }
      })
    fc.assert(
      fc.property(
        fc.array(prefix, { maxLength: 12 }),
        fc.integer({ min: 0, max: 0xffffffe0 }),
        (prefixes, base) => {
          const given = prefixes.map(({ first, last }, at) => ({
            first: base + first,
            last: base + last,
            value: at + 1,
          }))
          const six = given.map(({ first, last, value }): AddressRange<bigint> => ({
            first: BigInt(first),
            last: BigInt(last),
            value,
          }))
          const ranges = createAddressRanges(given, six)
          for (let address = base; address < base + 32; address++) {
            const containing = given.filter(({ first, last }) => first <= address && address <= last)
            const size = Math.min(...containing.map(({ first, last }) => last - first))
            const expected = containing
              .filter(({ first, last }) => last - first === size)
              .map(({ value }) => value)
            for (const found of [ranges.find(0, 0, 0xffff, address), ranges.find(0, address, 0, 7)])
              assert.ok(expected.length === 0 ? found === 0 : expected.includes(found))
          }
        },
      ),
    )
  })
})
