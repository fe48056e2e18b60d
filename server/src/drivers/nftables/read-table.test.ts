import assert from 'node:assert/strict'
import { it } from 'node:test'
import * as fc from 'fast-check'
import { readTable } from './read-table.ts'
import type { Hook } from './table.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const ruleIn = (chain: string, ...expr: object[]) => ({
  rule: { family: 'inet', table: 'pharos_shield', chain, expr },
})
const rule = (comment: string, ...expr: object[]) => ({
  rule: { ...ruleIn('list4_cb007100_24', ...expr).rule, comment },
})
const entry = (protocol: string, map: string) =>
  ruleIn('shield', { vmap: { key: { payload: { protocol, field: 'daddr' } }, data: map } })
const counter = (id: number) => ({ counter: { name: `rule${id}`, packets: 5, bytes: 500 } })
const answer = {
  nftables: [
    { metainfo: { version: '1.0.6' } },
    { table: { family: 'inet', name: 'pharos_shield' } },
    counter(1),
    counter(2),
    {
      map: {
        name: 'prefixes4',
        elem: [[{ prefix: { addr: '203.0.113.0', len: 24 } }, { jump: { target: 'call4_cb007100_24' } }]],
      },
    },
    { chain: { name: 'list4_cb007100_24' } },
    { chain: { name: 'shield', type: 'filter', hook: 'forward', prio: -150, policy: 'accept' } },
    entry('ip', '@prefixes4'),
    entry('ip6', '@prefixes6'),
    ruleIn('call4_cb007100_24', { jump: { target: 'list4_cb007100_24' } }),
    rule('rule 1 0123456789abcdef', { counter: 'rule1' }, { limit: { rate: 5 } }, { drop: null }),
    rule('conforming 1', { accept: null }),
    rule('rule 2 fedcba9876543210', { drop: null }),
  ],
}

it('reads lists with their fingerprints and hits', () => {
  const { lists, counters } = readTable(JSON.stringify(answer), 'forward')
  const fingerprint = '0123456789abcdef,fedcba9876543210'
  assert.deepEqual(lists, [{ prefix: '203.0.113.0/24', ruleCount: 2, fingerprint, ids: [1, 2] }])
  assert.deepEqual(counters.get(2), { packets: 5, bytes: 500 })
})

it('notices each rule that is missing, added or in another place', () => {
  const fingerprintOf = (nftables: object[], hook: Hook = 'forward') =>
    readTable(JSON.stringify({ nftables }), hook).lists[0]?.fingerprint
  const { nftables } = answer
  const expected = fingerprintOf(nftables)
  for (let at = nftables.findIndex((one) => ('map' in one)); at < nftables.length; at++) {
    assert.notEqual(fingerprintOf(nftables.toSpliced(at, 1)), expected)
    for (const chain of ['shield', 'call4_cb007100_24', 'list4_cb007100_24'])
      assert.notEqual(fingerprintOf(nftables.toSpliced(at, 0, ruleIn(chain, { accept: null }))), expected)
    assert.notEqual(fingerprintOf(nftables.toSpliced(at, 0, nftables.at(-1)!)), expected)
  }
  assert.notEqual(fingerprintOf(nftables, 'prerouting'), expected)
  const dormant = { table: { family: 'inet', name: 'pharos_shield', flags: ['dormant'] } }
  const awake = nftables.findIndex((one) => 'table' in one)
  assert.notEqual(fingerprintOf(nftables.with(awake, dormant as never)), expected)
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
        for (const { prefix, fingerprint } of readTable(mutated, 'forward').lists)
          assert.ok(prefix && fingerprint)
      } catch (error) {
        assert.ok(error instanceof Error && error.name !== 'AssertionError', String(error))
      }
    }),
    { numRuns: scaled(5_000) },
  )
})
