import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMetrics, readOnCollect } from './metrics.ts'

test('every name begins with pharos_ and has a unit or ends in total, as Prometheus recommends', async () => {
  const { registry } = createMetrics()
  for (const { name, help, type } of await registry.getMetricsAsJSON()) {
    assert.match(name, /^pharos_[a-z_]+$/)
    assert.ok(help.endsWith('.'), name)
    if (String(type) === 'counter') assert.match(name, /_total$/)
    if (String(type) === 'histogram') assert.match(name, /_seconds$/)
  }
})

test('a gauge is read when the metrics are requested', async () => {
  const metrics = createMetrics()
  let waiting = 1
  readOnCollect(metrics.passwordHashesWaiting, async () => {
    await Promise.resolve()
    metrics.passwordHashesWaiting.set(waiting)
  })
  waiting = 5
  assert.match(await metrics.registry.metrics(), /pharos_password_hashes_waiting 5/)
})

test('two sets of metrics in one process are separate', async () => {
  const [one, two] = [createMetrics(), createMetrics()]
  one.routes.set({ region: 'ams', state: 'desired' }, 7)
  assert.doesNotMatch(await two.registry.metrics(), /"ams"/)
})
