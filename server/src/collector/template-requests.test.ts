import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createTemplateRequests } from './template-requests.ts'

it('templates that are asked for during a query are found by the next one', async () => {
  const queries: number[][] = []
  let finish = (): void => {}
  const request = createTemplateRequests((keys) => {
    queries.push(keys.map(({ id }) => id))
    return new Promise((resolve) => (finish = resolve))
  })
  const ask = (id: number) => request({ exporter: '192.0.2.1', version: 10, domain: 1, id })
  for (let id = 1; id <= 3; id++) ask(id)
  finish()
  await setImmediate()
  finish()
  await setImmediate()
  for (let id = 4; id < 20_000; id++) ask(id)
  finish()
  await setImmediate()
  assert.deepEqual([queries.slice(0, 3), queries.length, queries[3]!.length], [[[1], [2, 3], [4]], 4, 10_000])
})
