// Suggestions: chosen rules cover the attack, spare usual traffic by each measure, and their shares equal a count over
// the cells.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { parsePrefix } from '../net/prefix.ts'
import { scaled } from '../runtime/testing-scale.ts'
import { parseRuleMatch } from './rule.ts'
import {
  candidatesMax,
  candidatesOf,
  chooseRules,
  type Candidate,
  type ChoiceOptions,
  type Frequent,
} from './suggest.ts'

const meets = (mask: number, index: number) => Math.floor(mask / 2 ** index) % 2 === 1
const amount = fc.nat({ max: 1e6 })
const volumes = fc.record({ bytes: amount, packets: amount, flows: amount })
const cells = fc.array(fc.record({ mask: fc.nat({ max: 2 ** 6 - 1 }), attack: volumes, normal: volumes }), {
  maxLength: 30,
})
const measures = ['bytes', 'packets', 'flows'] as const
const dropMaxes = [0.01, 0.001, 0, undefined, 0.01, undefined] as const
const candidates: readonly Candidate[] = dropMaxes.map((dropMax, at) => ({
  conditions: { source_port: String(at) },
  isLimitable: at % 2 === 0,
  ...(dropMax === undefined ? {} : { dropMax }),
}))
const options: ChoiceOptions = { measure: 'bytes', coverage: 0.95, isUsualKnown: true, mayLimit: true }
const evenly = (count: number) => ({ bytes: count, packets: count, flows: count })
/** Candidates that may be dropped whatever they concern, in the sense of the tests of the order. */
const droppable = (count: number): Candidate[] =>
  Array.from({ length: count }, () => ({ conditions: {}, dropMax: 1, isLimitable: false }))

describe('the choice of rules', () => {
  it('has shares that a count finds, no rule twice, and drops nothing that usual traffic has too much of', () => {
    const anyOptions = fc.record({
      measure: fc.constantFrom('bytes' as const, 'packets' as const),
      coverage: fc.double({ min: 0.1, max: 1, noNaN: true }),
      isUsualKnown: fc.boolean(),
      mayLimit: fc.boolean(),
    })
    fc.assert(
      fc.property(cells, anyOptions, (all, wanted) => {
        const choice = chooseRules(all, candidates, wanted)
        const share = (
          of: 'attack' | 'normal',
          measure: (typeof measures)[number],
          test: (mask: number) => boolean,
        ) => {
          const sum = (some: typeof all) => some.reduce((total, cell) => total + cell[of][measure], 0)
          const whole = sum(all)
          return whole === 0 ? 0 : sum(all.filter(({ mask }) => test(mask))) / whole
        }
        const chosen = choice.rules.map(({ index }) => index)
        assert.equal(new Set(chosen).size, chosen.length)
        const isMet = (mask: number) => chosen.some((index) => meets(mask, index))
        for (const measure of measures) {
          for (const { index, attackShares, normalShares, action } of choice.rules) {
            const ofRule = (mask: number) => meets(mask, index)
            assert.equal(attackShares[measure], share('attack', measure, ofRule))
            assert.equal(
              normalShares?.[measure],
              wanted.isUsualKnown ? share('normal', measure, ofRule) : undefined,
            )
            if (action === 'deny') assert.ok(normalShares![measure] <= candidates[index]!.dropMax!)
            else assert.ok(wanted.mayLimit && candidates[index]!.isLimitable)
          }
          assert.equal(choice.attackShares[measure], share('attack', measure, isMet))
        }
      }),
      { numRuns: scaled(1_000) },
    )
  })

  it('prefers the rule that spares usual traffic', () => {
    // 0: UDP from port 53 with long packets; 1: UDP from port 53.
    const traffic = [
      { mask: 0b11, attack: evenly(10_000), normal: evenly(1) },
      { mask: 0b10, attack: evenly(10), normal: evenly(50) },
      { mask: 0b00, attack: evenly(100), normal: evenly(9_949) },
    ]
    const two: Candidate[] = [
      { conditions: { source_port: '53', packet_length: '1024-65535' }, dropMax: 0.01, isLimitable: true },
      { conditions: { source_port: '53' }, dropMax: 0.01, isLimitable: true },
    ]
    const { rules, normalShares } = chooseRules(traffic, two, options)
    assert.deepEqual(
      rules.map(({ index, action }) => [index, action]),
      [[0, 'deny']],
    )
    assert.equal(normalShares!.flows, 1 / 10_000)
  })

  it('sees a service of few octets by its flows, and limits it', () => {
    const traffic = [
      { mask: 1, attack: evenly(1_000), normal: { bytes: 1, packets: 10, flows: 300 } },
      { mask: 0, attack: evenly(10), normal: { bytes: 9_999, packets: 9_990, flows: 700 } },
    ]
    const one: Candidate[] = [{ conditions: {}, dropMax: 0.01, isLimitable: true }]
    const actions = (some: Partial<ChoiceOptions>) =>
      chooseRules(traffic, one, { ...options, ...some }).rules.map(({ action }) => action)
    assert.deepEqual(actions({ measure: 'packets' }), [])
    assert.deepEqual(actions({ measure: 'packets', coverage: 0.01 }), [])
    const attack = [{ ...traffic[0]!, attack: evenly(100_000) }, traffic[1]!]
    assert.deepEqual(
      chooseRules(attack, one, options).rules.map(({ action }) => action),
      ['rate_limit'],
    )
    assert.deepEqual(chooseRules(attack, one, { ...options, mayLimit: false }).rules, [])
  })

  it('prefers the most specific rule to one that covers little more of the attack', () => {
    const traffic = (rest: number) => [
      { mask: 0b11, attack: evenly(1_000 - rest), normal: evenly(0) },
      { mask: 0b10, attack: evenly(rest), normal: evenly(0) },
    ]
    const chosen = (rest: number) =>
      chooseRules(traffic(rest), droppable(2), options).rules.map(({ index }) => index)
    assert.deepEqual([chosen(5), chosen(30)], [[0], [1]])
  })

  it('adds rules until the attack is covered', () => {
    const traffic = [
      { mask: 0b01, attack: evenly(600), normal: evenly(0) },
      { mask: 0b10, attack: evenly(400), normal: evenly(0) },
    ]
    const count = (coverage: number) =>
      chooseRules(traffic, droppable(2), { ...options, coverage }).rules.length
    assert.deepEqual([count(0.95), count(0.5)], [2, 1])
  })

  it('is empty if the attack looks like usual traffic, and drops nothing if none is known', () => {
    const same = [{ mask: 1, attack: evenly(100), normal: evenly(100) }]
    assert.deepEqual(chooseRules(same, droppable(1), options).rules, [])
    const none = chooseRules(same, [{ conditions: {}, dropMax: 1, isLimitable: true }], {
      ...options,
      isUsualKnown: false,
    })
    assert.equal(none.normalShares, null)
    assert.deepEqual(chooseRules([], [], options).rules, [])
  })
})

describe('candidates', () => {
  const frequent: Frequent[] = [
    { kind: 'source_port', protocol: 17, value: '53', lengths: [[1_024, 65_535]] },
    { kind: 'destination_port', protocol: 6, value: '443', lengths: [] },
    {
      kind: 'flags',
      protocol: 6,
      value: '2',
      lengths: [
        [40, 40],
        [0, 63],
      ],
    },
    { kind: 'flags_port', protocol: 6, value: '2 443', lengths: [[60, 60]] },
    { kind: 'flags', protocol: 6, value: '4', lengths: [[40, 40]] },
    { kind: 'flags', protocol: 6, value: '16', lengths: [] },
    { kind: 'source', protocol: 6, value: '2 198.51.100.0/24', lengths: [[40, 40]] },
    { kind: 'source', protocol: 17, value: ' 192.0.2.0/24', lengths: [] },
    { kind: 'icmp_type', protocol: 1, value: '8', lengths: [[1_428, 1_428]] },
    { kind: 'fragment', protocol: 1, value: '', lengths: [] },
    { kind: 'protocol', protocol: 47, value: '', lengths: [] },
    { kind: 'protocol', protocol: 1, value: '', lengths: [] },
    { kind: 'protocol', protocol: 132, value: '', lengths: [] },
  ]

  it('are rules that shield accepts', () => {
    const prefix = parsePrefix('203.0.113.0/24')
    for (const { conditions } of candidatesOf(frequent))
      assert.ok(parseRuleMatch(conditions, prefix).destination)
  })

  it('never drop SYN but with lengths that no connection has or from senders, and never the attacked port of TCP', () => {
    const dropped = candidatesOf(frequent)
      .filter(({ dropMax }) => dropMax !== undefined)
      .map(({ conditions }) => conditions)
    assert.deepEqual(
      dropped.filter(({ tcp_flags: flags }) => flags === 'syn,!ack'),
      [
        { protocol: 'tcp', tcp_flags: 'syn,!ack', packet_length: '40' },
        { protocol: 'tcp', tcp_flags: 'syn,!ack', source: '198.51.100.0/24' },
      ],
    )
    assert.ok(!dropped.some(({ destination_port: port, tcp_flags: flags }) => port === '443' && !flags))
    assert.ok(
      !dropped.some(
        (conditions) => Object.keys(conditions).join() === 'protocol' && conditions.protocol === 'icmp',
      ),
    )
    assert.ok(dropped.some(({ tcp_flags: flags }) => flags === 'rst,!syn'))
  })

  it('match no ICMPv6 but echo', () => {
    const six = (['135', '128', '129', '1'] as const).map((value): Frequent => ({
      kind: 'icmp_type',
      protocol: 58,
      value,
      lengths: [],
    }))
    const found = candidatesOf([
      ...six,
      { kind: 'protocol', protocol: 58, value: '', lengths: [] },
      { kind: 'source', protocol: 58, value: ' 2001:db8::/48', lengths: [] },
    ])
    assert.deepEqual(
      found.map(({ conditions }) => conditions.icmp_type),
      [128, 129],
    )
  })

  it('are each once, and not more than a mask has bits', () => {
    const many = Array.from({ length: 100 }, (_, at): Frequent => ({ ...frequent[1]!, value: String(at) }))
    assert.equal(candidatesOf(many).length, candidatesMax)
    assert.equal(candidatesOf([frequent[1]!, frequent[1]!]).length, 1)
  })
})
