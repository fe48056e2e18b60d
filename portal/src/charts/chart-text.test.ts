import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ChartProps } from './chart-props.ts'
import { descriptionOf, nextIndex, readingsAt, sentenceAt, tableRows } from './chart-text.ts'

const props: ChartProps = {
  label: 'Attacks by day',
  kind: 'stacked-bars',
  times: [0, 1, 2],
  series: [
    { label: 'small', unit: 'count', color: 1, values: [3, null, 1] },
    { label: 'large', unit: 'count', color: 'bad', values: [1, null, null] },
  ],
  marks: [{ at: 1, label: 'Rule added' }],
  hrefOf: (index) => `/events?day=${index}`,
}
const timeText = (time: number) => `day ${time}`

describe('a chart as text', () => {
  it('has the highest values and the marks', () => {
    assert.equal(
      descriptionOf(props, timeText),
      'Attacks by day. 3 values. small max 3 at day 0. large max 1 at day 0. Rule added at day 1',
    )
  })

  it('reads a stack from the top down, with its total', () => {
    assert.deepEqual(
      readingsAt(props, 0).map(({ label, text }) => `${label} ${text}`),
      ['large 1', 'small 3', 'Total 4'],
    )
    assert.equal(sentenceAt(props, 1, timeText), 'day 1, large no value, small no value, Total no value')
  })

  it('reads only the series of a single point, and the range of a band', () => {
    assert.equal(readingsAt({ ...props, kind: 'scatter' }, 2).length, 1)
    const series = [{ label: 'rx', unit: 'dBm', color: 1, values: [-3], low: [-4], high: [-2] }] as const
    assert.equal(
      readingsAt({ kind: 'band', times: [0], series }, 0)[0]?.text,
      '-3.0 dBm (-4.0 dBm to -2.0 dBm)',
    )
  })

  it('reads a series that was measured at other times at its nearest one, and lines after the stack', () => {
    const times = [0, 10, 20, 30, 40]
    const series = [
      { label: 'passed', unit: 'bps', color: 1, values: [1, undefined, 3, undefined, null] },
      { label: 'dropped', unit: 'bps', color: 2, values: [5, undefined, 7, undefined, null] },
      {
        label: 'detector',
        unit: 'bps',
        color: 3,
        values: [undefined, 4, undefined, 9, undefined],
        isLine: true,
      },
    ] as const
    const textAt = (index: number) =>
      readingsAt({ kind: 'stacked-area', times, series }, index).map(({ label, text }) => `${label} ${text}`)
    assert.deepEqual(textAt(1), ['dropped 5 bps', 'passed 1 bps', 'Total 6 bps', 'detector 4 bps'])
    assert.deepEqual(textAt(2), ['dropped 7 bps', 'passed 3 bps', 'Total 10 bps', 'detector 4 bps'])
    assert.deepEqual(textAt(4), [
      'dropped no value',
      'passed no value',
      'Total no value',
      'detector no value',
    ])
  })

  it('has a row with a link for each time', () => {
    assert.deepEqual(tableRows(props, timeText)[2], {
      index: 2,
      time: 'day 2',
      cells: ['1', '–'],
      note: undefined,
      href: '/events?day=2',
    })
  })

  it('skips times without a value when the point is moved', () => {
    assert.equal(nextIndex(props, 0, 1), 2)
    assert.equal(nextIndex(props, 2, 1), 2)
    assert.equal(nextIndex(props, 3, -1), 2)
  })
})
