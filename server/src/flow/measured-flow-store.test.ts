import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import type { FlowStore } from './flow-store.ts'
import { DriverError, QueryTooExpensive } from '../runtime/driver-error.ts'
import { createMetrics } from '../runtime/metrics.ts'
import { withMetrics } from './measured-flow-store.ts'

/** A store whose next call fails with `error`, if set. */
function createStore() {
  const state: { error: Error | undefined; queries: number } = { error: undefined, queries: 0 }
  const answer = <T>(value: T): Promise<T> =>
    state.error ? Promise.reject(state.error) : Promise.resolve(value)
  const store: FlowStore = {
    probe: () => answer({ version: '1', embedded: true }),
    insert: () => answer(undefined),
    query: <T>() => {
      state.queries++
      return answer([{ table: 'flows', bytes: 5, rows: 2 }] as T[])
    },
    command: () => answer(undefined),
    close: () => Promise.resolve(),
  }
  return { state, store }
}

test('reports whether the store answers, and logs each change once', async () => {
  const { state, store } = createStore()
  const lines: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line).msg) })
  const observed = withMetrics(store, 'server', log, createMetrics())
  assert.deepEqual(observed.report(), { state: 'unused', kind: 'server', error: null, since: null })
  await observed.query('select 1', {})
  assert.equal(observed.report().state, 'up')
  state.error = new DriverError('unreachable', 'no answer')
  for (let time = 0; time < 3; time++) await assert.rejects(observed.query('select 1', {}))
  assert.deepEqual([observed.report().state, observed.report().error], ['down', 'no answer'])
  state.error = undefined
  await observed.insert('flows', new Uint8Array(), 'token')
  assert.equal(observed.report().state, 'up')
  assert.deepEqual(lines, ['flow store unavailable', 'flow store available again'])
})

test('a query that is too expensive or refused is no failure of the store', async () => {
  const { state, store } = createStore()
  const observed = withMetrics(store, 'server', pino({ level: 'silent' }), createMetrics())
  await observed.query('select 1', {})
  for (const error of [new QueryTooExpensive('memory'), new DriverError('refused', 'syntax')]) {
    state.error = error
    await assert.rejects(observed.query('select 1', {}), error)
    assert.equal(observed.report().state, 'up')
  }
})

test('measures calls by result; a scrape asks a store only once it is in use', async () => {
  const { state, store } = createStore()
  const [unused, metrics] = [createMetrics(), createMetrics()]
  withMetrics(store, 'embedded', pino({ level: 'silent' }), unused)
  const observed = withMetrics(store, 'embedded', pino({ level: 'silent' }), metrics)
  const before = await unused.registry.metrics()
  assert.equal(state.queries, 0)
  assert.doesNotMatch(before, /^pharos_flow_store_(up|disk_bytes)[ {]/m)
  await observed.query('select 1', {})
  state.error = new QueryTooExpensive('memory')
  await assert.rejects(observed.query('select 1', {}))
  state.error = undefined
  const after = await metrics.registry.metrics()
  assert.match(after, /^pharos_flow_store_up 1$/m)
  assert.match(after, /^pharos_flow_store_disk_bytes\{table="flows"\} 5$/m)
  assert.match(after, /^pharos_flow_store_rows\{table="flows"\} 2$/m)
  assert.match(after, /^pharos_flow_store_duration_seconds_count\{operation="query",result="ok"\} 1$/m)
  assert.match(
    after,
    /^pharos_flow_store_duration_seconds_count\{operation="query",result="too_expensive"\} 1$/m,
  )
})
