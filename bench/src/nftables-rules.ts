// S2: a list of rules replaced on a Linux host, and packets that pass in between. Beside it `nft -f` with the same rules in one chain,
// written by hand.
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { median } from '../../lab/src/measure.ts'
import { skipWithoutNamespaces } from '../../lab/src/namespace.ts'
import { createPacketPath } from '../../lab/src/packet-path.ts'
import { waitFor } from '../../lab/src/wait.ts'
import { NftablesScrubber } from '../../server/src/drivers/nftables/scrubber.ts'
import type { FilterRule } from '../../server/src/net/filter-rule.ts'
import { parsePrefix } from '../../server/src/net/prefix.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { missingPrograms } from './packages.ts'
import { times } from './table.ts'

const run = promisify(execFile)

export const nftablesRules: Benchmark = {
  id: 'S2',
  name: 'nftables-rules',
  title: 'rules replaced on a Linux host, and packets that pass meanwhile',
  missing: () => skipWithoutNamespaces() || missingPrograms('nft', 'ip'),
  run: measure,
}

const prefix = parsePrefix('203.0.113.0/24')
const prefix6 = parsePrefix('2001:db8:a::/48')
const goalMs = 200
const replacements = 50

async function measure({ quick, rounds, folder }: Bench): Promise<Line[]> {
  const path = await createPacketPath([prefix, prefix6])
  try {
    const [program = '', ...rest] = path.nft
    const scrubber = new NftablesScrubber({
      command: path.nft,
      table: 'pharos_shield',
      hook: 'forward',
      rulesMax: 100_000,
      timeoutMs: 60_000,
    })
    const count = quick ? 100 : 1_000
    const file = join(folder, 'rules.nft')
    await writeFile(file, textOf(count))
    const ours: number[] = []
    const peer: number[] = []
    for (let round = 0; round < Math.max(rounds, 3); round++) {
      ours.push(await timeOf(() => scrubber.apply([{ prefix, rules: numbered(count, round) }])))
      peer.push(await timeOf(() => run(program, [...rest, '-f', file])))
    }
    await run(program, [...rest, 'delete', 'table', 'inet', 'by_hand'])
    const before = await path.received()
    const denied: FilterRule = {
      id: 999_999,
      match: { destination: prefix, protocol: [[17, 17]] },
      action: { kind: 'deny' },
    }
    await scrubber.apply([{ prefix, rules: [denied] }])
    const source = parsePrefix('198.51.100.7/32')
    const destination = parsePrefix('203.0.113.9/32')
    const packet = {
      source,
      destination,
      protocol: 17,
      sourcePort: 4_000,
      destinationPort: 53,
      packetLength: 100,
      dscp: 0,
    }
    const flood = path.flood({ ...packet, fragment: false }, 10_000)
    await waitFor(
      'packets are counted',
      async () => ((await scrubber.hits()).get(denied.id)?.packets ?? 0) > 0,
    )
    for (let round = 0; round < (quick ? 5 : replacements); round++)
      await scrubber.apply([{ prefix, rules: [...numbered(20, round), denied] }])
    const { sent } = await flood.stop()
    const leaked = (await path.received()) - before
    return [
      {
        what: `list of ${count.toLocaleString('en')} rules replaced`,
        result: `${median(ours).toFixed(0)} ms`,
        peer: `nft -f: ${median(peer).toFixed(0)} ms`,
        ratio: times(median(peer) / median(ours)),
        goal: `<= ${goalMs} ms`,
        reached: median(ours) <= goalMs,
      },
      {
        what: `denied packets that pass during ${quick ? 5 : replacements} replacements, ${sent.toLocaleString('en')} sent`,
        result: `${leaked}`,
        peer: '',
        ratio: '',
        goal: '0',
        reached: leaked === 0,
      },
    ]
  } finally {
    await path.stop()
  }
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}

/** Other ids in each round, so that no rule stays. TCP: the flood is UDP. */
function numbered(count: number, round: number): FilterRule[] {
  return Array.from({ length: count }, (_, at) => ({
    id: round * count + at + 1,
    match: { destination: prefix, protocol: [[6, 6]], destinationPort: [[at + 1, at + 1]] },
    action: { kind: 'deny' },
  }))
}

function textOf(count: number): string {
  const rules = Array.from({ length: count }, (_, at) => `tcp dport ${at + 1} counter drop`).join('\n')
  return `add table inet by_hand
delete table inet by_hand
table inet by_hand {
chain rules {
${rules}
}
}
`
}
