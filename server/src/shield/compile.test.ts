import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { FilterAction } from '../net/filter-rule.ts'
import { type FlowMatch, type FlowPacket, matchesPacket } from '../net/flow-match.ts'
import { compareFlowspec, componentOctets, encodeComponents } from '../net/flowspec/nlri.ts'
import { covers, lengthOf, parsePrefix } from '../net/prefix.ts'
import { flowMatches, flowPackets } from '../net/testing-flow.ts'
import { compileLists, type OrderedList } from './compile.ts'
import type { CompiledList, CompiledRule, ScrubberCapabilities } from './scrubber.ts'
import { scaled } from '../runtime/testing-scale.ts'

const flowspec: ScrubberCapabilities = {
  ordering: 'flowspec',
  families: [4, 6],
  rulesMax: 10_000,
  hits: false,
  atomicPerList: false,
  keepsRules: false,
  packetRate: true,
  rateMax: { bps: 1_000_000_000, pps: 1_000_000 },
}
const sequence: ScrubberCapabilities = { ...flowspec, ordering: 'sequence', atomicPerList: true }

const prefix = parsePrefix('203.0.113.0/24')
const prefix6 = parsePrefix('2001:db8:a::/48')

const rule = (
  id: number,
  match: Partial<FlowMatch> = {},
  action: FilterAction = { kind: 'deny' },
): CompiledRule => ({
  id,
  match: { destination: prefix, ...match },
  action,
})
const allow: FilterAction = { kind: 'allow' }

/** The treatment of a packet: its action, and for a limit the rule as well. Null if no rule matches. */
function treatment(rules: readonly CompiledRule[], packet: FlowPacket): string | null {
  const first = rules.find(({ match }) => matchesPacket(match, packet))
  if (!first) return null
  return first.action.kind === 'rate_limit' ? `limit of ${first.id}` : first.action.kind
}

const byRfc = (lists: readonly CompiledList[]): CompiledRule[] =>
  lists
    .flatMap(({ rules }) => rules)
    .toSorted((a, b) => compareFlowspec(encodeComponents(a.match), encodeComponents(b.match)))

const actions = fc.constantFrom<FilterAction>(
  { kind: 'deny' },
  { kind: 'deny' },
  { kind: 'allow' },
  { kind: 'allow' },
  { kind: 'rate_limit', bps: 1_000_000 },
)

const rulesOf = (family: 4 | 6, max: number) =>
  fc
    .array(fc.tuple(flowMatches(family), actions), { minLength: 2, maxLength: max })
    .map((all) => all.map(([match, action], at): CompiledRule => ({ id: at + 1, match, action })))

describe('lists compiled for FlowSpec', () => {
  for (const family of [4, 6] as const) {
    it(`treat IPv${family} packets as the first matching rule does, or are refused with two rules`, () => {
      const counts = { lists: 0, refused: 0, naiveWrong: 0, added: 0 }
      const packets = fc.array(flowPackets(family), { minLength: 100, maxLength: 100 })
      fc.assert(
        fc.property(rulesOf(family, 20), packets, (rules, sample) => {
          counts.lists++
          const list = { prefix: family === 4 ? prefix : prefix6, rules }
          const naive = byRfc([list])
          if (sample.some((packet) => treatment(naive, packet) !== treatment(rules, packet)))
            counts.naiveWrong++
          const { lists, refused } = compileLists([list], flowspec)
          if (refused.length > 0) {
            counts.refused++
            assert.deepEqual(lists, [])
            const [{ rules: pair, code }] = refused as [(typeof refused)[0]]
            assert.ok(['order_impossible', 'too_many_added'].includes(code))
            assert.ok(pair.length === 2 && pair[0]! <= pair[1]!, JSON.stringify(refused))
            return
          }
          const installed = byRfc(lists)
          counts.added += installed.length - rules.length
          for (const packet of sample)
            assert.equal(treatment(installed, packet), treatment(rules, packet), JSON.stringify(packet))
          for (const { match } of installed) assert.ok(componentOctets(match) <= 239)
          const nlri = installed.map(({ match }) => JSON.stringify(encodeComponents(match)))
          assert.equal(new Set(nlri).size, nlri.length, 'the same NLRI twice')
        }),
        { numRuns: scaled(400) },
      )
      // About 0.4 and 0.05 of them; few lists vary by chance.
      assert.ok(counts.naiveWrong > counts.lists * 0.1, JSON.stringify(counts))
      assert.ok(counts.refused <= counts.lists * 0.3, JSON.stringify(counts))
    })
  }

  it('treat packets of nested prefixes by the most specific list first', () => {
    const inner = parsePrefix('203.0.113.128/25')
    const inside = flowMatches(4).filter(({ destination }) => covers(inner, destination))
    const innerRules = fc
      .array(fc.tuple(inside, actions), { minLength: 1, maxLength: 4 })
      .map((all) => all.map(([match, action], at): CompiledRule => ({ id: 100 + at, match, action })))
    let compiled = 0
    fc.assert(
      fc.property(
        rulesOf(4, 5),
        innerRules,
        fc.array(flowPackets(4), { minLength: 60, maxLength: 60 }),
        (outer, nested, sample) => {
          const lists: OrderedList[] = [
            { prefix, rules: outer },
            { prefix: inner, rules: nested },
          ]
          const result = compileLists(lists, flowspec)
          const accepted = lists
            .filter((list) => !result.refused.some((one) => one.prefix === list.prefix))
            .toSorted((a, b) => lengthOf(b.prefix) - lengthOf(a.prefix))
          if (accepted.length === 2) compiled++
          const expected = accepted.flatMap(({ rules }) => rules)
          const installed = byRfc(result.lists)
          for (const list of result.lists)
            for (const { match } of list.rules) assert.ok(covers(list.prefix, match.destination))
          for (const packet of sample) assert.equal(treatment(installed, packet), treatment(expected, packet))
        },
      ),
      { numRuns: scaled(300) },
    )
    assert.ok(compiled > scaled(100), `${compiled} pairs`)
  })

  it('have intersections of rules that FlowSpec would evaluate in the other order', () => {
    const host = parsePrefix('203.0.113.9/32')
    const list = [
      rule(1, { protocol: [[17, 17]], destinationPort: [[53, 53]] }, allow),
      rule(2, { destination: host }),
    ]
    const { lists } = compileLists([{ prefix, rules: list }], flowspec)
    assert.deepEqual(
      byRfc(lists).map(({ id, match }) => [id, match.destination, match.destinationPort]),
      [
        [1, host, [[53, 53]]],
        [2, host, undefined],
        [1, prefix, [[53, 53]]],
      ],
    )
  })

  it('have as many rules as 80 ports need, and say that a limit counts for each of them', () => {
    const destinationPort = Array.from({ length: 80 }, (_, at) => [1000 + 2 * at, 1000 + 2 * at] as const)
    const limit = { kind: 'rate_limit', bps: 8_000 } as const
    const result = compileLists([{ prefix, rules: [rule(7, { destinationPort }, limit)] }], flowspec)
    assert.deepEqual(result.multiplied, [{ prefix, rule: 7, count: 2 }])
    assert.equal(result.lists[0]!.rules.length, 2)
  })

  it('are refused as a whole, with both rules, if they cannot be ordered', () => {
    const ends = { destination: parsePrefix('203.0.113.9/32'), source: parsePrefix('198.51.100.1/32') }
    const udp = { ...ends, protocol: [[17, 17]] as const }
    const rules = [
      rule(4, { ...udp, destinationPort: [[1000, 2000]] }, allow),
      rule(5, {}, allow),
      rule(9, { ...udp, destinationPort: [[80, 1500]] }),
    ]
    const fine = { prefix: prefix6, rules: [rule(11, { destination: prefix6 })] }
    const result = compileLists([{ prefix, rules }, fine], flowspec)
    // Rule 5 covers rule 9, so their order does not matter.
    assert.deepEqual(result.refused, [])
    const without5 = compileLists([{ prefix, rules: rules.filter(({ id }) => id !== 5) }, fine], flowspec)
    assert.deepEqual(without5.refused, [{ prefix, code: 'order_impossible', rules: [4, 9] }])
    assert.deepEqual(without5.lists, [fine])
  })
})

describe('compiled lists', () => {
  it('leave out rules that an earlier one covers, and report them', () => {
    const rules = [
      rule(1, { protocol: [[17, 17]] }),
      rule(2, { protocol: [[17, 17]], destinationPort: [[53, 53]] }, allow),
      rule(3),
    ]
    for (const can of [flowspec, sequence]) {
      const { lists, shadowed } = compileLists([{ prefix, rules }], can)
      assert.deepEqual(shadowed, [{ prefix, rule: 2, by: 1 }])
      assert.deepEqual(lists[0]!.rules.map(({ id }) => id).toSorted(), [1, 3])
    }
  })

  it('keep the sequence for a scrubber that has it', () => {
    fc.assert(
      fc.property(
        rulesOf(4, 20),
        fc.array(flowPackets(4), { minLength: 20, maxLength: 20 }),
        (rules, sample) => {
          const { lists, refused } = compileLists([{ prefix, rules }], sequence)
          assert.deepEqual(refused, [])
          for (const packet of sample)
            assert.equal(treatment(lists[0]!.rules, packet), treatment(rules, packet))
        },
      ),
      { numRuns: 200 },
    )
  })

  it('are refused if the scrubber cannot apply them', () => {
    const pps = rule(1, {}, { kind: 'rate_limit', pps: 5 })
    const codeOf = (list: OrderedList, can: Partial<ScrubberCapabilities>) =>
      compileLists([list], { ...flowspec, ...can }).refused
    assert.deepEqual(codeOf({ prefix, rules: [pps] }, { packetRate: false }), [
      { prefix, code: 'packet_rate_unsupported', rules: [1] },
    ])
    assert.deepEqual(
      codeOf({ prefix: prefix6, rules: [rule(1, { destination: prefix6 })] }, { families: [4] }),
      [{ prefix: prefix6, code: 'family_unsupported', rules: [] }],
    )
    const limits = [
      rule(1, {}, { kind: 'rate_limit', bps: 1_000_000_000 }),
      rule(2, { protocol: [[17, 17]] }, { kind: 'rate_limit', pps: 1_000_001 }),
      rule(3, { protocol: [[6, 6]] }, { kind: 'rate_limit', bps: 1_000_000_001 }),
    ]
    assert.deepEqual(codeOf({ prefix, rules: limits }, {}), [{ prefix, code: 'bit_rate_max', rules: [3] }])
    assert.deepEqual(codeOf({ prefix, rules: limits.slice(0, 2) }, {}), [
      { prefix, code: 'packet_rate_max', rules: [2] },
    ])
    const outside = [
      rule(1, { destination: parsePrefix('203.0.112.0/23') }),
      rule(2),
      rule(3, { source: parsePrefix('2001:db8::/32') }),
    ]
    assert.deepEqual(codeOf({ prefix, rules: outside }, {}), [
      { prefix, code: 'outside_prefix', rules: [1, 3] },
    ])
    for (const can of [flowspec, sequence]) {
      const few = { ...can, rulesMax: 1 }
      const lists = [
        { prefix, rules: [rule(1)] },
        { prefix: prefix6, rules: [rule(2, { destination: prefix6 })] },
      ]
      const result = compileLists(lists, few)
      assert.deepEqual(result.refused, [{ prefix, code: 'rules_max', rules: [] }])
      assert.equal(result.lists.length, 1)
      const held = compileLists(lists, few, [{ prefix, ruleCount: 1 }])
      assert.deepEqual(held.refused, [{ prefix: prefix6, code: 'rules_max', rules: [] }])
    }
  })
})
