import assert from 'node:assert/strict'
import { it } from 'node:test'
import { networkText } from './network-text.ts'

it('a host has no length, a prefix keeps it, and an unknown network is said to be unknown', () => {
  assert.deepEqual(
    ['203.0.113.7/32', '2001:db8::1/128', '2001:db8::/32', '203.0.113.0/24', ''].map(networkText),
    ['203.0.113.7', '2001:db8::1', '2001:db8::/32', '203.0.113.0/24', 'Unknown network'],
  )
})
