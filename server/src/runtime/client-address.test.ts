import assert from 'node:assert/strict'
import { it } from 'node:test'
import { clientKey } from './client-address.ts'

it('is the same for all addresses that one subscriber can use', () => {
  const keys = {
    '192.0.2.1': '192.0.2.1',
    '::ffff:192.0.2.1': '192.0.2.1',
    '2001:db8:0:1::1': '2001:db8:0:1::/64',
    '2001:db8:0:1:ffff:ffff:ffff:ffff': '2001:db8:0:1::/64',
    '2001:db8:0:2::1': '2001:db8:0:2::/64',
    'fe80::1%eth0': 'fe80::/64',
    '::1': '::/64',
  }
  for (const [address, key] of Object.entries(keys)) assert.equal(clientKey(address), key)
})
