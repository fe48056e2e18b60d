import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePrefix } from '../net/prefix.ts'
import {
  type CompiledList,
  type CompiledRule,
  fingerprintOf,
  type InstalledList,
  planLists,
} from './scrubber.ts'

const prefix = parsePrefix('203.0.113.0/24')
const other = parsePrefix('2001:db8:a::/48')

const rule = (id: number, rest: Partial<CompiledRule> = {}): CompiledRule => ({
  id,
  match: { destination: prefix, protocol: [[17, 17]] },
  action: { kind: 'deny' },
  ...rest,
})

const installed = (list: CompiledList): InstalledList => ({
  prefix: list.prefix,
  ruleCount: list.rules.length,
  fingerprint: fingerprintOf(list, 'sequence'),
})

test('a fingerprint changes with id, conditions and action, and with the order unless it has no meaning', () => {
  const base = { prefix, rules: [rule(1), rule(2)] }
  const changed: readonly (readonly CompiledRule[])[] = [
    [rule(1)],
    [rule(1), rule(3)],
    [rule(1), rule(2, { action: { kind: 'allow' } })],
    [rule(1), rule(2, { action: { kind: 'rate_limit', bps: 8 } })],
    [rule(1), rule(2, { action: { kind: 'rate_limit', pps: 8 } })],
    [rule(1), rule(2, { match: { destination: prefix, protocol: [[6, 6]] } })],
  ]
  const texts = [base, ...changed.map((rules) => ({ prefix, rules }))].map((list) =>
    fingerprintOf(list, 'sequence'),
  )
  assert.equal(new Set(texts).size, texts.length)
  const reversed = { prefix, rules: base.rules.toReversed() }
  assert.notEqual(fingerprintOf(reversed, 'sequence'), texts[0])
  assert.equal(fingerprintOf(reversed, 'flowspec'), fingerprintOf(base, 'flowspec'))
})

test('a plan applies lists that differ and removes those that are not desired', () => {
  const same = { prefix, rules: [rule(1)] }
  const changed = { prefix: other, rules: [rule(2)] }
  const gone = { prefix: parsePrefix('198.51.100.0/24'), rules: [rule(3)] }
  const held = [same, { ...changed, rules: [rule(4)] }, gone].map(installed)
  assert.deepEqual(planLists([same, changed], held, 'sequence'), { apply: [changed], remove: [gone.prefix] })
  assert.deepEqual(planLists([same, changed, { prefix: gone.prefix, rules: [] }], held, 'sequence').remove, [
    gone.prefix,
  ])
  assert.deepEqual(planLists([same], [installed(same)], 'sequence'), { apply: [], remove: [] })
  assert.deepEqual(planLists([{ prefix, rules: [] }], [], 'sequence'), { apply: [], remove: [] })
})
