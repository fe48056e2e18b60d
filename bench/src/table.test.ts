import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { milliseconds, perSecond, renderTable, times } from './table.ts'

describe('the table', () => {
  it('aligns its columns and shows whether a goal was reached', () => {
    const line = {
      what: 'lists',
      result: '200/s',
      peer: '100/s',
      ratio: '2.00x',
      goal: '>= 2x',
      reached: true,
    }
    const missed = { ...line, what: 'a longer one', ratio: '1.00x', reached: false }
    const compared = { ...line, goal: '', reached: undefined }
    const text = renderTable([line, missed, compared].map((line) => ({ id: 'P1', line })))
    const rows = text.split('\n')
    assert.deepEqual(
      rows.slice(2, 5).map((row) => row.split(/ {2,}/).at(-1)),
      ['yes', 'NO', '-'],
    )
    assert.equal(new Set(rows.slice(2, 5).map((row) => row.indexOf('200/s'))).size, 1)
  })

  it('formats numbers with their significant digits', () => {
    assert.deepEqual(
      [
        perSecond(12_345.6),
        perSecond(45.61),
        milliseconds(0.554),
        milliseconds(247.4),
        milliseconds(12_300),
        times(0.623),
        times(123.4),
      ],
      ['12,346/s', '45.6/s', '0.55 ms', '247 ms', '12.3 s', '0.62x', '123x'],
    )
  })
})
