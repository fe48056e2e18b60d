import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import {
  CommunityError,
  communityFromNumber,
  communityToNumber,
  largeCommunityFromNumbers,
  largeCommunityToNumbers,
  parseCommunity,
  parseLargeCommunity,
} from './community.ts'

const uint32 = fc.integer({ min: 0, max: 4_294_967_295 })

describe('communities', () => {
  it('are converted to the number of the path attribute and back', () => {
    assert.equal(communityToNumber(parseCommunity('65000:100')), 65_000 * 65_536 + 100)
    assert.equal(communityToNumber(parseCommunity('65535:65535')), 4_294_967_295)
    fc.assert(
      fc.property(uint32, (value) => {
        const community = communityFromNumber(value)
        assert.equal(communityToNumber(community), value)
        assert.equal(parseCommunity(community), community)
      }),
    )
  })

  it('of the large kind are converted to three numbers and back', () => {
    assert.deepEqual(largeCommunityToNumbers(parseLargeCommunity('64500:1:2')), [64_500, 1, 2])
    fc.assert(
      fc.property(fc.tuple(uint32, uint32, uint32), (numbers) => {
        const community = largeCommunityFromNumbers(numbers)
        assert.deepEqual(largeCommunityToNumbers(community), numbers)
        assert.equal(parseLargeCommunity(community), community)
      }),
    )
  })

  for (const text of [
    '',
    ':',
    '65000',
    '65000:',
    ':100',
    '65536:1',
    '1:65536',
    '065000:1',
    '1:2:3',
    ' 1:2',
    '1:-2',
    '1:0x2',
    'no-export',
  ]) {
    it(`refuse ${JSON.stringify(text)}`, () => assert.throws(() => parseCommunity(text), CommunityError))
  }
  for (const text of [
    '',
    '1:2',
    '1:2:',
    '1:2:3:4',
    '4294967296:1:1',
    '1:1:4294967296',
    '1:02:3',
    '1: 2:3',
    '1:2:3\n',
  ]) {
    it(`of the large kind reject ${JSON.stringify(text)}`, () =>
      assert.throws(() => parseLargeCommunity(text), CommunityError))
  }
  for (const value of [-1, 4_294_967_296, 1.5, Number.NaN]) {
    it(`reject the number ${value}`, () => {
      assert.throws(() => communityFromNumber(value), CommunityError)
      assert.throws(() => largeCommunityFromNumbers([1, value, 1]), CommunityError)
    })
  }
})
