import assert from 'node:assert/strict'
import { it } from 'node:test'
import { plainAddress } from './client-address.ts'

it('is an address without what a socket adds', () => {
  const addresses = {
    '192.0.2.1': '192.0.2.1',
    '::ffff:192.0.2.1': '192.0.2.1',
    '::FFFF:192.0.2.1': '192.0.2.1',
    '2001:db8::1': '2001:db8::1',
    'fe80::1%eth0': 'fe80::1',
    '::1': '::1',
  }
  for (const [address, plain] of Object.entries(addresses)) assert.equal(plainAddress(address), plain)
})
