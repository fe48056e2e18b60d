import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestFlowStore } from '../drivers/clickhouse/testing.ts'
import { readSharedFlows } from './shared-flows.ts'
import { insertFlows, testFlow } from './testing.ts'

test('flows that several exporters sent are counted by pair, of the exporter with fewer flows', async () => {
  await using store = await createTestFlowStore()
  const start = new Date('2026-03-14T12:00:00Z')
  assert.deepEqual(await readSharedFlows(store, start), { tuples: 0, shared: 0, pairs: [] })
  const sent = (exporterId: number, ...ports: readonly number[]) =>
    ports.map((srcPort) => testFlow({ exporterId, srcPort, time: start }))
  await insertFlows(store, [
    ...sent(7, 1, 2, 3, 4, 4),
    ...sent(5, 3, 4),
    ...sent(9, 4),
    testFlow({ exporterId: 5, srcPort: 1, time: start, isPrimary: false }),
    testFlow({ exporterId: 5, srcPort: 1, time: new Date(start.getTime() + 60_000) }),
  ])
  assert.deepEqual(await readSharedFlows(store, start), {
    tuples: 4,
    shared: 2,
    pairs: [
      { a: 5, b: 7, shared: 2, of: 2 },
      { a: 5, b: 9, shared: 1, of: 1 },
      { a: 7, b: 9, shared: 1, of: 1 },
    ],
  })
})
