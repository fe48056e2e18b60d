import assert from 'node:assert/strict'
import { test } from 'node:test'
import { retentionOf } from './retention.ts'
import { createTestFlowStore } from './testing.ts'

test('every table has a time to live and a window for tokens', async () => {
  await using store = await createTestFlowStore({ flowDays: 7, rollupDays: 70 })
  const tables = await store.query<{ name: string; definition: string }>(
    `select name, engine_full as definition from system.tables
    where database = currentDatabase() and engine like '%MergeTree' and name != 'migrations' order by name`,
    {},
  )
  assert.deepEqual(
    tables.map(({ name }) => name),
    Object.keys(retentionOf).sort(),
  )
  for (const { name, definition } of tables) {
    const days = { flowDays: 7, rollupDays: 70 }[retentionOf[name]!]
    assert.ok(definition.includes(`TTL time + toIntervalDay(${days}) `), name)
    assert.ok(definition.includes('non_replicated_deduplication_window = 1000'), name)
  }
})
