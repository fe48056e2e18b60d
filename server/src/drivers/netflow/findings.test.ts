// Problems of the records of an exporter, stored for staff.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createDecoder } from './decoder.ts'
import { decodeAll, ipOctets, ipfix, options, pack, set, template, testNowMs, u32 } from './testing.ts'

const layout = template(256, [8, 4], [12, 4], [10, 4], [14, 4], [1, 4], [2, 4], [34, 4])
const record = (inIf: number, outIf: number, octets: number, rate: number) =>
  pack(ipOctets('192.0.2.1'), ipOctets('198.51.100.2'), ...[inIf, outIf, octets, 1_000_000, rate].map(u32))
const bps = 1e9
/** Octets that 1 Gbit/s sends in a minute, with the margin. */
const most = (1.2 * bps * 60) / 8

describe('a flow with more octets than its interfaces can send', () => {
  it('is left out, and the last one is kept', () => {
    const decoder = createDecoder()
    decodeAll(decoder, [ipfix({}, set(2, layout))])
    const speeds = new Map([
      [1, bps],
      [2, bps / 1000],
    ])
    decoder.setKnown(new Map([['192.0.2.1', { firstSeen: testNowMs / 1000, speeds, isByPort: false }]]))
    const flows = set(
      256,
      record(1, 2, most / 10, 10),
      record(1, 2, most / 10 + 1, 10),
      record(2, 1, most / 10, 10),
      record(2, 2, most / 10, 10),
      record(1, 3, most / 10 + 1, 10),
      record(0, 2, most / 10 + 1, 10),
    )
    const rows = decodeAll(decoder, [ipfix({}, flows)])
    assert.deepEqual(
      rows.map(({ inIf, outIf }) => [inIf, outIf]),
      [
        [1, 2],
        [2, 1],
        [1, 3],
        [0, 2],
      ],
    )
    assert.equal(decoder.counters.implausibleRecords, 2)
    assert.deepEqual(decoder.takeFindings(), [
      {
        exporter: '192.0.2.1',
        implausible: {
          at: testNowMs / 1000,
          octets: most / 10,
          packets: 1_000_000,
          rate: 10,
          in_if: 2,
          out_if: 2,
          duration_ms: 0,
        },
        ambiguousRates: undefined,
        isByPort: false,
      },
    ])
    assert.deepEqual(decoder.takeFindings(), [])
    decoder.setKnown(new Map())
    assert.equal(decodeAll(decoder, [ipfix({}, flows)]).length, 6)
  })
})

describe('options whose complete pairs have two sampling rates', () => {
  it('are counted, and both are kept', () => {
    const decoder = createDecoder()
    const pairs = options(257, [[149, 4]], [305, 4], [306, 4], [309, 4], [310, 4])
    const rates = (...values: readonly number[]) => set(257, pack(u32(1), ...values.map(u32)))
    decodeAll(decoder, [ipfix({}, set(3, pairs), rates(1, 999, 1, 1000))])
    assert.equal(decoder.counters.ambiguousRates, 0)
    decodeAll(decoder, [ipfix({}, rates(1, 99, 1, 1000))])
    assert.equal(decoder.counters.ambiguousRates, 1)
    assert.deepEqual(
      decoder.takeFindings().map(({ ambiguousRates }) => ambiguousRates),
      [[1000, 100]],
    )
  })
})
