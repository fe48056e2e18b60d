import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMessageCache } from './message-cache.ts'

test('a message is kept for a minute, also if there is none', () => {
  let now = 0
  const cache = createMessageCache(() => now)
  assert.equal(cache.find('1 a'), undefined)
  cache.save('1 a', '{"bps":1}')
  cache.save('1 b', null)
  now = 59_999
  assert.deepEqual([cache.find('1 a'), cache.find('1 b')], ['{"bps":1}', null])
  now = 60_000
  assert.deepEqual([cache.find('1 a'), cache.find('1 b')], [undefined, undefined])
})

test('the oldest messages are evicted above 16 MiB', () => {
  const cache = createMessageCache()
  const message = 'x'.repeat(1024 * 1024)
  for (let n = 0; n < 16; n++) cache.save(`${n}`, message)
  assert.equal(cache.find('0'), undefined)
  assert.equal(cache.find('1'), message)
  cache.save('1', message)
  cache.save('16', message)
  assert.equal(cache.find('1'), message, 'it was saved again')
  assert.equal(cache.find('2'), undefined)
})
