// S1: rules from the driver to a router. Compared with GoBGP's own client, which sends one rule at a time. Both are
// measured until BIRD has the rules, with the same queries.
import { performance } from 'node:perf_hooks'
import { startFlowspecPeers, type FlowspecPeers } from '../../lab/src/flowspec-peers.ts'
import { median } from '../../lab/src/measure.ts'
import { waitFor } from '../../lab/src/wait.ts'
import { FlowspecScrubber } from '../../server/src/drivers/flowspec/scrubber.ts'
import type { FilterRule } from '../../server/src/net/filter-rule.ts'
import { parsePrefix } from '../../server/src/net/prefix.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { missingPrograms } from './packages.ts'
import { times } from './table.ts'

export const flowspecRules: Benchmark = {
  id: 'S1',
  name: 'flowspec-rules',
  title: 'rules of FlowSpec from the driver to a router',
  missing: () => missingPrograms('gobgpd', 'gobgp', 'bird', 'birdc'),
  run,
}

const prefix = parsePrefix('203.0.113.0/24')
const goalMs = { one: 50, many: 500 }

async function run({ quick, rounds }: Bench): Promise<Line[]> {
  await using peers = await startFlowspecPeers()
  const scrubber = new FlowspecScrubber({
    address: peers.gobgpd.apiAddress,
    owner: '64500:2:1',
    rulesMax: 100_000,
    packetRate: true,
    timeoutMs: 30_000,
  })
  const many = quick ? 100 : 1_000
  const one = { ours: [] as number[], peer: [] as number[] }
  const all = { ours: [] as number[], peer: [] as number[] }
  const clientCount = quick ? 10 : 100
  for (let round = 0; round < Math.max(rounds, 3) * 3; round++) {
    one.ours.push(await timeOf(peers, 1, () => scrubber.apply([{ prefix, rules: numbered(1) }])))
    await timeOf(peers, 0, () => scrubber.remove([prefix]))
    one.peer.push(await timeOf(peers, 1, () => addByClient(peers, 1)))
    await timeOf(peers, 0, () => removeByClient(peers, 1))
  }
  for (let round = 0; round < Math.max(rounds, 3); round++) {
    all.ours.push(await timeOf(peers, many, () => scrubber.apply([{ prefix, rules: numbered(many) }])))
    await timeOf(peers, 0, () => scrubber.remove([prefix]))
  }
  all.peer.push(await timeOf(peers, clientCount, () => addByClient(peers, clientCount)))
  await timeOf(peers, 0, () => removeByClient(peers, clientCount))
  await scrubber.close()
  const perRule = median(all.peer) / clientCount
  return [
    line('1 rule to the router, p50', median(one.ours), median(one.peer), goalMs.one),
    line(`${many.toLocaleString('en')} rules to the router`, median(all.ours), perRule * many, goalMs.many),
  ]
}

function line(what: string, ours: number, peer: number, goal: number): Line {
  return {
    what,
    result: `${ours.toFixed(0)} ms`,
    peer: `gobgp, one by one: ${peer.toFixed(0)} ms`,
    ratio: times(peer / ours),
    goal: `<= ${goal} ms`,
    reached: ours <= goal,
  }
}

/** The time until BIRD has this number of rules; queries take a few milliseconds in both measurements. */
async function timeOf(
  { bird }: FlowspecPeers,
  rules: number,
  change: () => Promise<unknown>,
): Promise<number> {
  const startedMs = performance.now()
  await change()
  await waitFor(
    `BIRD has ${rules} rules`,
    async () => (await bird.birdc('show route count table flow4tab')).includes(`${rules} of ${rules} routes`),
    { everyMs: 1 },
  )
  return performance.now() - startedMs
}

async function addByClient({ gobgpd }: FlowspecPeers, count: number): Promise<void> {
  for (let port = 1; port <= count; port++) await gobgpd.gobgp(...clientRule('add', port), 'then', 'discard')
}

async function removeByClient({ gobgpd }: FlowspecPeers, count: number): Promise<void> {
  for (let port = 1; port <= count; port++) await gobgpd.gobgp(...clientRule('del', port))
}

function clientRule(verb: 'add' | 'del', port: number): string[] {
  const match = ['match', 'destination', prefix, 'protocol', 'udp', 'destination-port', `==${port}`]
  return ['global', 'rib', verb, '-a', 'ipv4-flowspec', ...match]
}

function numbered(count: number): FilterRule[] {
  return Array.from({ length: count }, (_, at) => ({
    id: at + 1,
    match: { destination: prefix, protocol: [[17, 17]], destinationPort: [[at + 1, at + 1]] },
    action: { kind: 'deny' },
  }))
}
