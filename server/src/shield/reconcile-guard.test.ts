import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { PlannedApproval } from '../approval/coverage.ts'
import type { FilterAction, FilterRule } from '../net/filter-rule.ts'
import { type FlowMatch, matchesPacket, protocolNumbers } from '../net/flow-match.ts'
import { comparePrefixes, covers, lengthOf, type Prefix, parsePrefix } from '../net/prefix.ts'
import { flowMatches, flowPackets } from '../net/testing-flow.ts'
import { compileLists } from './compile.ts'
import { guardChanges, type GuardedChanges, type ListEvidence, newRulesMax } from './reconcile-guard.ts'
import { fingerprintOf, planLists, type InstalledList, type ScrubberCapabilities } from './scrubber.ts'
import { scaled } from '../runtime/testing-scale.ts'

const flowspec: ScrubberCapabilities = {
  ordering: 'flowspec',
  families: [4, 6],
  rulesMax: 10_000,
  hits: false,
  atomicPerList: false,
  keepsRules: false,
  packetRate: true,
  rateMax: { bps: 400_000_000_000, pps: 1_000_000_000 },
}
const kinds: readonly ScrubberCapabilities[] = [
  flowspec,
  { ...flowspec, packetRate: false },
  { ...flowspec, ordering: 'sequence', atomicPerList: true },
  { ...flowspec, ordering: 'sequence', rulesMax: 6 },
]

let ids = 0
const evidenceOf = (listId: number, prefix: Prefix, rules: readonly FilterRule[]): ListEvidence => ({
  listId,
  teamId: 1,
  prefix,
  version: 1,
  rules,
  manyRules: { rules: [], count: 0, asked: [] },
})
const listOf = (text: string, ...rules: readonly [Partial<FlowMatch>, FilterAction?][]): ListEvidence => {
  const prefix = parsePrefix(text)
  const numbered = rules.map(([match, action = deny]) => ({
    id: ++ids,
    match: { destination: prefix, ...match },
    action,
  }))
  return evidenceOf(++ids, prefix, numbered)
}
const deny: FilterAction = { kind: 'deny' }
const udp = { protocol: [[protocolNumbers.udp, protocolNumbers.udp]] } as const
const ports = (first: number, count: number) =>
  Array.from({ length: count }, (_, at) => [first + 2 * at, first + 2 * at] as const)

/** Like the loop: refused lists stay as they are. */
function guarded(
  lists: readonly ListEvidence[],
  can: ScrubberCapabilities,
  installed: readonly InstalledList[] = [],
  isApproved = (_hash: string) => true,
): GuardedChanges {
  const { lists: compiled, refused } = compileLists(lists, can)
  const isPlanned = (prefix: Prefix) => !refused.some((one) => one.prefix === prefix)
  const { apply, remove } = planLists(compiled, installed, can.ordering)
  const planned = { apply: apply.filter(({ prefix }) => isPlanned(prefix)), remove: remove.filter(isPlanned) }
  return guardChanges(planned, lists, installed, isApproved, can.ordering)
}

const installedOf = (
  { apply }: Pick<GuardedChanges, 'apply'>,
  { ordering }: ScrubberCapabilities,
): InstalledList[] =>
  apply.map((list) => ({
    prefix: list.prefix,
    ruleCount: list.rules.length,
    fingerprint: fingerprintOf(list, ordering),
  }))

const reasonOf = ({ findings }: PlannedApproval) => findings[0]?.reason

const prefixesOf = (lists: readonly { readonly prefix: Prefix }[]) =>
  lists.map(({ prefix }) => prefix).toSorted(comparePrefixes)

describe('a limit', () => {
  for (const bps of [100_000_000, 123_456_789, 200_000_001, 10_000_000_000])
    it(`of ${bps} bit/s is applied by FlowSpec with the nearest rate that it has`, () => {
      const { apply, approvals } = guarded(
        [listOf('203.0.113.0/24', [udp, { kind: 'rate_limit', bps }])],
        flowspec,
      )
      assert.deepEqual(approvals, [])
      const { action } = apply[0]!.rules[0]!
      assert.ok('bps' in action && Math.abs(action.bps - bps) <= bps / 2 ** 24)
    })

  it('needs approval if its rate is another one', () => {
    const limit = { kind: 'rate_limit', bps: 123_456_789 } as const
    const list = listOf('203.0.113.0/24', [udp, limit])
    const reasonsOf = (action: FilterAction, ordering: ScrubberCapabilities['ordering']) => {
      const apply = [{ prefix: list.prefix, rules: list.rules.map((rule) => ({ ...rule, action })) }]
      return guardChanges({ apply, remove: [] }, [list], [], () => true, ordering).approvals.map(reasonOf)
    }
    for (const bps of [123_456_784, 123_456_800, 123_456_789 * 8])
      assert.deepEqual(reasonsOf({ kind: 'rate_limit', bps }, 'flowspec'), ['plan_differs'])
    assert.deepEqual(reasonsOf({ kind: 'rate_limit', pps: 123_456_792 }, 'flowspec'), ['plan_differs'])
    assert.deepEqual(reasonsOf({ kind: 'rate_limit', bps: 123_456_792 }, 'sequence'), ['plan_differs'])
    assert.deepEqual(reasonsOf(limit, 'sequence'), [])
  })
})

describe('a rule of a list around another one', () => {
  const host = { ...udp, sourcePort: [[53, 53]], destination: parsePrefix('203.0.113.77/32') } as const
  const inner = listOf('203.0.113.0/24', [{ ...udp, sourcePort: [[53, 53]] }])
  const outer = listOf('203.0.112.0/22', [host], [{ ...udp, sourcePort: [[123, 123]] }])

  it('may be missing if the list inside it matches all of its packets first', () => {
    const { apply, approvals } = guarded([outer, inner], flowspec)
    assert.deepEqual(approvals, [])
    assert.deepEqual(prefixesOf(apply), [outer.prefix, inner.prefix])
  })

  it('must be there if the list inside it leaves packets to it, or is elsewhere', () => {
    for (const other of [
      listOf('203.0.113.0/24', [{ ...udp, sourcePort: [[54, 54]] }]),
      listOf('203.0.113.64/26', [{ ...host, source: parsePrefix('198.51.100.0/24') }]),
      listOf('203.0.0.0/16', [{ ...udp, sourcePort: [[53, 53]] }]),
    ]) {
      const apply = [{ prefix: outer.prefix, rules: outer.rules.slice(1) }]
      const { approvals } = guardChanges({ apply, remove: [] }, [outer, other], [], () => true, 'flowspec')
      assert.deepEqual(approvals.map(reasonOf), ['plan_differs'])
    }
  })

  it('takes its list along if it was the only one', () => {
    const alone = { ...outer, rules: outer.rules.slice(0, 1) }
    const installed = installedOf(guarded([alone], flowspec), flowspec)
    const { apply, remove, approvals } = guarded([alone, inner], flowspec, installed, () => false)
    assert.deepEqual([approvals, remove, prefixesOf(apply)], [[], [outer.prefix], [inner.prefix]])
  })

  it('may be hidden in parts by several rules', () => {
    const list = listOf(
      '203.0.113.0/24',
      [{ ...udp, destinationPort: [[1000, 1079]] }],
      [{ ...udp, destinationPort: [[1080, 1159]] }, { kind: 'allow' }],
      [{ ...udp, destinationPort: ports(1000, 80) }],
    )
    assert.deepEqual(guarded([list], flowspec).approvals, [])
  })
})

describe('a prefix that another team has left', () => {
  it('gets the list of its holder, whatever the order of the lists', () => {
    const left = listOf('203.0.113.0/24')
    const list = listOf('203.0.113.0/24', [udp])
    for (const lists of [
      [left, list],
      [list, left],
    ])
      assert.deepEqual(prefixesOf(guarded(lists, flowspec).apply), [list.prefix])
  })
})

describe('many rules', () => {
  const list = listOf('203.0.113.0/24', [udp], [{ ...udp, sourcePort: [[53, 53]] }, { kind: 'allow' }], [{}])
  const [first, second, whole] = list.rules.map(({ id }) => id) as [number, number, number]
  const reasonsOf = (manyRules: Partial<ListEvidence['manyRules']>, rules = list.rules) => {
    const evidence = { ...list, rules, manyRules: { ...list.manyRules, ...manyRules } }
    const apply = [{ prefix: list.prefix, rules }]
    const planned = { apply, remove: [] }
    const broad = guardChanges(planned, [evidence], [], () => false, 'sequence').approvals[0]
    return guardChanges(planned, [evidence], [], (hash) => hash === broad?.evidence, 'sequence').approvals
  }

  it('wait beside a rule for the whole prefix that was approved', () => {
    assert.deepEqual(reasonsOf({}), [])
    const [approval] = reasonsOf({ rules: [second, first], count: newRulesMax + 1 })
    assert.deepEqual(
      [reasonOf(approval!), approval!.findings[0]!.attrs['rules']],
      ['many_rules', [first, second]],
    )
    const other = reasonsOf({ rules: [first, second], count: 500 }, list.rules.toReversed())
    assert.equal(other[0]!.evidence, approval!.evidence, 'nothing new is asked')
  })

  it('wait as long as all of them are in the list', () => {
    assert.deepEqual(reasonsOf({ asked: [[first, second]] }).map(reasonOf), ['many_rules'])
    assert.deepEqual(reasonsOf({ asked: [[first, second]] }, [list.rules[0]!, list.rules[2]!]), [])
    assert.deepEqual(reasonsOf({ rules: [999], asked: [[whole, 999]] }), [])
  })
})

const networks = {
  4: ['203.0.112.0/22', '203.0.113.0/24', '203.0.113.0/25', '203.0.113.128/25'],
  6: ['2001:db8::/32', '2001:db8:a::/48', '2001:db8:a::/120'],
} as const

const actions = fc.oneof(
  fc.constantFrom<FilterAction>(deny, { kind: 'allow' }),
  fc.integer({ min: 1, max: 400_000_000_000 }).map((bps): FilterAction => ({ kind: 'rate_limit', bps })),
  fc.integer({ min: 1, max: 1_000_000_000 }).map((pps): FilterAction => ({ kind: 'rate_limit', pps })),
)

/** Conditions that do not fit into one rule of FlowSpec, and conditions that cover parts of them. */
const longMatches = (prefix: Prefix) =>
  fc
    .record({ first: fc.constantFrom(1000, 1080, 1160), count: fc.constantFrom(40, 80, 120) })
    .chain(({ first, count }): fc.Arbitrary<FlowMatch> =>
      fc.constantFrom(
        { ...udp, destination: prefix, destinationPort: ports(first, count) },
        { ...udp, destination: prefix, destinationPort: [[first, first + 2 * count]] },
      ),
    )

const matchesIn = (prefix: Prefix, family: 4 | 6): fc.Arbitrary<FlowMatch> =>
  fc
    .oneof(
      { weight: 3, arbitrary: flowMatches(family) },
      { weight: 1, arbitrary: longMatches(prefix) },
      { weight: 1, arbitrary: fc.constant({ ...udp, destination: prefix }) },
    )
    .map((match) => (covers(prefix, match.destination) ? match : { ...match, destination: prefix }))

const listsOf = (family: 4 | 6): fc.Arbitrary<ListEvidence[]> =>
  fc
    .tuple(
      ...networks[family].map((text) => {
        const prefix = parsePrefix(text)
        return fc
          .array(fc.tuple(matchesIn(prefix, family), actions), { maxLength: 5 })
          .map((rules) => ({ prefix, rules }))
      }),
    )
    .map((lists) =>
      lists.map(({ prefix, rules }, at) =>
        evidenceOf(
          at + 1,
          prefix,
          rules.map(([match, action], place) => ({ id: 100 * at + place + 1, match, action })),
        ),
      ),
    )

const families = fc.constantFrom<4 | 6>(4, 6)
const numRuns = scaled(500, 300)

describe('lists that a scrubber can have', () => {
  it('never wait as a defect, in place of others or of none', () => {
    const counts = { hidden: 0, removed: 0, split: 0 }
    const changes = families.chain((family) => fc.tuple(listsOf(family), listsOf(family)))
    fc.assert(
      fc.property(changes, fc.constantFrom(...kinds), ([first, second], can) => {
        const before = guarded(first, can)
        assert.deepEqual(before.approvals, [])
        for (const { prefix, rules } of before.apply) {
          const stored = first.find((one) => one.prefix === prefix)!
          const present = new Set(rules.map(({ id }) => id))
          if (present.size < stored.rules.length) counts.hidden++
          if (rules.length > present.size) counts.split++
        }
        const after = guarded(second, can, installedOf(before, can), () => false)
        counts.removed += after.remove.length
        assert.deepEqual(
          after.approvals.filter((one) => reasonOf(one) !== 'whole_prefix'),
          [],
        )
      }),
      { numRuns },
    )
    for (const count of Object.values(counts)) assert.ok(count > 10, JSON.stringify(counts))
  })

  it('may lack only rules that decide about no packet', () => {
    const counts = { applied: 0, held: 0 }
    const cases = families.chain((family) =>
      fc.tuple(listsOf(family), fc.array(flowPackets(family), { minLength: 50, maxLength: 50 })),
    )
    fc.assert(
      fc.property(cases, fc.nat(), ([lists, packets], at) => {
        const all = lists
          .toSorted((a, b) => lengthOf(b.prefix) - lengthOf(a.prefix))
          .flatMap(({ rules }) => rules)
        fc.pre(all.length > 0)
        const { id: gone } = all[at % all.length]!
        const without = (rules: readonly FilterRule[]) => rules.filter(({ id }) => id !== gone)
        const apply = lists.map((list) => ({ ...list, rules: without(list.rules) }))
        const { approvals } = guardChanges({ apply, remove: [] }, lists, [], () => true, 'sequence')
        counts[approvals.length === 0 ? 'applied' : 'held']++
        if (approvals.length > 0) return
        for (const packet of packets) {
          const decides = (rules: readonly FilterRule[]) =>
            rules.find(({ match }) => matchesPacket(match, packet))?.id
          assert.equal(decides(without(all)), decides(all))
        }
      }),
      { numRuns },
    )
    for (const count of Object.values(counts)) assert.ok(count > 10, JSON.stringify(counts))
  })
})
