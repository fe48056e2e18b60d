import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { layersOf } from './attack-layers.ts'

const minute = (at: number) => new Date(at * 60_000).toISOString()
const series = (key: Record<string, string>, values: (number | null)[]) => ({
  key,
  label: '',
  unit: 'bps',
  values,
  min: null,
  max: null,
  avg: null,
  last: null,
  p95: null,
})
const detector = { times: [60_000, 90_000], bps: [8, 9], pps: [null, 2] }
const flows = { timestamps: [minute(0), minute(1)], series: [series({}, [1, 7])] }
const traffic = (dropped: (number | null)[]) => ({
  timestamps: [minute(0), minute(1)],
  series: [series({ part: 'dropped' }, dropped), series({ part: 'passed' }, [1, 2])],
})
const shown = (layers: ReturnType<typeof layersOf>) => layers.series.map(({ label }) => label)

describe('the layers of an attack', () => {
  it('are the flow records and the detector without anything dropped', () => {
    const layers = layersOf('bps', { detector, flows, traffic: traffic([0, null]), until: 0 })
    assert.deepEqual(shown(layers), ['Flow records', 'Detector'])
    assert.equal(layers.isStack, false)
    assert.deepEqual(layers.times, [0, 60_000, 90_000])
    assert.deepEqual(layers.series[1]!.values, [undefined, 8, 9])
  })

  it('have dropped and passed traffic as a stack below the lines', () => {
    const layers = layersOf('bps', { detector, flows, traffic: traffic([0, 5]), until: 0 })
    assert.deepEqual(shown(layers), ['Passed', 'Dropped', 'Flow records', 'Detector'])
    assert.deepEqual(
      layers.series.map(({ isLine = false }) => isLine),
      [false, false, true, true],
    )
  })

  it('leave out what was not measured, and hold a single measurement until the end', () => {
    const one = { times: [60_000], bps: [8], pps: [null] }
    const none = { timestamps: [minute(0)], series: [series({}, [0])] }
    const layers = layersOf('bps', { detector: one, flows: none, traffic: undefined, until: 180_000 })
    assert.deepEqual(
      [shown(layers), layers.times, layers.series[0]!.values],
      [['Detector'], [60_000, 180_000], [8, 8]],
    )
    assert.deepEqual(
      layersOf('pps', { detector: one, flows: undefined, traffic: undefined, until: 0 }).series,
      [],
    )
  })
})
