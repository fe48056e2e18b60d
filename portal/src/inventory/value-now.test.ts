import assert from 'node:assert/strict'
import { it } from 'node:test'
import { valueNow } from './value-now.ts'

const timesOf = (stepMinutes: number) =>
  Array.from({ length: 4 }, (_, at) => new Date(at * stepMinutes * 60_000).toISOString())
const nowOf = (stepMinutes: number, values: (number | null)[], endMinute: number) =>
  valueNow(
    { timestamps: timesOf(stepMinutes), end: new Date(endMinute * 60_000).toISOString() },
    { last: 7, values },
  )

it('is the last value only while it is one of now', () => {
  assert.equal(nowOf(5, [1, 2, 3, 7], 20), 7)
  assert.equal(nowOf(5, [1, 2, 7, null], 22), 7)
  assert.equal(nowOf(5, [1, 7, null, null], 20), null)
  // An hour of a month: the point began an hour ago.
  assert.equal(nowOf(60, [1, 2, 3, 7], 240), 7)
  assert.equal(nowOf(60, [1, 2, 7, null], 240), null)
  assert.equal(nowOf(5, [null, null, null, null], 20), null)
})
