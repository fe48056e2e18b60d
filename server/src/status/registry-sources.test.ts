// The registry sources for staff: the worst state of all processes, and `unknown` if no process reports it.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { mergeReports } from './registry-sources.ts'

const seen = (second: number) => new Date(Date.UTC(2026, 3, 1, 9, 0, second))
const irr = { kind: 'irr', name: 'whois://a' } as const

it('a source is as bad as the worst report, with the newest answer and error', () => {
  const [source] = mergeReports(
    [irr],
    [
      {
        ...irr,
        ok: true,
        answered: '2026-04-01T08:59:00.000Z',
        state: 'up',
        error: null,
        serial: '7',
        seen: seen(1),
      },
      { ...irr, ok: false, answered: null, state: 'down', error: 'timeout', serial: null, seen: seen(2) },
    ],
  )
  assert.deepEqual(source, {
    ...irr,
    state: 'down',
    last_answer: '2026-04-01T08:59:00.000Z',
    last_error: 'timeout',
    records: null,
    serial: '7',
    processes: 2,
    reported: seen(2).toISOString(),
  })
})

it('a configured source that no process reports is unknown', () => {
  const [source] = mergeReports([irr], [])
  assert.deepEqual([source!.state, source!.reported, source!.processes], ['unknown', null, 0])
})

it('a report of an older version is up or down', () => {
  const report = { ...irr, answered: null, seen: seen(1) }
  assert.equal(mergeReports([], [{ ...report, ok: true }])[0]!.state, 'up')
  assert.equal(mergeReports([], [{ ...report, ok: false }])[0]!.state, 'down')
})
