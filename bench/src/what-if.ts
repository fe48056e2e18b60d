// S4: the estimated effect of a list of 100 rules on a team's flows of the last hour, by one statement. Compared with a
// separate statement per rule, which does not determine the first match.
import fc from 'fast-check'
import { join } from 'node:path'
import { rmSync } from 'node:fs'
import { quantile } from '../../lab/src/measure.ts'
import { insertFlows, testFlow } from '../../server/src/flow/testing.ts'
import { whatIfStatement, type WhatIfRequest } from '../../server/src/flow/what-if.ts'
import { createFlowStore } from '../../server/src/drivers/clickhouse/flow-store.ts'
import { parsePrefix } from '../../server/src/net/prefix.ts'
import { flowMatches } from '../../server/src/net/testing-flow.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { milliseconds, times, whole } from './table.ts'
import { medianOf, takeTurns } from './turns.ts'

export const whatIf: Benchmark = {
  id: 'S4',
  name: 'what-if',
  title: "what 100 rules would have done with a team's last hour",
  missing: () => undefined,
  run,
}

const hourMs = 3_600_000
const ruleCount = 100
const goalMs = 500

async function run(bench: Bench): Promise<Line[]> {
  const rows = bench.quick ? 5_000 : 74_000
  const folder = join(bench.folder, 'what-if')
  rmSync(folder, { recursive: true, force: true })
  const store = createFlowStore({
    url: null,
    dataDir: folder,
    retention: { flowDays: 3650, rollupDays: 3650 },
    log: () => {},
  })
  try {
    const endMs = Math.floor(Date.now() / 1000) * 1000
    const flows = Array.from({ length: rows }, (_, at) =>
      testFlow({
        teamId: 1,
        time: new Date(endMs - ((at * 7_919) % hourMs)),
        src: `198.${18 + (at % 2)}.${at % 251}.${at % 241}`,
        dst: `203.0.113.${at % 256}`,
        srcPort: (at * 31) % 65_536,
        dstPort: (at * 17) % 1_024,
        protocol: at % 3 === 0 ? 6 : 17,
        bytes: 40 + ((at * 13) % 1_460),
      }),
    )
    await insertFlows(store, flows)
    const rules = fc.sample(flowMatches(4), { numRuns: ruleCount, seed: 1 })
    const request = (matches: typeof rules): WhatIfRequest => ({
      teamId: 1,
      prefix: parsePrefix('203.0.113.0/24'),
      startMs: endMs - hourMs,
      endMs,
      rules: matches.map((match, index) => ({ index, parsed: { match, action: { kind: 'deny' } } })),
    })
    const timeOf = async (lists: readonly (typeof rules)[]): Promise<number> => {
      const started = performance.now()
      for (const list of lists) {
        const { sql, params, limits } = whatIfStatement(request(list), [])
        await store.query(sql, params, limits)
      }
      return performance.now() - started
    }
    const runs = bench.quick ? 3 : 20
    const { ours, peer } = await takeTurns(
      bench.rounds,
      async () => {
        const found: number[] = []
        for (let at = 0; at < runs; at++) found.push(await timeOf([rules]))
        return found
      },
      () => timeOf(rules.map((rule) => [rule])),
    )
    const all = ours.flat()
    const [p50, p99] = [quantile(all, 0.5), quantile(all, 0.99)]
    const peerMs = medianOf(peer, Number)
    return [
      {
        what: `${ruleCount} rules over ${whole(rows)} flows, p50 / p99`,
        result: `${milliseconds(p50)} / ${milliseconds(p99)}`,
        peer: `${milliseconds(peerMs)} a statement for each rule`,
        ratio: times(peerMs / p50),
        goal: `p99 <= ${goalMs} ms`,
        reached: p99 <= goalMs,
      },
    ]
  } finally {
    await store.close()
  }
}
