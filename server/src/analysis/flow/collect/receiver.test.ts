import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createDecoder } from '../../../drivers/netflow/decoder.ts'
import { v5 } from '../../../drivers/netflow/testing.ts'
import type { DatagramBatch } from '../datagram-source.ts'
import { createFlowColumns } from '../flow-columns.ts'
import { rowsMax } from '../flow-decoder.ts'
import type { FilledBatch } from './messages.ts'
import { PacketSamples } from './packet-samples.ts'
import { FlowReceiver } from './receiver.ts'

it('the receiving thread sends the open batch when it is asked for it, and none if it is empty', () => {
  const sent: FilledBatch[] = []
  let receive: (batch: DatagramBatch) => void = () => {}
  const receiver = new FlowReceiver({
    source: {
      kind: 'test',
      addresses: [],
      receiveBufferBytes: 0,
      start: (onBatch) => void (receive = onBatch),
      drops: () => undefined,
      stop() {},
    },
    decoder: createDecoder(),
    samples: new PacketSamples(),
    slots: [createFlowColumns(rowsMax + 10), createFlowColumns(rowsMax + 10)],
    send: (batch) => sent.push(batch),
    now: () => 1_800_000_000_000,
    onError: assert.fail,
  })
  receiver.start()
  receiver.closeBatch()
  assert.equal(sent.length, 0)
  const octets = v5({ sequence: 1 }, { src: '192.0.2.1', dst: '198.51.100.2', packets: 1, octets: 100 })
  receive({
    octets,
    count: 1,
    offsets: Uint32Array.of(0),
    lengths: Uint32Array.of(octets.length),
    senders: Uint32Array.of(0, 0, 0xff_ff, 0xc0_00_02_01),
    ports: Uint16Array.of(50_000),
  })
  assert.equal(sent.length, 0)
  receiver.closeBatch()
  receiver.closeBatch()
  assert.deepEqual(
    sent.map((one) => one.kind === 'batch' && [one.slot, one.length]),
    [[0, 1]],
  )
  receiver.stop()
})
