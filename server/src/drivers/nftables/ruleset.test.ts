import assert from 'node:assert/strict'
import { it } from 'node:test'
import * as fc from 'fast-check'
import { readTable } from './ruleset.ts'

const rule = (comment: string, ...expr: object[]) => ({
  rule: { family: 'inet', table: 'pharos_shield', chain: 'list4_cb007100_24', comment, expr },
})
const counter = (id: number) => ({ counter: { name: `rule${id}`, packets: 5, bytes: 500 } })
const answer = {
  nftables: [
    { metainfo: { version: '1.0.6' } },
    { chain: { name: 'list4_cb007100_24' } },
    counter(1),
    counter(2),
    rule('rule 1 0123456789abcdef', { counter: 'rule1' }, { limit: { rate: 5 } }, { drop: null }),
    rule('conforming 1', { accept: null }),
    rule('rule 2 fedcba9876543210', { drop: null }),
  ],
}

it('reads lists with their fingerprints and hits', () => {
  const { lists, counters } = readTable(JSON.stringify(answer))
  const fingerprint = '0123456789abcdef,fedcba9876543210'
  assert.deepEqual(lists, [{ prefix: '203.0.113.0/24', ruleCount: 2, fingerprint, ids: [1, 2] }])
  assert.deepEqual(counters.get(2), { packets: 5, bytes: 500 })
})

it('notices each rule that is missing, added or in another place', () => {
  const fingerprintOf = (nftables: object[]) => readTable(JSON.stringify({ nftables })).lists[0]?.fingerprint
  const expected = fingerprintOf(answer.nftables)
  for (let at = 4; at < answer.nftables.length; at++) {
    assert.notEqual(fingerprintOf(answer.nftables.toSpliced(at, 1)), expected)
    assert.notEqual(fingerprintOf(answer.nftables.toSpliced(at, 0, rule('', { accept: null }))), expected)
    assert.notEqual(fingerprintOf(answer.nftables.toSpliced(at, 0, answer.nftables[6]!)), expected)
  }
})

it('reads mutated answers as lists, or throws an Error', () => {
  const text = JSON.stringify(answer)
  const change = fc.record({
    at: fc.nat(text.length - 1),
    text: fc.constantFrom('', '"', '{', '}', '[', '0', 'null', 'rule', '9'),
  })
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
      let mutated = text
      for (const { at, text } of changes) mutated = mutated.slice(0, at) + text + mutated.slice(at + 1)
      try {
        for (const { prefix, fingerprint } of readTable(mutated).lists) assert.ok(prefix && fingerprint)
      } catch (error) {
        assert.ok(error instanceof Error && error.name !== 'AssertionError', String(error))
      }
    }),
    { numRuns: 5_000 },
  )
})
