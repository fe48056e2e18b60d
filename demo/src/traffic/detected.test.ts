// The detector and flow records agree about each attack of the demo: both read the datagrams of its exporters.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Detector } from '../../../server/src/collector/detector/detector.ts'
import { createFlowOwners, toHoldingColumns } from '../../../server/src/collector/flow-owners.ts'
import { createFlowColumns } from '../../../server/src/flow/flow-columns.ts'
import { parsePrefix } from '../../../server/src/net/prefix.ts'
import { appendFlow } from './flow-history.ts'
import { attackFlows, demoExporters, flowsBetween, wordsOf, type DemoFlow } from './model.ts'

const startMs = Date.UTC(2026, 2, 10, 17)
const tickMs = 5_000
const minuteMs = 60_000
const attackMs = 4 * minuteMs
const held = ['203.0.113.0/24', '198.51.100.0/24', '192.0.2.0/24', '2001:db8:a::/48', '2001:db8:c::/48']
const owners = createFlowOwners(
  toHoldingColumns(
    1,
    held.map((prefix, at) => ({
      prefix: parsePrefix(prefix),
      teamId: 1,
      id: at + 1,
      resource: 'prefix' as const,
    })),
  ),
)

const attack = (host: string, classification: string, bps: number, pps: number) => ({
  host,
  target: wordsOf(host),
  classification,
  bps,
  pps,
  startMs: startMs + minuteMs,
  endMs: startMs + minuteMs + attackMs,
})

/** The live one, and attacks as they are recorded, towards each of the exporters. */
const attacks = {
  'the live attack': attack('203.0.113.77', 'udp.amplification.dns', 6_400_000_000, 610_000),
  'a reflection of NTP, sampled 1 in 65,536': attack(
    '198.51.100.1',
    'udp.amplification.ntp',
    6_050_000_000,
    1_620_000,
  ),
  'a SYN flood': attack('203.0.113.66', 'tcp.syn_flood', 1_770_000_000, 3_700_000),
  'a SYN flood, sampled 1 in 65,536': attack('198.51.100.3', 'tcp.syn_flood', 10_600_000_000, 22_000_000),
  'a flood over IPv6': attack('2001:db8:a::3', 'icmp.flood', 13_400_000_000, 20_000_000),
  'a flood over IPv6, sampled 1 in 65,536': attack('2001:db8:c::4', 'udp.flood', 3_580_000_000, 799_000),
}

const octets = (flows: readonly DemoFlow[]): number =>
  flows.reduce((sum, { bytes, exporter }) => sum + bytes * demoExporters[exporter]!.samplingRate, 0)

describe('the detector and flow records of the demo agree within 5 % on', () => {
  for (const [name, one] of Object.entries(attacks))
    it(name, () => {
      const detector = new Detector(2 ** 10)
      // The other hosts have no attack.
      const prefix = parsePrefix(`${one.host}/${one.host.includes(':') ? 128 : 32}`)
      detector.setRules({ thresholds: [{ prefix, bps: 1_500_000_000, pps: 400_000 }], baselines: new Map() })
      detector.advance(startMs / 1000 - 1, owners)
      const columns = createFlowColumns(10_000)
      let [peak, total, ended] = [0, 0, false]
      const minutes = new Map<number, number>()
      for (let at = startMs; at < one.endMs + 3 * minuteMs; at += tickMs) {
        const flows = attackFlows(one, at, at + tickMs, 10)
        columns.length = 0
        for (const flow of [...flowsBetween(at, at + tickMs, 4), ...flows])
          appendFlow(columns, flow, Math.floor(at / 1000))
        detector.add(columns, owners)
        const minute = Math.floor(at / minuteMs)
        minutes.set(minute, (minutes.get(minute) ?? 0) + (octets(flows) * 8) / 60)
        for (let second = at; second < at + tickMs; second += 1_000)
          for (const report of detector.advance(second / 1000, owners)) {
            if (report.network !== prefix) continue
            peak = report.peak_bps
            total = report.total_bytes
            ended ||= report.status === 'ended'
          }
      }
      assert.ok(ended, 'it is reported, and ends')
      const stored = Math.max(...minutes.values())
      assert.ok(Math.abs(peak / stored - 1) <= 0.05, `${peak} at the detector, ${stored} in flow records`)
      const sent = ([...minutes.values()].reduce((sum, bps) => sum + bps, 0) * 60) / 8
      assert.ok(Math.abs(total / sent - 1) <= 0.05, `${total} and ${sent} octets`)
    })
})
