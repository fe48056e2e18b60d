// S3: random rule lists compiled for FlowSpec. Beside it the same lists sent as they are: how many packets of how many lists would be
// treated by another rule than the first that matches. The lists are the same in every run.
import fc from 'fast-check'
import { compileLists } from '../../server/src/shield/compile.ts'
import type { CompiledRule } from '../../server/src/shield/scrubber.ts'
import type { FilterAction } from '../../server/src/net/filter-rule.ts'
import { type FlowPacket, matchesPacket } from '../../server/src/net/flow-match.ts'
import { compareFlowspec, encodeComponents } from '../../server/src/net/flowspec/nlri.ts'
import { parsePrefix } from '../../server/src/net/prefix.ts'
import { flowMatches, flowPackets } from '../../server/src/net/testing-flow.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'

export const compileListsBenchmark: Benchmark = {
  id: 'S3',
  name: 'compile-lists',
  title: 'rule lists compiled for FlowSpec, without a packet that another rule decides',
  missing: () => undefined,
  run,
}

const can = {
  ordering: 'flowspec',
  families: [4, 6],
  rulesMax: 100_000,
  hits: false,
  atomicPerList: false,
  keepsRules: false,
  packetRate: true,
  rateMax: { bps: Infinity, pps: Infinity },
} as const
const prefix = parsePrefix('203.0.113.0/24')
const actions: readonly FilterAction[] = [
  { kind: 'deny' },
  { kind: 'allow' },
  { kind: 'rate_limit', bps: 1e6 },
]
const refusedMax = 0.2

async function run({ quick }: Bench): Promise<Line[]> {
  const count = quick ? 200 : 10_000
  const packetCount = quick ? 50 : 300
  const lists = fc.sample(
    fc
      .array(fc.tuple(flowMatches(4), fc.constantFrom(...actions)), { minLength: 2, maxLength: 20 })
      .map((rules) => rules.map(([match, action], at): CompiledRule => ({ id: at + 1, match, action }))),
    { numRuns: count, seed: 1 },
  )
  const packets = fc.sample(flowPackets(4), { numRuns: packetCount, seed: 2 })
  const totals = { wrong: 0, naiveWrong: 0, refused: 0, added: 0, compileMs: 0 }
  for (const rules of lists) {
    const startedMs = performance.now()
    const { lists: compiled, refused } = compileLists([{ prefix, rules }], can)
    totals.compileMs += performance.now() - startedMs
    if (isWrong(inOrder(rules), rules, packets)) totals.naiveWrong++
    if (refused.length > 0) totals.refused++
    else {
      const installed = inOrder(compiled.flatMap((list) => list.rules))
      totals.added += installed.length - rules.length
      if (isWrong(installed, rules, packets)) totals.wrong++
    }
  }
  const { wrong, naiveWrong, refused, added, compileMs } = totals
  const share = (value: number) => `${((100 * value) / count).toFixed(1)} %`
  const each = (added / Math.max(1, count - refused)).toFixed(1)
  return [
    {
      what: `${count.toLocaleString('en')} lists of 2 to 20 rules, ${packetCount} packets each`,
      result: `${wrong} wrong, ${(compileMs / count).toFixed(2)} ms and ${each} more rules a list`,
      peer: `sent as they are: ${share(naiveWrong)} wrong`,
      ratio: '',
      goal: '0 wrong',
      reached: wrong === 0,
    },
    {
      what: 'lists that are refused',
      result: share(refused),
      peer: '',
      ratio: '',
      goal: `<= ${refusedMax * 100} %`,
      reached: refused / count <= refusedMax,
    },
  ]
}

function inOrder(rules: readonly CompiledRule[]): CompiledRule[] {
  return rules
    .map((rule) => ({ rule, components: encodeComponents(rule.match) }))
    .toSorted((a, b) => compareFlowspec(a.components, b.components))
    .map(({ rule }) => rule)
}

function isWrong(
  installed: readonly CompiledRule[],
  rules: readonly CompiledRule[],
  packets: readonly FlowPacket[],
): boolean {
  return packets.some((packet) => treatment(installed, packet) !== treatment(rules, packet))
}

function treatment(rules: readonly CompiledRule[], packet: FlowPacket): string | undefined {
  const first = rules.find(({ match }) => matchesPacket(match, packet))
  return first?.action.kind === 'rate_limit' ? `limit of ${first.id}` : first?.action.kind
}
