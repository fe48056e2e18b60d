import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { mergeTimes } from './merge-times.ts'

describe('series of different times', () => {
  it('have one axis: a gap stays one, and a time of another series is none', () => {
    assert.deepEqual(
      mergeTimes([
        { times: [0, 60], values: [1, null] },
        { times: [10, 60], values: [5, 6] },
      ]),
      {
        times: [0, 10, 60],
        columns: [
          [1, undefined, null],
          [undefined, 5, 6],
        ],
      },
    )
    assert.deepEqual(mergeTimes([]), { times: [], columns: [] })
  })
})
