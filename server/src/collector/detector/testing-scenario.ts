// Runs scenarios on a simulated clock: the flows of each second, as an exporter would send them, through one detector or several.
import { parsePrefix, prefixBits } from '../../net/prefix.ts'
import { createFlowOwners, toHoldingColumns } from '../flow-owners.ts'
import { createFlowColumns, type FlowColumns } from '../../flow/flow-columns.ts'
import type { Detection } from './detection.ts'
import { Detector } from './detector.ts'
import type { DetectorRules } from './limits.ts'
import type { TargetRates } from './remote-rates.ts'
import { held, limit, type Scenario, type ScenarioStream } from './scenarios.ts'

const sceneStart = 1_800_000_000

/** `at`: seconds of the scene. */
export type SceneReport = Detection & { readonly at: number; readonly by: number }

type Options = {
  readonly seed?: number
  /** Replaces the values of the scenario. */
  readonly seconds?: number
  readonly rows?: number
  readonly rules?: Partial<DetectorRules>
  /** A new detector without memory in this second. */
  readonly restartAt?: number
  /** Flows a second to random addresses; each stands for more packets then. */
  readonly randomFlows?: number
}

const scenarioOwners = createFlowOwners(
  toHoldingColumns(
    1,
    held.map((prefix, index) => ({
      prefix: parsePrefix(prefix),
      teamId: 1,
      id: index + 1,
      resource: 'prefix' as const,
    })),
  ),
)

export function runScenario(scenario: Scenario, options: Options = {}): SceneReport[] {
  const {
    seed = 1,
    seconds = scenario.seconds,
    rows = scenario.rows ?? 2 ** 10,
    rules,
    restartAt,
    randomFlows = 1000,
  } = options
  const random = createRandom(seed)
  const count = Math.max(1, ...scenario.streams.map(({ collectors = 1 }) => collectors))
  const create = (second: number) => {
    const detector = new Detector(rows)
    detector.setRules({ thresholds: [scenario.limit ?? limit], baselines: new Map(), ...rules })
    detector.advance(sceneStart + second - 1, scenarioOwners)
    return detector
  }
  const detectors = Array.from({ length: count }, () => create(0))
  const targets: { second: number; targets: readonly TargetRates[] }[] = detectors.map(() => ({
    second: 0,
    targets: [],
  }))
  const columns = createFlowColumns(100_000)
  const sources = scenario.streams.map((stream) =>
    createStream(stream, scenario.sampling, random, randomFlows),
  )
  const reports: SceneReport[] = []
  for (let second = 0; second < seconds; second++) {
    if (second === restartAt) detectors.splice(0, 1, create(second))
    detectors.forEach((detector, by) => {
      columns.length = 0
      for (const add of sources) add(columns, second, by)
      detector.add(columns, scenarioOwners)
      for (const report of detector.advance(sceneStart + second, scenarioOwners))
        reports.push({ ...report, at: second, by })
      if (count === 1 || second % 2 === 1) return
      targets[by] = { second, targets: JSON.parse(JSON.stringify(detector.targets(10))) as TargetRates[] }
      const others = targets.filter((_, other) => other !== by)
      detector.setRemote(others.map((one) => ({ ageSeconds: second - one.second, targets: one.targets })))
    })
  }
  return reports
}

type Random = () => number

/** Numbers from 0 to 1 (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d_2b_79_f5) >>> 0
    let value = Math.imul(state ^ (state >>> 15), state | 1)
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61)
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A number of events with the mean, as sampling counts them. */
export function poisson(mean: number, random: Random): number {
  if (mean > 60) {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
    return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal))
  }
  const end = Math.exp(-mean)
  let found = 0
  for (let product = random(); product > end; product *= random()) found++
  return found
}

/** Returns the function that adds the flows of a second, at a single collector. */
function createStream(
  stream: ScenarioStream,
  sampling: number,
  random: Random,
  randomFlows: number,
): (c: FlowColumns, second: number, by: number) => void {
  const { to, hosts = 1, step = 1, octets = 1400, from = 0, until = Infinity, collectors = 1 } = stream
  const { pulse, turn, flowSeconds, shape = () => 1, randomFrom } = stream
  const bits = prefixBits(parsePrefix(`${to}/${to.includes(':') ? 128 : 32}`))
  const packetsOfHost = stream.bps / 8 / octets / (turn === undefined ? hosts : 1) / collectors
  const addressOf = (host: number): readonly number[] => {
    if (bits.family === 4) return [0, 0, 0xff_ff, (bits.w0 + host * step) >>> 0]
    const [r0, r1] = [Math.floor(random() * 2 ** 32), Math.floor(random() * 2 ** 32)]
    return randomFrom === undefined
      ? [bits.w0 >>> 0, bits.w1 >>> 0, bits.w2 >>> 0, (bits.w3 + host) >>> 0]
      : [bits.w0 >>> 0, (bits.w1 | (r0 >>> (randomFrom - 32))) >>> 0, r1, host]
  }
  const add = (c: FlowColumns, host: number, packets: number, durationMs: number): void =>
    addFlow(c, stream, { address: addressOf(host), packets, sampling, durationMs })
  return (c, second, by) => {
    if (second < from || second >= until || by >= collectors) return
    if (pulse && (second - from) % pulse.every >= pulse.on) return
    const factor = shape(second)
    if (randomFrom !== undefined) {
      const packets = poisson((packetsOfHost * factor) / sampling, random)
      const flows = Math.min(packets, randomFlows)
      for (let flow = 0; flow < flows; flow++) add(c, flow, packets / flows, 0)
      return
    }
    if (flowSeconds !== undefined) {
      for (let host = 0; host < hosts; host++) {
        // Exporters end flows some seconds sooner or later.
        if ((second + host * 7) % flowSeconds !== 0) continue
        add(c, host, (packetsOfHost * flowSeconds * (0.9 + 0.2 * random())) / sampling, flowSeconds * 1000)
      }
      return
    }
    const current = turn === undefined ? undefined : Math.floor((second - from) / turn)
    for (let host = current ?? 0; host < (current === undefined ? hosts : current + 1); host++) {
      const mean = (packetsOfHost * factor) / sampling
      const packets = sampling === 1 ? mean : poisson(mean, random)
      if (packets > 0 && host < hosts) add(c, host, packets, 0)
    }
  }
}

type FlowValues = {
  readonly address: readonly number[]
  readonly packets: number
  readonly sampling: number
  readonly durationMs: number
}

const elsewhere = [0, 0, 0xff_ff, 0x08_08_08_08] as const

function addFlow(
  c: FlowColumns,
  stream: ScenarioStream,
  { address, packets, sampling, durationMs }: FlowValues,
): void {
  const row = c.length++
  const octets = packets * (stream.octets ?? 1400)
  c.src.set(stream.isOutgoing ? address : elsewhere, row * 4)
  c.dst.set(stream.isOutgoing ? elsewhere : address, row * 4)
  c.bytesLo[row] = octets % 2 ** 32
  c.bytesHi[row] = Math.floor(octets / 2 ** 32)
  c.packetsLo[row] = Math.round(packets)
  c.packetsHi[row] = 0
  c.protocol[row] = stream.protocol ?? 17
  c.srcPort[row] = stream.srcPort ?? 40_000
  c.tcpFlags[row] = stream.tcpFlags ?? 0
  c.samplingRate[row] = sampling
  c.durationMs[row] = durationMs
  c.fragment[row] = 0
}
