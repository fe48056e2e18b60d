import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createThreadPool } from './thread-pool.ts'
import { ThreadLimitError } from './thread.ts'

test('a job beyond its time or memory is ended, and the next one is answered', async () => {
  const script = new URL('testing-pool-thread.ts', import.meta.url)
  const run = createThreadPool<string, string>(script, 1, 10, { timeoutMs: 300, heapMib: 32 })
  const [answer, loop, memory, next] = await Promise.allSettled(
    ['answer', 'loop', 'memory', 'answer'].map(run),
  )
  assert.deepEqual(
    [answer, next].map((one) => one!.status),
    ['fulfilled', 'fulfilled'],
  )
  for (const one of [loop!, memory!])
    assert.ok(one.status === 'rejected' && one.reason instanceof ThreadLimitError)
})
