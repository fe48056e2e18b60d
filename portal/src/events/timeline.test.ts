import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { chartRatesOf, ratesOf, stepsOf, thresholdsOf } from './timeline.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 12, minute)).toISOString()

describe('the steps of an event', () => {
  it('are the start, the changes, the peaks and the end, in order of time', () => {
    const steps = stepsOf({
      start: at(0),
      end: at(9),
      parsed_data: {
        timeline: [
          { at: at(1), signals: ['pending'], bps: 10 },
          { at: at(2), signals: ['ongoing'] },
          { at: at(3), signals: ['ongoing', 'mitigation_active'] },
          { at: at(4), signals: ['ongoing', 'mitigation_active'] },
          { at: at(9), signals: ['ended', 'mitigation_ended'] },
        ],
        peaks: { bps: { value: 10e9, at: at(1) }, pps: { value: 1e6, at: at(1) } },
      },
    })
    assert.deepEqual(
      steps.map((step) => [step.at, step.text, step.note]),
      [
        [at(0), 'Started', undefined],
        [at(1), 'Detected', undefined],
        [at(1), 'Peak: 10 Gbps, 1 Mpps', undefined],
        [at(2), 'Still ongoing', '2 more reports'],
        [at(3), 'Mitigation started', '1 more report'],
        [at(9), 'Mitigation ended', undefined],
        [at(9), 'Ended', undefined],
      ],
    )
  })

  it('of an event without a timeline are its start and its end', () => {
    const texts = (end: string | null) =>
      stepsOf({ start: at(0), end, parsed_data: {} }).map(({ text }) => text)
    assert.deepEqual(texts(at(1)), ['Started', 'Ended'])
    assert.deepEqual(texts(null), ['Started'])
  })
})

describe('the rates of an event', () => {
  it('are those of the samples, one per time', () => {
    const timeline = [
      { at: at(0), signals: [], bps: 5 },
      { at: at(1), signals: [] },
      { at: at(2), signals: [], bps: 7, pps: 2 },
      { at: at(2), signals: [], bps: 6, pps: 3 },
    ]
    assert.deepEqual(ratesOf({ parsed_data: { timeline } }), {
      times: [Date.parse(at(0)), Date.parse(at(2))],
      bps: [5, 7],
      pps: [null, 3],
    })
    assert.deepEqual(ratesOf({ parsed_data: {} }).times, [])
  })

  it('of a chart are the highest rate alone if no sample is recorded', () => {
    const event = { start: at(3), parsed_data: {}, affected_bps: 9e9, affected_pps: 0 }
    assert.deepEqual(chartRatesOf(event), { times: [Date.parse(at(3))], bps: [9e9], pps: [null] })
    assert.deepEqual(chartRatesOf({ ...event, affected_bps: 0 }).times, [])
  })

  it('have thresholds if these are rates', () => {
    const thresholds = { bps: 75e6, pps: 'many', threshold: 'mbits' }
    assert.deepEqual(thresholdsOf({ parsed_data: { thresholds } }), [
      { value: 75e6, unit: 'bps', label: 'Threshold of the detector' },
    ])
  })
})
