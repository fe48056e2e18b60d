import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { prefixBits, parsePrefix } from '../../net/prefix.ts'
import { createFlowColumns, type FlowColumns } from '../../flow/flow-columns.ts'
import { createFlowOwners, toHoldingColumns } from '../flow-owners.ts'
import type { Detection } from './detection.ts'
import { Detector } from './detector.ts'
import type { Threshold } from '../../flow/threshold.ts'
import type { DetectorRules } from './limits.ts'
import type { TargetRates } from './remote-rates.ts'

const start = 1_800_000_000

const ownersOf = (...held: readonly (readonly [prefix: string, teamId: number, id: number])[]) =>
  createFlowOwners(
    toHoldingColumns(
      held.length,
      held.map(([prefix, teamId, id]) => ({ prefix: parsePrefix(prefix), teamId, id, resource: 'prefix' })),
    ),
  )

const owners = ownersOf(['203.0.113.0/24', 1, 10], ['198.51.100.0/24', 2, 20], ['2001:db8::/32', 2, 21])

type Traffic = {
  readonly to: string
  readonly bps?: number
  readonly pps?: number
  readonly protocol?: number
  readonly srcPort?: number
  readonly flags?: number
  readonly rate?: number
  readonly durationMs?: number
}

function addRow(
  c: FlowColumns,
  { to, bps = 0, pps = 0, protocol = 17, srcPort = 40_000, flags = 0, rate = 1, durationMs = 0 }: Traffic,
): void {
  const row = c.length++
  const { family, w0, w1, w2, w3 } = prefixBits(parsePrefix(`${to}/${to.includes(':') ? 128 : 32}`))
  c.dst.set(family === 4 ? [0, 0, 0xff_ff, w0] : [w0, w1, w2, w3], row * 4)
  const octets = Math.round(bps / 8 / rate)
  c.bytesLo[row] = octets % 2 ** 32
  c.bytesHi[row] = Math.floor(octets / 2 ** 32)
  c.packetsLo[row] = Math.round((pps || bps / 8000) / rate)
  c.packetsHi[row] = 0
  c.protocol[row] = protocol
  c.srcPort[row] = srcPort
  c.tcpFlags[row] = flags
  c.samplingRate[row] = rate
  c.durationMs[row] = durationMs
  c.fragment[row] = 0
}

type Scene = Partial<DetectorRules> & { readonly thresholds: readonly Threshold[] }

/** Runs a detector second by second; `traffic` returns the flows that are exported in a second. */
function run(
  scene: Scene,
  seconds: number,
  traffic: (second: number) => readonly Traffic[],
  /** The clock of the collector. */
  clock = (second: number) => second,
) {
  const detector = new Detector(2 ** 12)
  detector.setRules({ baselines: new Map(), ...scene })
  const columns = createFlowColumns(1000)
  const reports: (Detection & { readonly at: number })[] = []
  detector.advance(start - 1, owners)
  for (let second = 0; second < seconds; second++) {
    columns.length = 0
    for (const one of traffic(second)) addRow(columns, one)
    detector.add(columns, owners)
    for (const report of detector.advance(start + clock(second), owners))
      reports.push({ ...report, at: second })
  }
  return { detector, reports }
}

const gigabit = 1_000_000_000
const host = '203.0.113.7'

describe('the detector', () => {
  it('reports an attack within 15 s, each 10 s, and its end after 60 s below 70 %', () => {
    const { reports } = run({ thresholds: [{ bps: gigabit }] }, 300, (second) =>
      second >= 20 && second < 100
        ? [{ to: host, bps: 2 * gigabit, pps: 200_000, srcPort: 53 }]
        : [{ to: host, bps: gigabit / 10 }],
    )
    const [first] = reports
    assert.ok(first!.at - 20 <= 15, `after ${first!.at - 20} s`)
    assert.deepEqual(
      [first!.network, first!.status, first!.classification, first!.threshold_bps, first!.direction],
      ['203.0.113.7/32', 'ongoing', 'udp.amplification.dns', gigabit, 'incoming'],
    )
    assert.equal(first!.description, 'Incoming UDP amplification (DNS) on 203.0.113.7')
    assert.equal(new Set(reports.map(({ id }) => id)).size, 1)
    const ongoing = reports.filter(({ status }) => status === 'ongoing')
    assert.ok(ongoing.every(({ at }, i) => i === 0 || at - ongoing[i - 1]!.at === 10))
    const last = reports.at(-1)!
    assert.equal(last.status, 'ended')
    assert.ok(last.at - 100 <= 90, `reported ${last.at - 100} s after the end`)
    assert.ok(Date.parse(last.end!) / 1000 - start - 100 <= 15, 'the end is the time at which it fell')
    assert.ok(Math.abs(last.peak_bps - 2 * gigabit) < 0.05 * gigabit, `${last.peak_bps}`)
    assert.ok(Math.abs(last.total_bytes - (80 * (2 * gigabit)) / 8) < (0.1 * 80 * (2 * gigabit)) / 8)
    assert.deepEqual(
      last.vectors.map(({ classification }) => classification),
      ['udp.amplification.dns'],
    )
  })

  it('goes on when its clock is set back, with the attacks that it knows and new ones', () => {
    const { reports } = run(
      { thresholds: [{ bps: gigabit }] },
      200,
      (second) => [
        ...(second < 100 ? [{ to: host, bps: 2 * gigabit }] : []),
        ...(second >= 60 ? [{ to: '203.0.113.8', bps: 2 * gigabit }] : []),
      ],
      (second) => (second < 50 ? second : second - 3600),
    )
    const known = reports.filter(({ network }) => network === `${host}/32`)
    const ongoing = known.filter(({ status }) => status === 'ongoing')
    assert.ok(ongoing.every(({ at }, i) => i === 0 || at - ongoing[i - 1]!.at <= 11))
    assert.equal(known.at(-1)!.status, 'ended')
    const other = reports.find(({ network }) => network === '203.0.113.8/32')
    assert.ok(other!.at - 60 <= 15, `after ${other!.at - 60} s`)
  })

  it('counts packets, multiplied by the sampling rate, and names all kinds of traffic', () => {
    const { reports } = run({ thresholds: [{ pps: 100_000 }] }, 60, () => [
      { to: host, pps: 200_000, protocol: 6, flags: 2, rate: 1000 },
      { to: host, pps: 50_000, srcPort: 123, rate: 1000 },
      { to: host, pps: 1000, protocol: 1, rate: 100 },
    ])
    const last = reports.at(-1)!
    assert.equal(last.classification, 'tcp.syn_flood')
    assert.deepEqual(
      last.vectors.map(({ classification }) => classification),
      ['tcp.syn_flood', 'udp.amplification.ntp'],
    )
    assert.deepEqual(last.protocols, ['tcp', 'udp'])
    assert.ok(Math.abs(last.peak_pps - 251_000) < 10_000)
  })

  it('reports IPv6 and nothing for addresses that no team holds', () => {
    const { reports } = run({ thresholds: [{ bps: gigabit }] }, 40, () => [
      { to: '2001:db8::7', bps: 3 * gigabit },
      { to: '192.0.2.1', bps: 30 * gigabit },
    ])
    assert.deepEqual([...new Set(reports.map(({ network }) => network))], ['2001:db8::7/128'])
  })

  it('reports a network whose hosts are all below their thresholds (carpet bombing)', () => {
    const hosts = Array.from({ length: 250 }, (_, i) => `203.0.113.${i + 1}`)
    const baselines = new Map([[10, { bps: gigabit / 10, pps: 10_000 }]])
    const { reports } = run({ thresholds: [{ bps: gigabit, networkBps: 2 * gigabit }], baselines }, 60, () =>
      hosts.map((to) => ({ to, bps: (4 * gigabit) / 250 })),
    )
    assert.deepEqual([...new Set(reports.map(({ network }) => network))], ['203.0.113.0/24'])
    assert.equal(reports.at(-1)!.classification, 'carpet.udp')
    const { reports: one } = run({ thresholds: [{ bps: gigabit, networkBps: 2 * gigabit }] }, 60, () => [
      { to: host, bps: 4 * gigabit },
    ])
    assert.deepEqual(
      [...new Set(one.map(({ network }) => network))],
      ['203.0.113.7/32'],
      'one host is no carpet',
    )
  })

  it('uses the threshold of the prefix, then of the team, then the general one', () => {
    const thresholds = [
      { bps: 4 * gigabit },
      { teamId: 1, bps: 2 * gigabit },
      { prefix: parsePrefix('203.0.113.0/28'), bps: gigabit / 2 },
      { prefix: parsePrefix('203.0.113.8/29'), bps: 8 * gigabit },
    ]
    const { reports } = run({ thresholds }, 40, () => [
      { to: '203.0.113.1', bps: gigabit },
      { to: '203.0.113.9', bps: 4 * gigabit },
      { to: '203.0.113.99', bps: gigabit },
      { to: '203.0.113.100', bps: 3 * gigabit },
      { to: '198.51.100.1', bps: 3 * gigabit },
    ])
    assert.deepEqual([...new Set(reports.map(({ network }) => network))].toSorted(), [
      '203.0.113.1/32',
      '203.0.113.100/32',
    ])
  })

  it('takes a long flow, exported once a minute, as the rate that it had', () => {
    // Its average is up to 1.07 times its rate.
    const bps = 0.92 * gigabit
    const { reports } = run({ thresholds: [{ bps: gigabit }] }, 600, (second) =>
      second % 60 === 0 ? [{ to: host, bps: bps * 60, durationMs: 60_000 }] : [],
    )
    assert.deepEqual(reports, [])
    // A hundred flows, exported at different seconds, are their sum.
    const { reports: many } = run({ thresholds: [{ bps: gigabit }] }, 400, (second) =>
      Array.from({ length: 100 }, (_, i) => i)
        .filter((i) => (second + i * 7) % 60 === 0)
        .map(() => ({ to: host, bps: ((2 * gigabit) / 100) * 60, durationMs: 60_000 })),
    )
    assert.ok(many.length > 0)
    assert.ok(Math.abs(many.at(-1)!.bps - 2 * gigabit) < 0.2 * gigabit, `${many.at(-1)!.bps}`)
  })

  it('has no event for twice the daily peak, and one for five times, in any synthetic week', () => {
    const day = 86_400
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 900 }),
        fc.double({ min: 0.1, max: 0.9, noNaN: true }),
        fc.integer({ min: 0, max: 23 }),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 0, max: 6 }),
        fc.integer({ min: 0, max: 2 ** 31 }),
        (peakMbps, nightShare, peakHour, hosts, weekday, seed) => {
          let state = seed
          const noise = () =>
            ((state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) / 2 ** 32) * 0.4 + 0.8
          const usual = (second: number): number => {
            const phase = Math.cos(((second / 3600 - peakHour) / 24) * 2 * Math.PI)
            const level = nightShare + ((1 - nightShare) * (phase + 1)) / 2
            const weekend = Math.floor(second / day) % 7 >= 5 ? 0.7 : 1
            return peakMbps * 1e6 * level * weekend
          }
          const from = weekday * day + peakHour * 3600
          const baselines = new Map([[10, { bps: usual(from), pps: usual(from) / 8000 }]])
          const ofHost = { bps: usual(from) / hosts, pps: usual(from) / 8000 / hosts }
          const usualOfHosts = new Map(Array.from({ length: hosts }, (_, i) => [`203.0.113.${i}/32`, ofHost]))
          const scene = { thresholds: [{ bps: 1e6, pps: 100, ratio: 4 }], baselines, usual: usualOfHosts }
          const at = (factor: number) => (second: number) =>
            Array.from({ length: hosts }, (_, i) => ({
              to: `203.0.113.${i}`,
              bps: (usual(from + second) * factor * noise()) / hosts,
            }))
          assert.deepEqual(run(scene, 120, at(2)).reports, [])
          const { reports } = run(scene, 60, (second) => [
            ...at(1)(second),
            { to: '203.0.113.200', bps: usual(from) * 5 },
          ])
          assert.ok(reports.some(({ network }) => network === '203.0.113.200/32'))
        },
      ),
      { numRuns: 30 },
    )
  })

  it('keeps what matters when traffic to millions of addresses fills its table', () => {
    const { detector, reports } = run({ thresholds: [{ bps: gigabit }] }, 120, (second) => [
      ...Array.from({ length: 600 }, (_, i) => ({
        to: `2001:db8:${(second * 7).toString(16)}::${i.toString(16)}`,
        bps: 1000,
      })),
      { to: '2001:db8:ffff::1', bps: second > 60 ? 3 * gigabit : 1000 },
    ])
    assert.deepEqual([...new Set(reports.map(({ network }) => network))], ['2001:db8:ffff::1/128'])
    assert.equal(detector.overflows, 0)
  })

  describe('of one of several collectors', () => {
    /** Runs a detector for each collector; they exchange their rates, as far as they are connected. */
    function runSeveral(
      thresholds: readonly Threshold[],
      seconds: number,
      collectors: number,
      traffic: (second: number, collector: number) => readonly Traffic[],
      isConnected: (second: number, collector: number) => boolean = () => true,
    ) {
      const detectors = Array.from({ length: collectors }, () => new Detector(2 ** 12))
      const rates = detectors.map(() => ({ second: start, targets: [] as readonly TargetRates[] }))
      const columns = createFlowColumns(1000)
      const reports: (Detection & { readonly at: number; readonly by: number })[] = []
      for (const detector of detectors) {
        detector.setRules({ thresholds, baselines: new Map() })
        detector.advance(start - 1, owners)
      }
      for (let second = 0; second < seconds; second++) {
        detectors.forEach((detector, by) => {
          columns.length = 0
          for (const one of traffic(second, by)) addRow(columns, one)
          detector.add(columns, owners)
          for (const report of detector.advance(start + second, owners))
            reports.push({ ...report, at: second, by })
          if (second % 2 !== 0 || !isConnected(second, by)) return
          rates[by] = { second, targets: JSON.parse(JSON.stringify(detector.targets(10))) }
          const others = rates.filter((_, index) => index !== by)
          detector.setRemote(others.map((one) => ({ ageSeconds: second - one.second, targets: one.targets })))
        })
      }
      return reports
    }

    const part = { to: host, bps: 0.6 * gigabit, pps: 60_000, srcPort: 53 }

    it('reports what exceeds the threshold in the sum only, with the rates of the sum', () => {
      const traffic = (second: number) => (second >= 20 && second < 100 ? [part] : [])
      const reports = runSeveral([{ bps: gigabit }], 240, 2, traffic)
      for (const by of [0, 1]) {
        const own = reports.filter((report) => report.by === by)
        assert.ok(own[0]!.at - 20 <= 25, `after ${own[0]!.at - 20} s`)
        assert.equal(own.at(-1)!.status, 'ended')
        assert.ok(own.at(-1)!.at - 100 <= 90, `ended ${own.at(-1)!.at - 100} s after the end`)
        assert.ok(Math.abs(own.at(-1)!.peak_bps - 1.2 * gigabit) < 0.06 * gigabit)
        assert.deepEqual(own.at(-1)!.vectors[0]!.classification, 'udp.amplification.dns')
        assert.ok(own.at(-1)!.vectors[0]!.pps > 110_000)
      }
      const alone = runSeveral([{ bps: gigabit }], 240, 1, traffic)
      assert.deepEqual(alone, [], 'the part of one collector is no attack')
    })

    it('does not end an attack that continues at another collector only', () => {
      const reports = runSeveral([{ bps: gigabit }], 200, 2, (second, by) => {
        if (by === 0) return second >= 20 && second < 60 ? [part] : []
        return second >= 20 ? [{ ...part, bps: (second < 60 ? 0.6 : 1.2) * gigabit }] : []
      })
      assert.ok(reports.every(({ status }) => status === 'ongoing'))
      assert.equal(new Set(reports.map(({ network }) => network)).size, 1)
    })

    it('has no attack when the exporters of a collector that died send to another one', () => {
      // 75 % of the threshold, all at the first collector, which ends without a word; then all at the second one.
      const reports = runSeveral(
        [{ bps: gigabit }],
        200,
        2,
        (second, by) => (second < 60 === (by === 0) ? [{ ...part, bps: 0.75 * gigabit }] : []),
        (second, by) => by === 1 || second < 60,
      )
      assert.deepEqual(reports, [])
    })

    it('uses its own rates when no other collector can be read', () => {
      const reports = runSeveral(
        [{ bps: gigabit }],
        400,
        2,
        () => [part],
        (second) => second < 60,
      )
      const last = reports.findLast(({ by }) => by === 0)!
      assert.deepEqual([last.status, last.at < 220], ['ended', true])
    })
  })

  it('without thresholds counts nothing', () => {
    const { reports } = run({ thresholds: [] }, 30, () => [{ to: host, bps: 100 * gigabit }])
    assert.deepEqual(reports, [])
  })
})
