import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parsePrefix } from './prefix.ts'
import { isWithin, objectionToAddress } from './public-address.ts'

describe('an allowed target address of customers', () => {
  it('is one of the public internet', () => {
    for (const address of ['1.1.1.1', '93.184.215.14', '168.63.129.17', '2606:4700::1111', '2a00:1450::1'])
      assert.equal(objectionToAddress(address), undefined, address)
  })

  it('is not an address of this machine, a private network, a cloud or a translator', () => {
    const addresses = (
      '0.0.0.0 10.0.0.1 100.64.0.1 100.100.100.200 127.0.0.1 127.255.255.254 169.254.169.254 ' +
      '172.16.0.1 172.31.255.255 192.0.0.192 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 ' +
      '198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 ' +
      '168.63.129.16 :: ::1 ::7f00:1 64:ff9b::7f00:1 64:ff9b:1::1 100::1 2001::1 2001:db8::1 ' +
      '2002:7f00:1:: fc00::1 fd00:ec2::254 fe80::1 fec0::1 ff02::1 3fff::1 4000::1'
    ).split(' ')
    for (const address of addresses) assert.ok(objectionToAddress(address), address)
  })

  it('is not in another spelling than the canonical one', () => {
    for (const text of [
      '',
      '::ffff:1.1.1.1',
      '::ffff:101:101',
      'fe80::1%eth0',
      '1.1.1',
      '01.1.1.1',
      '1.1.1.1/32',
    ])
      assert.ok(objectionToAddress(text), text)
  })
})

describe('an address within networks', () => {
  it('is covered by one of them', () => {
    const networks = [parsePrefix('127.0.0.0/8'), parsePrefix('fd00::/8')]
    assert.ok(isWithin('127.3.2.1', networks))
    assert.ok(isWithin('fd12::1', networks))
    for (const text of ['128.0.0.1', 'fe80::1', '::ffff:127.0.0.1', 'localhost', ''])
      assert.equal(isWithin(text, networks), false, text)
    assert.equal(isWithin('127.0.0.1', []), false)
  })
})
