import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createDecoder } from '../../../server/src/drivers/netflow/decoder.ts'
import { createFlowColumns, type FlowColumns } from '../../../server/src/flow/flow-columns.ts'
import { createExportState, encodeIpfix, encodeNetflow5, encodeSflow } from './datagrams.ts'
import { historyStart, missingSpans } from './flow-history.ts'
import {
  attackFlows,
  attackOctets,
  countedOctets,
  demoExporters,
  flowsBetween,
  wordsOf,
  type DemoFlow,
} from './model.ts'

const now = Date.UTC(2026, 2, 10, 17)
const hour = 3_600_000

function decode(datagrams: readonly Buffer[]): FlowColumns {
  const columns = createFlowColumns(200_000)
  const decoder = createDecoder()
  const sender = Uint32Array.from([0, 0, 0xffff, 0x7f00000b])
  for (const datagram of datagrams) {
    const octets = new Uint8Array(datagram)
    decoder.decode(octets, 0, octets.length, sender, 0, 50_000, now, columns)
  }
  return columns
}

const flowsOf = (exporter: number): DemoFlow[] =>
  flowsBetween(now, now + 5_000, 2).filter((flow) => flow.exporter === exporter)

describe('the traffic of the demo', () => {
  it('is the same for the same time', () => {
    assert.deepEqual(flowsBetween(now, now + 60_000, 2), flowsBetween(now, now + 60_000, 2))
  })

  it('carries as much as the counters of its ports, whose mean rates are in the platform file', () => {
    const total = (select: (flow: DemoFlow) => boolean) =>
      flowsBetween(now, now + 24 * hour, 3)
        .filter(select)
        .reduce((sum, flow) => sum + countedOctets(flow), 0)
    const bps = (total(({ exporter, outIf }) => exporter === 0 && outIf === 1) * 8) / 86_400
    assert.ok(bps > 0.9 * 8.6e9 && bps < 1.1 * 8.6e9, `${bps}`)
  })

  it('is decoded from IPFIX as it was sent', () => {
    const flows = flowsOf(0)
    const columns = decode(encodeIpfix(flows, createExportState(now), now))
    assert.equal(columns.length, flows.length)
    const sent = flows.reduce((sum, { bytes }) => sum + bytes, 0)
    let received = 0
    for (let row = 0; row < columns.length; row++)
      received += columns.bytesLo[row]! + columns.bytesHi[row]! * 2 ** 32
    assert.equal(received, sent)
    const addresses = (words: Uint32Array) =>
      Array.from({ length: columns.length }, (_, row) => words.slice(row * 4, row * 4 + 4).join())
    assert.deepEqual(addresses(columns.dst).toSorted(), flows.map(({ dst }) => dst.join()).toSorted())
  })

  it('is decoded from NetFlow v5 and sFlow with its sampling rate', () => {
    const office = flowsOf(2)
    const v5 = decode(encodeNetflow5(office, 1000, createExportState(now), now))
    assert.equal(v5.length, office.length)
    assert.equal(v5.samplingRate[0], 1000)
    assert.deepEqual(
      [v5.srcPort[0], v5.dstPort[0], v5.packetsLo[0]],
      [office[0]!.srcPort, office[0]!.dstPort, office[0]!.packets],
    )
    const frankfurt = flowsOf(1)
    const sflow = decode(encodeSflow(frankfurt, '127.0.0.12', 65_536, createExportState(now), now))
    assert.equal(
      sflow.length,
      frankfurt.reduce((sum, { packets }) => sum + Math.min(packets, 200), 0),
    )
    assert.deepEqual(
      [sflow.samplingRate[0], sflow.srcPort[0], sflow.protocol[0]],
      [65_536, frankfurt[0]!.srcPort, frankfurt[0]!.protocol],
    )
  })

  it('has attacks while they last, in their full strength after ten seconds', () => {
    const attack = {
      target: wordsOf('203.0.113.77'),
      classification: 'udp.amplification.dns',
      bps: 6_400_000_000,
      pps: 610_000,
      startMs: now,
      endMs: now + 60_000,
    }
    const bpsOf = (from: number) =>
      (attackFlows(attack, from, from + 5_000, 10).reduce((sum, { bytes }) => sum + bytes, 0) * 8 * 1000) / 5
    assert.equal(bpsOf(now - 5_000), 0)
    assert.equal(bpsOf(now + 60_000), 0)
    assert.ok(bpsOf(now) > 1e8 && bpsOf(now) < 5e9)
    assert.ok(bpsOf(now + 15_000) > 5e9 && bpsOf(now + 15_000) < 8e9)
    for (const flow of attackFlows(attack, now, now + 5_000, 10))
      assert.deepEqual([flow.srcPort, flow.protocol], [53, 17])
  })

  it('has the octets of attacks in the counters of the port, in steps of any length', () => {
    const attack = (address: string, classification: string, bps: number, pps: number) => ({
      target: wordsOf(address),
      classification,
      bps,
      pps,
      startMs: now + 12_345,
      endMs: now + 600_001,
    })
    const attacks = [
      attack('203.0.113.77', 'udp.amplification.dns', 6.4e9, 610_000),
      attack('198.51.100.4', 'tcp.syn_flood', 1.1e9, 2_000_000),
    ]
    const ports = [
      { device: 'edge1.ams', name: 'et-0/0/0', attack: attacks[0]! },
      { device: 'edge1.fra', name: 'Port-Channel10', attack: attacks[1]! },
    ]
    for (const { attack, ...port } of ports)
      for (const stepMs of [5_000, 60_000, 300_000])
        for (let from = now; from < now + 900_000; from += stepMs) {
          const flows = attackFlows(attack, from, from + stepMs, 10)
          const { samplingRate } = demoExporters[flows[0]?.exporter ?? 0]!
          const sent = flows.reduce((sum, flow) => sum + countedOctets(flow), 0)
          const counted = attackOctets(attacks, port, from, from + stepMs)
          // Each flow is rounded to an octet.
          assert.ok(Math.abs(sent - counted) <= 10 * samplingRate, `${sent} and ${counted}`)
        }
    assert.equal(attackOctets(attacks, { device: 'access3.fra', name: 'sfp28-1' }, now, now + 900_000), 0)
  })
})

describe('the past traffic of the demo', () => {
  it('begins with the month before, the newest part first, each within a quarter of a day', () => {
    const spans = missingSpans(now, undefined)
    assert.equal(spans[0]!.untilMs, now)
    assert.equal(spans.at(-1)!.fromMs, historyStart(now))
    for (const [at, { fromMs, untilMs }] of spans.entries()) {
      assert.equal(Math.floor(fromMs / (6 * hour)), Math.floor((untilMs - 1) / (6 * hour)))
      if (at > 0) assert.equal(untilMs, spans[at - 1]!.fromMs)
    }
  })

  it('is what is missing after and before the stored flows', () => {
    const stored = { fromMs: historyStart(now) + 24 * hour, untilMs: now - hour }
    const spans = missingSpans(now, stored)
    assert.deepEqual(spans[0], { fromMs: now - hour, untilMs: now })
    assert.equal(spans.at(-1)!.fromMs, historyStart(now))
    assert.ok(spans.slice(1).every(({ untilMs }) => untilMs <= stored.fromMs))
    assert.deepEqual(missingSpans(now, { fromMs: historyStart(now) - hour, untilMs: now }), [])
  })
})
