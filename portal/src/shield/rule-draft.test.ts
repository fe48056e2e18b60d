// Edited lists of rules: order, differences and texts.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  changeOf,
  contentOf,
  draftOf,
  emptyContent,
  isSame,
  moved,
  planOf,
  requestOf,
  versionOf,
  withRule,
} from './rule-draft.ts'
import { actionText, matchText } from './rule-text.ts'

const rule = (key: string, content: Partial<typeof emptyContent> = {}) =>
  draftOf({ ...emptyContent, ...content }, key)

describe('the plan of a list', () => {
  it('names what is added, removed, changed and moved, each rule once', () => {
    const before = [rule('a'), rule('b'), rule('c'), rule('d')]
    const after = [rule('c'), rule('a', { protocol: 'udp' }), rule('new'), rule('b')]
    const plan = planOf(before, after)
    assert.deepEqual(
      plan.added.map(({ key }) => key),
      ['new'],
    )
    assert.deepEqual(
      plan.removed.map(({ key }) => key),
      ['d'],
    )
    assert.deepEqual(
      plan.changed.map(({ after: { key } }) => key),
      ['a'],
    )
    assert.deepEqual(
      plan.moved.map(({ key }) => key),
      ['c'],
    )
    assert.equal(plan.count, 4)
    assert.equal(changeOf(plan, 'c'), 'moved')
    assert.equal(changeOf(plan, 'b'), undefined)
  })

  it('is empty for the same list, and is not for any other order', () => {
    const keys = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(keys, fc.nat(), fc.nat(), (list, from, to) => {
        const before = list.map((key) => rule(key))
        assert.equal(planOf(before, before).count, 0)
        const after = moved(before, from % list.length, to % list.length)
        const isMoved = from % list.length !== to % list.length
        assert.equal(planOf(before, after).count, isMoved ? 1 : 0)
        assert.deepEqual(after.map(({ key }) => key).toSorted(), list.toSorted())
      }),
    )
  })
})

describe('a draft of a rule', () => {
  it('is sent as it was read, without its key', () => {
    const read = rule('a', { protocol: 'tcp', tcp_flags: 'syn,!ack', expires: '2026-01-01T00:00:00Z' })
    const [sent] = requestOf([read])
    assert.ok(!('key' in sent!))
    assert.ok(isSame(contentOf(sent!), read))
    assert.ok(isSame(rule('a', { destination: '203.0.113.7/32' }), rule('b', { destination: '203.0.113.7' })))
    assert.ok(!isSame(rule('a', { source: '2001:db8::/32' }), rule('b', { source: '2001:db8::' })))
  })
})

describe('a rule of a form', () => {
  it('takes the place of the rule that was opened, wherever that is now, and of no other', () => {
    const changed = rule('b', { protocol: 'udp' })
    assert.deepEqual(withRule([rule('b'), rule('c')], changed), [changed, rule('c')])
    assert.deepEqual(withRule([rule('c')], changed), [rule('c'), changed])
  })
})

describe('the version of an applied list', () => {
  it('is that of its rules while the list is answered with another one', () => {
    assert.equal(versionOf([{ version: 3 }], { version: 4, rule_count: 2 }), 3)
    assert.equal(versionOf([{ version: 4 }], { version: 3, rule_count: 0 }), 4)
    assert.equal(versionOf([], { version: 4, rule_count: 0 }), 4)
    assert.equal(versionOf([], { version: 4, rule_count: 1 }), 0)
    assert.equal(versionOf([], null), 0)
  })
})

describe('the text of a rule', () => {
  const text = (content: Partial<typeof emptyContent>) => {
    const whole = { ...emptyContent, ...content }
    return `${actionText(whole)}: ${matchText(whole)}`
  }

  it('reads as its action and what it matches', () => {
    assert.equal(text({}), 'Drop: All traffic')
    assert.equal(
      text({ protocol: 'udp', source_port: '53', destination: '203.0.113.77' }),
      'Drop: UDP, source port 53, to 203.0.113.77',
    )
    assert.equal(
      text({ action: 'rate_limit', rate_bps: 10_000_000, protocol: 'icmp', icmp_type: 8 }),
      'Limit to 10 Mbps: ICMP, type 8',
    )
    assert.equal(
      text({ action: 'allow', source: '2001:db8::/32', protocol: '132' }),
      'Allow: Protocol 132, from 2001:db8::/32',
    )
    assert.equal(text({ source: '192.0.2.0/24' }), 'Drop: All traffic from 192.0.2.0/24')
    assert.equal(
      text({ protocol: 'tcp', destination_port: '80,443', tcp_flags: 'syn,!ack' }),
      'Drop: TCP, destination ports 80, 443, flags syn, !ack',
    )
  })
})
