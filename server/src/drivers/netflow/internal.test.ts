// The boundary of the exporters: flows that enter from another exporter.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createFlowColumns } from '../../flow/flow-columns.ts'
import { createDecoder } from './decoder.ts'
import { decodeAll, ipOctets, ipfix, pack, flowRowsOf, set, template, testNowMs, u32 } from './testing.ts'

const layout = template(256, [8, 4], [12, 4], [10, 4], [1, 4], [2, 4])
const record = (inIf: number, octets: number) =>
  pack(ipOctets('192.0.2.1'), ipOctets('198.51.100.2'), u32(inIf), u32(octets), u32(1))
const flows = set(256, record(1, 100), record(514, 200), record(0, 300), record(2, 400))
const octetsOf = (rows: readonly { readonly [name: string]: unknown }[]) => rows.map(({ octets }) => octets)

describe('a flow that enters by an internal interface', () => {
  it('is left out and counted', () => {
    const decoder = createDecoder()
    decoder.setExporters([{ address: '192.0.2.1', internal: [514, 1] }])
    assert.deepEqual(octetsOf(decodeAll(decoder, [ipfix({}, set(2, layout), flows)])), [300, 400])
    assert.deepEqual([decoder.counters.internalFlows, decoder.counters.flows], [2, 2])
    const other = decodeAll(decoder, [ipfix({}, set(2, layout), flows)], { exporter: '192.0.2.2' })
    assert.equal(other.length, 4)
    decoder.setExporters([{ address: '192.0.2.1', internal: 'all' }])
    assert.deepEqual(decodeAll(decoder, [ipfix({ sequence: 4 }, flows)]), [])
    decoder.setExporters([])
    assert.equal(decodeAll(decoder, [ipfix({ sequence: 8 }, flows)]).length, 4)
  })

  it('is left out too if it waited for its template', () => {
    const decoder = createDecoder()
    decoder.setExporters([{ address: '192.0.2.1', internal: [514] }])
    decodeAll(decoder, [ipfix({}, flows)])
    decoder.addTemplate({
      exporter: '192.0.2.1',
      version: 10,
      domain: 1,
      id: 256,
      scopes: 0,
      fields: [8, 12, 10, 1, 2].map((element) => [0, element, 4] as const),
    })
    const columns = createFlowColumns(70_000)
    decoder.releaseHeld(testNowMs, columns)
    assert.deepEqual(octetsOf(flowRowsOf(columns)), [100, 300, 400])
  })
})
