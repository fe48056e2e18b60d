import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLoopback } from './loopback.ts'

test('loopback addresses are recognized', () => {
  for (const host of ['127.0.0.1', '127.8.8.8', '::1', '0:0:0:0:0:0:0:1', 'localhost'])
    assert.ok(isLoopback(host), host)
  for (const host of ['0.0.0.0', '::', '192.0.2.1', '127.evil.example', '::ffff:192.0.2.1', '']) {
    assert.ok(!isLoopback(host), host)
  }
})
