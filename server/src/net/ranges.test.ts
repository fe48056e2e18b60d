import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import {
  canonicalRanges,
  coversRanges,
  formatRanges,
  includesNumber,
  intersectRanges,
  type Range,
  readRanges,
} from './ranges.ts'
import { scaled } from '../runtime/testing-scale.ts'

const max = 30

const sets = fc
  .array(fc.tuple(fc.nat(max), fc.nat(max)), { minLength: 1, maxLength: 6 })
  .map((pairs) => pairs.map(([a, b]): Range => [Math.min(a, b), Math.max(a, b)]))

const numbersOf = (ranges: readonly Range[]): Set<number> =>
  new Set(
    Array.from({ length: max + 1 }, (_, value) => value).filter((value) => includesNumber(ranges, value)),
  )

test('a set has one form and text, and set operations are those of its numbers', () => {
  fc.assert(
    fc.property(sets, sets, (one, other) => {
      const a = canonicalRanges(one)!
      const b = canonicalRanges(other)!
      assert.deepEqual(numbersOf(a), numbersOf(one))
      assert.deepEqual(readRanges(formatRanges(a), max), a)
      assert.deepEqual(canonicalRanges(a.toReversed()), a)
      const common = numbersOf(one).intersection(numbersOf(other))
      assert.deepEqual(numbersOf(intersectRanges(a, b) ?? []), common)
      assert.equal(coversRanges(a, b), numbersOf(other).isSubsetOf(numbersOf(one)))
      assert.equal(
        formatRanges(a) === formatRanges(b),
        numbersOf(one).symmetricDifference(numbersOf(other)).size === 0,
      )
    }),
    { numRuns: scaled(2_000) },
  )
})

test('texts that are not a set of numbers are rejected', () => {
  assert.deepEqual(readRanges('80', 65_535), [[80, 80]])
  assert.deepEqual(readRanges('443, 80,1024-65535', 65_535), [
    [80, 80],
    [443, 443],
    [1024, 65_535],
  ])
  const many = Array.from({ length: 501 }, (_, at) => at * 2).join(',')
  for (const text of [
    '',
    ',',
    '80,',
    '65536',
    '-1',
    '2-1',
    '1-',
    '-',
    '080',
    '1-2-3',
    '80;81',
    '0x50',
    'any',
    ' ',
    many,
  ])
    assert.equal(readRanges(text, 65_535), undefined, text)
})
