// F2: the scenarios of the detector on a simulated clock: the delay of each attack, and reports in usual traffic. J3: processor time of a flow
// with every sum.
import { createFlowColumns, type FlowColumns } from '../../server/src/flow/flow-columns.ts'
import { createFlowOwners, toHoldingColumns } from '../../server/src/collector/flow-owners.ts'
import { Detector } from '../../server/src/collector/detector/detector.ts'
import { attackScenarios, quietScenarios } from '../../server/src/collector/detector/scenarios.ts'
import { createRandom, runScenario } from '../../server/src/collector/detector/testing-scenario.ts'
import { parsePrefix } from '../../server/src/net/prefix.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'

export const judgeAttacks: Benchmark = {
  id: 'F2',
  name: 'judge-attacks',
  title: 'attacks and usual traffic of the detector on a simulated clock',
  missing: () => undefined,
  run: (bench) => Promise.resolve(run(bench)),
}

const nsMax = 90

function run({ quick, full, report }: Bench): Line[] {
  const lines = attackScenarios.map((scenario): Line => {
    const first = runScenario(scenario)[0]
    const delay = first && first.at + 1 - (scenario.before ?? 0)
    return {
      what: scenario.name,
      result: delay === undefined ? '-' : `${delay} s`,
      peer: '',
      ratio: '',
      goal: `<= ${scenario.within} s`,
      reached: delay !== undefined && delay > 0 && delay <= scenario.within,
    }
  })
  for (const scenario of quietScenarios) {
    const seconds = quick ? 900 : full ? scenario.seconds : Math.min(scenario.seconds, 3600)
    const reports = runScenario(scenario, { seconds, randomFlows: quick ? 1000 : 100_000 })
    report(`${scenario.name}: ${reports.length} reports in ${seconds} s`)
    lines.push({
      what: scenario.name,
      result: `${new Set(reports.map(({ id }) => id)).size} in ${(seconds / 3600).toFixed(1)} h`,
      peer: '',
      ratio: '',
      goal: '0',
      reached: reports.length === 0,
    })
  }
  for (const hosts of [1000, 100_000, 2_000_000]) lines.push(timeOfFlows(hosts, quick))
  return lines
}

const flows = 250_000

function timeOfFlows(hosts: number, quick: boolean): Line {
  const [warm, rounds] = quick ? [1, 2] : [10, 30]
  const { ns, overflows } = measureFlows({ hosts, flows, warm, rounds })
  return {
    what: `a flow with every sum, ${hosts.toLocaleString('en')} active hosts`,
    result: `${ns.toFixed(0)} ns`,
    peer: '',
    ratio: '',
    goal: `<= ${nsMax} ns`,
    reached: ns <= nsMax && overflows === 0,
  }
}

type FlowLoad = {
  readonly hosts: number
  /** Of one second. */
  readonly flows: number
  /** Seconds before the measured ones. */
  readonly warm: number
  readonly rounds: number
}

/**
 * Processor time of a flow, in nanoseconds. Few hosts have much of the traffic, in a prefix inside of two others: host, two networks
 * and three prefixes.
 */
export function measureFlows({ hosts, flows, warm, rounds }: FlowLoad): { ns: number; overflows: number } {
  const owners = createFlowOwners(
    toHoldingColumns(
      1,
      [
        '10.0.0.0/9',
        ...Array.from({ length: 64 }, (_, i) => [`10.${i}.0.0/16`, `10.${i}.64.0/18`]).flat(),
      ].map((prefix, id) => ({
        prefix: parsePrefix(prefix),
        teamId: id + 1,
        id: id + 1,
        resource: 'prefix' as const,
      })),
    ),
  )
  const detector = new Detector()
  detector.setRules({ thresholds: [{ bps: 1e9, pps: 200_000 }], baselines: new Map() })
  const batches = [1, 2, 3, 4].map((seed) =>
    fill(createFlowColumns(flows), { flows, hosts }, createRandom(seed)),
  )
  let used = 0
  for (let round = 0; round < warm + rounds; round++) {
    detector.advance(1000 + round, owners)
    const before = process.cpuUsage().user
    detector.add(batches[round % batches.length]!, owners)
    if (round >= warm) used += process.cpuUsage().user - before
  }
  return { ns: (used * 1000) / rounds / flows, overflows: detector.overflows }
}

function fill(
  c: FlowColumns,
  { flows, hosts }: Pick<FlowLoad, 'flows' | 'hosts'>,
  random: () => number,
): FlowColumns {
  c.length = flows
  for (let row = 0; row < flows; row++) {
    const host = Math.floor(hosts * random() ** 3)
    c.dst.set([0, 0, 0xff_ff, (0x0a_00_00_00 | (Math.imul(host, 2_654_435_761) & 0x3f_ff_ff)) >>> 0], row * 4)
    c.src.set([0, 0, 0xff_ff, (0x50_00_00_00 + Math.floor(random() * 1e8)) >>> 0], row * 4)
    c.packetsLo[row] = 10
    c.bytesLo[row] = 14_000
    c.samplingRate[row] = 1
    c.protocol[row] = random() < 0.7 ? 6 : 17
    c.srcPort[row] = random() < 0.5 ? 443 : 50_000
    c.tcpFlags[row] = 0x1b
    c.durationMs[row] = random() < 0.8 ? 500 : 30_000
  }
  return c
}
