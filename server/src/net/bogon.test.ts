import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bogonOf } from './bogon.ts'
import { parsePrefix } from './prefix.ts'

function blockOf(text: string): string | undefined {
  return bogonOf(parsePrefix(text))?.block
}

describe('bogonOf', () => {
  for (const [text, block] of [
    ['10.1.0.0/16', '10.0.0.0/8'],
    ['100.127.255.0/24', '100.64.0.0/10'],
    ['172.31.0.0/16', '172.16.0.0/12'],
    ['192.168.4.0/24', '192.168.0.0/16'],
    ['192.0.0.8/32', '192.0.0.0/24'],
    ['198.19.0.0/16', '198.18.0.0/15'],
    ['224.0.0.0/4', '224.0.0.0/4'],
    ['250.0.0.0/8', '240.0.0.0/4'],
    ['255.255.255.255/32', '255.255.255.255/32'],
    ['fd00:1::/48', 'fc00::/7'],
    ['fe80::/64', 'fe80::/10'],
    ['ff02::1/128', 'ff00::/8'],
    ['::1/128', '::1/128'],
    ['2001:0:1::/48', '2001::/32'],
    ['2001:1::/32', '2001::/23'],
    ['2002:c000:201::/48', '2002::/16'],
    ['1234::/16', '::/3'],
    ['4567::/16', '4000::/2'],
    ['9000::/16', '8000::/1'],
  ] as const) {
    it(`places ${text} in ${block}`, () => assert.equal(blockOf(text), block))
  }

  it('distinguishes documentation space from the rest', () => {
    for (const text of [
      '203.0.113.0/24',
      '192.0.2.128/25',
      '198.51.100.7/32',
      '2001:db8:1::/48',
      '3fff:1::/32',
    ]) {
      assert.equal(bogonOf(parsePrefix(text))?.documentation, true, text)
    }
    for (const text of ['10.0.0.0/8', 'fc00::/7', '224.0.0.0/4']) {
      assert.equal(bogonOf(parsePrefix(text))?.documentation, false, text)
    }
  })

  it('finds a block inside the prefix, and does not mark such a prefix as documentation', () => {
    assert.deepEqual(bogonOf(parsePrefix('203.0.112.0/23')), {
      name: 'documentation, TEST-NET-3 (RFC 5737)',
      block: '203.0.113.0/24',
      documentation: false,
    })
    assert.equal(bogonOf(parsePrefix('2001:db0::/28'))?.documentation, false)
    assert.equal(bogonOf(parsePrefix('0.0.0.0/0'))?.documentation, false)
    assert.equal(bogonOf(parsePrefix('::/0'))?.documentation, false)
  })

  it('returns none for the space of networks, even adjacent to a block', () => {
    const fine = [
      '8.8.8.0/24',
      '1.0.0.0/24',
      '9.0.0.0/8',
      '11.0.0.0/8',
      '203.0.112.0/24',
      '223.255.255.0/24',
      '172.32.0.0/12',
    ]
    const fine6 = [
      '2001:200::/32',
      '2001:db7::/32',
      '2001:db9::/32',
      '2a00::/12',
      '2003::/19',
      '3fff:1000::/20',
    ]
    for (const text of [...fine, ...fine6]) assert.equal(blockOf(text), undefined, text)
  })

  it('returns none for shared blocks that networks announce', () => {
    for (const text of [
      '192.31.196.0/24',
      '192.175.48.0/24',
      '2001:4:112::/48',
      '2001:3::/32',
      '2620:4f:8000::/48',
    ]) {
      assert.equal(blockOf(text), undefined, text)
    }
  })
})
