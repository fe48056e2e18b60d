import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseNetwork } from './parse-network.ts'

describe('an address or CIDR that a user types', () => {
  const meant: readonly [string, string][] = [
    ['203.0.113.7', '203.0.113.7'],
    [' 203.0.113.0/24 ', '203.0.113.0/24'],
    ['203.0.113.7/24', '203.0.113.0/24'],
    ['255.255.255.255/0', '0.0.0.0/0'],
    ['2001:DB8::1', '2001:db8::1'],
    ['2001:db8:0:0::1/32', '2001:db8::/32'],
    ['2001:db8:ffff::/33', '2001:db8:8000::/33'],
    ['::/0', '::/0'],
    ['::ffff:192.0.2.1/128', '::ffff:c000:201/128'],
  ]
  for (const [typed, network] of meant)
    it(`is ${network} from ${JSON.stringify(typed)}`, () => assert.equal(parseNetwork(typed), network))

  const unfinished = [
    '',
    '203',
    '203.0.113',
    '203.0.113.',
    '203.0.113.256',
    '203.0.113.07',
    '203.0.113.0/',
    '203.0.113.0/33',
    '203.0.113.0/24/24',
    '2001:',
    '2001:db8',
    '2001:db8::/129',
    'fe80::1%eth0',
    '::1]/x',
    'web',
  ]
  for (const typed of unfinished)
    it(`is not parsed from ${JSON.stringify(typed)}`, () => assert.equal(parseNetwork(typed), undefined))
})
