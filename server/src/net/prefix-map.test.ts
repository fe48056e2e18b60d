import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { prefixBits, parsePrefix } from './prefix.ts'
import type { Prefix } from './prefix.ts'
import { createPrefixMap } from './prefix-map.ts'
import type { PrefixMap } from './prefix-map.ts'
import { modelAround, modelCovers, prefixModel, prefixOf } from './testing.ts'
import type { PrefixModel } from './testing.ts'
import { scaled } from '../runtime/testing-scale.ts'

const lastIpv6 = 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128'

function mapOf(...texts: string[]): PrefixMap<string> {
  return createPrefixMap(texts.map((text, i) => [parsePrefix(text), `${text} #${i}`]))
}

function p(text: string): Prefix {
  return parsePrefix(text)
}

describe('a prefix map', () => {
  it('finds all covering prefixes, most specific first, not only the longest', () => {
    const map = mapOf(
      '0.0.0.0/0',
      '203.0.113.0/24',
      '203.0.0.0/16',
      '203.0.113.128/25',
      '203.0.112.0/24',
      '::/0',
    )
    assert.deepEqual(map.covering(p('203.0.113.77/32')), [
      '203.0.113.0/24 #1',
      '203.0.0.0/16 #2',
      '0.0.0.0/0 #0',
    ])
    assert.deepEqual(map.covering(p('203.0.113.0/24')), [
      '203.0.113.0/24 #1',
      '203.0.0.0/16 #2',
      '0.0.0.0/0 #0',
    ])
    assert.deepEqual(map.covering(p('2001:db8::/32')), ['::/0 #5'])
  })

  it('keeps every value of a repeated prefix, in the order given', () => {
    const map = mapOf('203.0.113.0/24', '10.0.0.0/8', '203.0.113.0/24', '203.0.113.0/24')
    const three = ['203.0.113.0/24 #0', '203.0.113.0/24 #2', '203.0.113.0/24 #3']
    assert.equal(map.size, 4)
    assert.deepEqual(map.covering(p('203.0.113.9/32')), three)
    assert.deepEqual(map.coveredBy(p('203.0.113.0/24')), three)
    assert.deepEqual(map.overlapping(p('203.0.113.0/24')), three)
  })

  it('finds contained prefixes in address order, up to the limit', () => {
    const map = mapOf(
      '203.0.113.128/25',
      '203.0.113.0/25',
      '203.0.113.0/24',
      '203.0.112.0/24',
      '203.0.114.0/24',
    )
    const inside = ['203.0.113.0/24 #2', '203.0.113.0/25 #1', '203.0.113.128/25 #0']
    assert.deepEqual(map.coveredBy(p('203.0.113.0/24')), inside)
    assert.deepEqual(map.coveredBy(p('203.0.113.0/24'), 2), inside.slice(0, 2))
    assert.deepEqual(map.coveredBy(p('203.0.113.0/24'), 0), [])
    assert.deepEqual(map.overlapping(p('203.0.113.0/25'), 1), ['203.0.113.0/25 #1'])
    assert.equal(map.coveredBy(p('0.0.0.0/0')).length, 5)
  })

  it('returns nothing if it is empty', () => {
    const map = mapOf()
    assert.deepEqual([map.size, map.covering(p('::/0')), map.coveredBy(p('0.0.0.0/0'))], [0, [], []])
  })

  it('distinguishes neighboring prefixes at both ends of the address space', () => {
    const map = mapOf(
      '255.255.255.255/32',
      '255.255.255.254/32',
      '0.0.0.0/32',
      'ffff::/16',
      '::/128',
      lastIpv6,
    )
    assert.deepEqual(map.covering(p('255.255.255.255/32')), ['255.255.255.255/32 #0'])
    assert.deepEqual(map.coveredBy(p('255.255.255.254/31')), [
      '255.255.255.254/32 #1',
      '255.255.255.255/32 #0',
    ])
    assert.deepEqual(map.covering(p('0.0.0.0/32')), ['0.0.0.0/32 #2'])
    assert.deepEqual(map.coveredBy(p('ffff:ffff::/32')), [`${lastIpv6} #5`])
    assert.deepEqual(map.covering(p('::/128')), ['::/128 #4'])
    assert.deepEqual(map.covering(p(lastIpv6)), [`${lastIpv6} #5`, 'ffff::/16 #3'])
  })

  it('accepts numbers with host bits set and finds the prefixes that cover the whole prefix', () => {
    const map = mapOf('10.0.0.0/8', '10.0.0.4/30', '10.0.0.0/24')
    const found: string[] = []
    map.forEachCoveringBits({ ...prefixBits(p('10.0.0.5/32')), length: 24 }, (value) => found.push(value))
    assert.deepEqual(found, ['10.0.0.0/24 #2', '10.0.0.0/8 #0'])
  })

  it('allows a search inside a search', () => {
    const map = mapOf('10.0.0.0/8', '10.0.0.0/24')
    const found: string[] = []
    map.forEachCovering(p('10.0.0.1/32'), (outer) =>
      map.forEachCovering(p('10.1.0.1/32'), (inner) => found.push(`${outer} ${inner}`)),
    )
    assert.deepEqual(found, ['10.0.0.0/24 #1 10.0.0.0/8 #0', '10.0.0.0/8 #0 10.0.0.0/8 #0'])
  })

  it('returns the same as a linear scan', () => {
    const models = fc.array(prefixModel(), { maxLength: 60 })
    const seen = { covering: 0, coveredBy: 0 }
    fc.assert(
      fc.property(models, fc.array(prefixModel(), { minLength: 1, maxLength: 10 }), (models, asked) => {
        const map = createPrefixMap(models.map((model, i) => [prefixOf(model), i]))
        for (const query of [...asked, ...models.slice(0, 10)]) {
          const expected = naive(models, query)
          const prefix = prefixOf(query)
          seen.covering += expected.covering.length
          seen.coveredBy += expected.coveredBy.length
          assert.deepEqual(map.covering(prefix), expected.covering)
          assert.deepEqual(map.coveredBy(prefix), expected.coveredBy)
          assert.deepEqual(map.overlapping(prefix), expected.overlapping)
          assert.deepEqual(map.coveredBy(prefix, 3), expected.coveredBy.slice(0, 3))
          assert.deepEqual(map.overlapping(prefix, 3), expected.overlapping.slice(0, 3))
        }
      }),
      { numRuns: scaled(400) },
    )
    assert.ok(
      seen.covering > scaled(1_000) && seen.coveredBy > scaled(1_000),
      `too few matches: ${JSON.stringify(seen)}`,
    )
  })

  it('is correct with a hundred thousand prefixes, deep nesting and repeats', () => {
    const models = manyModels(100_000)
    const map = createPrefixMap(models.map((model, i) => [prefixOf(model), i]))
    for (const query of manyModels(20).concat(models.slice(0, 20))) {
      const expected = naive(models, query)
      assert.deepEqual(map.covering(prefixOf(query)), expected.covering)
      assert.deepEqual(map.coveredBy(prefixOf(query)), expected.coveredBy)
    }
  })
})

/** Returns the indices of the matching models, by a linear scan. */
function naive(
  models: readonly PrefixModel[],
  query: PrefixModel,
): Record<'covering' | 'coveredBy' | 'overlapping', number[]> {
  const places = models.map((_, i) => i)
  const covering = places
    .filter((i) => modelCovers(models[i]!, query))
    .sort((a, b) => models[b]!.length - models[a]!.length || a - b)
  const coveredBy = places
    .filter((i) => modelCovers(query, models[i]!))
    .sort(
      (a, b) => Number(models[a]!.first - models[b]!.first) || models[a]!.length - models[b]!.length || a - b,
    )
  const inside = coveredBy.filter((i) => models[i]!.length !== query.length)
  return { covering, coveredBy, overlapping: [...covering, ...inside] }
}

/** A fixed, clustered and half nested set: all lengths to /32 here and there, the rest scattered in few /8s and one /32. */
function manyModels(count: number): PrefixModel[] {
  let state = count
  const next = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  return Array.from({ length: count }, (_, i) => {
    const family = next(2) === 0 ? 4 : 6
    const high = 0x20_00_00_00 + next(4) * 0x01_00_00_00 + next(2 ** 24)
    const words = i % 2 === 0 ? [high, next(2 ** 32), 0, 0] : [0x20_01_0d_b8, next(3), next(2 ** 16), next(4)]
    const length = i % 100 < 33 ? i % 100 : 12 + next(family === 4 ? 21 : 117)
    const address = family === 4 ? BigInt(high) : words.reduce((sum, word) => (sum << 32n) | BigInt(word), 0n)
    return modelAround(family, address, length)
  })
}
