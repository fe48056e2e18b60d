// Patterns of PTR templates, and the holders of addresses. Pure.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseAddress } from '../../net/address.ts'
import { parsePrefix } from '../../net/prefix.ts'
import { Failure } from '../../runtime/error.ts'
import { createHolders } from './holder.ts'
import { countRecordAddresses, parsePattern } from './template.ts'

const nameAt = (pattern: string, network: string, place: number) =>
  parsePattern(['x'], pattern, parsePrefix(network)).nameAt(place)

describe('a pattern', () => {
  it('has placeholders for the address and its place', () => {
    assert.equal(nameAt('{ip-dashed}.cust.example.net', '203.0.113.0/24', 7), '203-0-113-7.cust.example.net.')
    assert.equal(nameAt('{d}.{c}.{b}.{a}.example.net', '203.0.113.0/24', 7), '7.113.0.203.example.net.')
    assert.equal(nameAt('host{n}.example.net.', '203.0.112.0/23', 300), 'host300.example.net.')
    assert.equal(
      nameAt('{ip-full}.example.net', '2001:db8::/112', 1),
      '20010db8000000000000000000000001.example.net.',
    )
    assert.equal(nameAt('{ip-dashed}.example.net', '2001:db8::/112', 0), '2001-db8--0.example.net.')
  })

  it('is rejected with the reason', () => {
    const rows: [pattern: string, network: string, type: string][] = [
      ['{x}.example.net', '203.0.113.0/24', 'pattern'],
      ['{a.example.net', '203.0.113.0/24', 'pattern'],
      ['{a}.example.net', '2001:db8::/112', 'pattern'],
      ['{n}', '203.0.113.0/24', 'pattern'],
      ['a..b', '203.0.113.0/24', 'pattern'],
      ['{n}.example.net', '10.0.0.0/15', 'template_too_wide'],
      ['{n}.example.net', '2001:db8::/111', 'template_too_wide'],
    ]
    for (const [pattern, network, type] of rows)
      assert.throws(
        () => parsePattern(['x'], pattern, parsePrefix(network)),
        (error) => error instanceof Failure && error.errors?.[0]?.type === type,
        pattern,
      )
  })

  it('of a wide IPv6 network is one record', () => {
    assert.equal(countRecordAddresses(parsePrefix('2001:db8::/48')), 1)
    assert.equal(countRecordAddresses(parsePrefix('2001:db8::/112')), 65_536)
    assert.equal(countRecordAddresses(parsePrefix('203.0.113.0/30')), 4)
  })
})

describe('the holder of an address', () => {
  const holders = createHolders(1, [
    { teamId: 1, prefix: parsePrefix('203.0.112.0/22') },
    { teamId: 2, prefix: parsePrefix('203.0.113.64/28') },
    { teamId: 2, prefix: parsePrefix('198.51.100.0/24') },
    { teamId: 1, prefix: parsePrefix('198.51.100.0/24') },
  ])

  it('is the most specific one, or each of those with the same network', () => {
    assert.equal(holders.findHolding(parseAddress('203.0.113.1')), '203.0.112.0/22')
    assert.equal(holders.findHolding(parseAddress('203.0.113.65')), undefined)
    assert.equal(holders.findHolding(parseAddress('198.51.100.1')), '198.51.100.0/24')
    assert.equal(holders.findHolding(parseAddress('192.0.2.1')), undefined)
  })

  it('of a whole network is nobody if another team holds a part', () => {
    assert.equal(holders.findHoldingOf(parsePrefix('203.0.113.0/24')), undefined)
    assert.equal(holders.findHoldingOf(parsePrefix('203.0.112.0/24')), '203.0.112.0/22')
  })
})
