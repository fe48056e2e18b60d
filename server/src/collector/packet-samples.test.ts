import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createExportState, encodeIpfix, encodeSflow } from '../../../demo/src/traffic/datagrams.ts'
import { wordsOf, type DemoFlow } from '../../../demo/src/traffic/model.ts'
import { createDecoder } from '../drivers/netflow/decoder.ts'
import { parsePrefix } from '../net/prefix.ts'
import { readCapture } from '../events/attachment/capture.ts'
import { watchOf } from './event-packets.ts'
import { createFlowColumns } from '../flow/flow-columns.ts'
import { rowsMax } from '../flow/flow-decoder.ts'
import { PacketSamples, packetsMax, watchesMax, type PacketWatch } from './packet-samples.ts'

const flow = (src: string, dst: string, more: Partial<DemoFlow> = {}): DemoFlow => ({
  exporter: 0,
  inIf: 2,
  outIf: 1,
  src: wordsOf(src),
  dst: wordsOf(dst),
  srcPort: 53,
  dstPort: 4444,
  protocol: 17,
  tcpFlags: 0,
  fragment: false,
  bytes: 900,
  packets: 1,
  ...more,
})

const startMs = Date.UTC(2026, 4, 1)
const watch = (eventId: string, network: string): PacketWatch =>
  watchOf({ eventId, network: parsePrefix(network) })

/** The decoder and the samples as the receiving thread connects them; every call is a millisecond later. */
function createReceiver(watches: readonly PacketWatch[]) {
  const samples = new PacketSamples()
  samples.setWatches(watches)
  const decoder = createDecoder({ onHeader: (...header) => samples.add(...header) })
  const columns = createFlowColumns(rowsMax)
  const state = createExportState(startMs)
  let timeMs = startMs
  const receive = (datagrams: readonly Uint8Array[]) => {
    for (const datagram of datagrams) {
      columns.length = 0
      samples.open(columns, ++timeMs)
      decoder.decode(
        datagram,
        0,
        datagram.length,
        Uint32Array.of(0, 0, 0xffff, 0x7f000001),
        0,
        50_000,
        timeMs,
        columns,
      )
    }
  }
  return {
    samples,
    sflow: (...flows: readonly DemoFlow[]) =>
      receive(flows.flatMap((one) => encodeSflow([one], '127.0.0.1', 512, state, timeMs))),
    ipfix: (...flows: readonly DemoFlow[]) => receive(encodeIpfix(flows, state, timeMs)),
  }
}

const packetsOf = (samples: PacketSamples, eventId: string) => {
  const file = samples.capture(eventId)
  return file && readCapture(file).packets
}

describe('packets of events', () => {
  it('are those towards the network, of both families, and only while it is watched', () => {
    const { samples, sflow } = createReceiver([
      watch('four', '203.0.113.64/26'),
      watch('six', '2001:db8:0:8000::/49'),
    ])
    sflow(flow('198.51.100.1', '203.0.113.64'), flow('198.51.100.1', '203.0.113.127', { bytes: 1400 }))
    sflow(
      flow('203.0.113.64', '198.51.100.1'),
      flow('198.51.100.1', '203.0.113.63'),
      flow('198.51.100.1', '203.0.113.128'),
    )
    sflow(flow('2001:db9::1', '2001:db8:0:ffff::1'), flow('2001:db9::1', '2001:db8:0:7fff::1'))
    assert.deepEqual(
      packetsOf(samples, 'four')!.map(({ length }) => length),
      [914, 1414],
    )
    assert.equal(packetsOf(samples, 'six')!.length, 1)
    samples.setWatches([watch('six', '2001:db8:0:8000::/49')])
    sflow(flow('198.51.100.1', '203.0.113.64'))
    assert.equal(samples.capture('four'), undefined)
    assert.equal(packetsOf(samples, 'six')!.length, 1)
    // Flows have no packets.
    const flows = createReceiver([watch('four', '203.0.113.64/26')])
    flows.ipfix(flow('198.51.100.1', '203.0.113.64'))
    assert.equal(flows.samples.capture('four'), undefined)
  })

  it('are the last thousand of an event, in order, and of 64 events', () => {
    const events = Array.from({ length: watchesMax + 1 }, (_, at) => watch(`event ${at}`, '203.0.113.0/24'))
    const { samples, sflow } = createReceiver(events)
    for (let number = 0; number < packetsMax + 5; number++)
      sflow(flow('198.51.100.1', '203.0.113.1', { bytes: 100 + number }))
    const packets = packetsOf(samples, 'event 0')!
    assert.deepEqual(
      packets.map(({ length }) => length),
      Array.from({ length: packetsMax }, (_, at) => 114 + 5 + at),
    )
    assert.equal(packets[0]!.at, BigInt(startMs + 6) * 1_000_000n)
    assert.equal(packetsOf(samples, `event ${watchesMax - 1}`)!.length, packetsMax)
    assert.equal(samples.capture(`event ${watchesMax}`), undefined)
  })
})
