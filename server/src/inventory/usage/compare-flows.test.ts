import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compareFlows, type FlowRecords } from './compare-flows.ts'

const hour = (at: number, octetsIn: number, octetsOut: number) => ({ at, octetsIn, octetsOut })
const records = (hours: FlowRecords['hours'], more: Partial<FlowRecords> = {}): FlowRecords => ({
  hours,
  samplingRate: 1000,
  check: null,
  differences: ['frame_overhead', 'sampling'],
  ...more,
})

describe('flow records of a port beside its counters', () => {
  it('are of the hours that both have', () => {
    const counted = [hour(0, 1_000, 500), hour(1, 2_000, 500), hour(2, 9_000, 9_000)]
    const compared = compareFlows(counted, records([hour(0, 980, 490), hour(1, 1_960, 460), hour(3, 7, 7)]))
    assert.deepEqual(compared, {
      hours: 2,
      counted_octets_in: 3_000,
      counted_octets_out: 1_000,
      octets_in: 2_940,
      octets_out: 950,
      ratio_in: 0.98,
      ratio_out: 0.95,
      sampling_rate: 1000,
      differences: ['frame_overhead', 'sampling'],
      checked_hour: null,
      checked_ratio: null,
    })
  })

  it('are of a part of the traffic where a direction has far fewer, unless that is reported', () => {
    const counted = [hour(0, 1_000, 1_000)]
    const flows = [hour(0, 990, 100)]
    assert.deepEqual(compareFlows(counted, records(flows)).differences, [
      'frame_overhead',
      'sampling',
      'not_exported',
    ])
    const reported = records(flows, {
      differences: ['frame_overhead', 'implausible'],
      check: { hour: new Date('2026-03-14T08:00:00Z'), ratio: 0.10049 },
    })
    const compared = compareFlows(counted, reported)
    assert.deepEqual(compared.differences, ['frame_overhead', 'implausible'])
    assert.deepEqual([compared.checked_hour, compared.checked_ratio], ['2026-03-14T08:00:00.000Z', 0.1])
  })

  it('have no ratio without anything counted: unknown is not 0', () => {
    const compared = compareFlows([{ at: 0, octetsIn: null, octetsOut: 0 }], records([hour(0, 5, 5)]))
    assert.deepEqual([compared.counted_octets_in, compared.ratio_in, compared.ratio_out], [null, null, null])
  })
})
