import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMetrics, watchPool } from './metrics.ts'

test('every name begins with pharos_ and has a unit or says total, as Prometheus recommends', async () => {
  const { registry } = createMetrics()
  for (const { name, help, type } of await registry.getMetricsAsJSON()) {
    assert.match(name, /^pharos_[a-z_]+$/)
    assert.ok(help.endsWith('.'), name)
    if (String(type) === 'counter') assert.match(name, /_total$/)
    if (String(type) === 'histogram') assert.match(name, /_seconds$/)
  }
})

test('the pool is read at the moment in which the metrics are asked for', async () => {
  const metrics = createMetrics()
  const pool = { totalCount: 3, idleCount: 1, waitingCount: 0 }
  watchPool(metrics, pool)
  pool.waitingCount = 5
  const text = await metrics.registry.metrics()
  assert.match(text, /pool_connections\{state="in_use"\} 2/)
  assert.match(text, /pool_connections\{state="waiting"\} 5/)
})

test('two sets of metrics in one process are apart', async () => {
  const [one, two] = [createMetrics(), createMetrics()]
  one.routes.set({ region: 'ams', state: 'desired' }, 7)
  assert.doesNotMatch(await two.registry.metrics(), /ams/)
})
