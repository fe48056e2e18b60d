import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { axisTimes } from './time-axis.ts'

const at = (text: string) => Date.parse(text)
const hourMs = 3_600_000

describe('the labels of a time axis', () => {
  it('name the day at the first label and at each new day, in the zone of the page', () => {
    const times = [at('2026-03-01T22:00:00Z'), at('2026-03-01T23:00:00Z'), at('2026-03-02T00:00:00Z')]
    assert.deepEqual(axisTimes(times, hourMs, 'UTC'), ['22:00\n1 Mar', '23:00', '00:00\n2 Mar'])
    assert.deepEqual(axisTimes(times, hourMs, 'Europe/Amsterdam'), ['23:00\n1 Mar', '00:00\n2 Mar', '01:00'])
  })

  it('have seconds if the steps are shorter than a minute, and no time of day if they are days', () => {
    const start = at('2026-03-01T12:00:00Z')
    assert.deepEqual(axisTimes([start, start + 15_000], 15_000, 'UTC'), ['12:00:00\n1 Mar', '12:00:15'])
    assert.deepEqual(axisTimes([start, start + 48 * hourMs], 48 * hourMs, 'UTC'), ['1 Mar', '3 Mar'])
  })

  it('are months if the steps are, with the year at the first and at each new year', () => {
    const months = ['2025-11-01', '2025-12-01', '2026-01-01', '2026-02-01'].map(at)
    assert.deepEqual(axisTimes(months, 28 * 24 * hourMs, 'UTC'), ['Nov\n2025', 'Dec', 'Jan\n2026', 'Feb'])
  })
})
