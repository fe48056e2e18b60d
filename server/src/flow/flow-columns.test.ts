import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { DatagramSource, ListenAddress } from './datagram-source.ts'
import { createFlowColumns } from './flow-columns.ts'
import { rowsMax, type DecoderEvents, type FlowDecoder } from './flow-decoder.ts'

/** The sizes that a batch must have for a decoder and its source. */
const room = (_decoder?: FlowDecoder & DecoderEvents, _source?: DatagramSource & ListenAddress): number =>
  rowsMax

describe('a batch of flows', () => {
  it('is on shared memory, with 88 bytes a row', () => {
    const columns = createFlowColumns(room())
    const arrays = Object.values(columns).filter((column) => ArrayBuffer.isView(column))
    assert.ok(arrays.every(({ buffer }) => buffer instanceof SharedArrayBuffer))
    const octets = arrays.reduce((sum, { byteLength }) => sum + byteLength, 0)
    assert.equal(octets / rowsMax, 88)
    assert.equal(columns.length, 0)
  })
})
