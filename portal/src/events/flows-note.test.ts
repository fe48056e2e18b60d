import assert from 'node:assert/strict'
import { it } from 'node:test'
import { flowsNote, reasonsOf } from './flows-note.ts'

const event = { start: '2026-03-14T09:00:00Z', end: '2026-03-14T09:20:00Z', affected_bps: 6_600_000_000 }
const series = (...values: (number | null)[]) =>
  ({ key: {}, label: 'UDP', unit: 'bps', values, min: 0, max: 0, avg: 0, last: 0, p95: 0 }) as const
const flows = {
  series: [series(3_000_000_000, 6_000_000_000, null), series(100_000_000, 400_000_000, null)],
  timestamps: ['a', 'b', 'c'],
  interval: 60,
  partial: false,
  sampled: true,
  sampling_rate: 1000,
}

it('the peak of flow records is that of all series together, beside the one of the detector', () => {
  assert.deepEqual(reasonsOf(event, flows), [])
  assert.match(flowsNote(event, flows), /6\.4 Gbps in averages of 1 min, 97 % of the 6\.6 Gbps/)
})

it('a difference of more than 5 % has its reasons', () => {
  const low = { ...flows, series: [series(5_000_000_000)] }
  assert.deepEqual(reasonsOf(event, low), ['elsewhere'])
  assert.deepEqual(reasonsOf(event, { ...low, partial: true, interval: 3600 }), [
    'partial',
    'short',
    'averages',
  ])
  assert.deepEqual(reasonsOf(event, { ...low, sampling_rate: 10_000_000 }), ['sampled'])
  assert.deepEqual(reasonsOf({ ...event, end: '2026-03-14T09:01:00Z' }, low), ['short'])
  assert.deepEqual(reasonsOf(event, { ...low, series: [series(9_000_000_000)], interval: 3600 }), [
    'elsewhere',
  ])
})

it('nothing is compared without flow records or without a rate', () => {
  assert.deepEqual(reasonsOf(event, { ...flows, series: [series(null)] }), [])
  assert.deepEqual(reasonsOf({ ...event, affected_bps: 0 }, flows), [])
  assert.equal(flowsNote(event, undefined), flowsNote({ ...event, affected_bps: 0 }, flows))
})
