import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isNear, joinCursor, shareCursor } from './shared-cursor.ts'

describe('the cursor of several charts', () => {
  it('is shown by the others that have the time and a similar range, and leaves them again', () => {
    const shown: string[] = []
    const chart = (name: string, from: number, to: number) => ({
      visibleRange: () => [from, to] as const,
      follow: (time: number | undefined) => void shown.push(`${name} ${time}`),
    })
    const own = chart('own', 0, 100)
    const leave = [own, chart('same', 20, 120), chart('year', 0, 10_000), chart('later', 60, 160)].map(
      joinCursor,
    )
    shareCursor(own, 50)
    assert.deepEqual(shown.splice(0), ['same 50', 'year undefined', 'later undefined'])
    shareCursor(own, undefined)
    assert.deepEqual(shown.splice(0), ['same undefined', 'year undefined', 'later undefined'])
    for (const one of leave) one()
    shareCursor(own, 50)
    assert.deepEqual(shown, [])
    assert.equal(isNear([0, 100], [0, 400], 100), true)
    assert.equal(isNear([0, 100], [0, 401], 100), false)
  })
})
