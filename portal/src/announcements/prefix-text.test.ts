import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { networkOf } from './prefix-text.ts'

describe('what is typed to find a prefix', () => {
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
    it(`is ${network} for ${JSON.stringify(typed)}`, () => assert.equal(networkOf(typed), network))

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
    it(`is nothing yet for ${JSON.stringify(typed)}`, () => assert.equal(networkOf(typed), undefined))
})
