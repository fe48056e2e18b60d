import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ClientLimiter } from './client-limiter.ts'
import { Failure } from './error.ts'

const setUp = () => {
  const clock = { now: 0 }
  const limiter = new ClientLimiter({ perSecond: 1, burst: 2 }, () => clock.now)
  const admits = (address: string): boolean => {
    try {
      limiter.take(address)
      return true
    } catch (error) {
      assert.ok(error instanceof Failure && error.code === 'rate_limited')
      return false
    }
  }
  return { clock, admits }
}

describe('the limit of a client', () => {
  it('is that of all addresses that one subscriber can use', () => {
    const groups = [
      ['192.0.2.1', '::ffff:192.0.2.1'],
      ['2001:db8:0:1::1', '2001:db8:0:1:ffff:ffff:ffff:ffff'],
      ['fe80::1%eth0', 'fe80::2%eth1'],
    ]
    const { admits } = setUp()
    for (const [one, other] of groups) {
      assert.deepEqual(
        [admits(one!), admits(other!), admits(one!), admits(other!)],
        [true, true, false, false],
      )
    }
    assert.ok(admits('192.0.2.2'))
    assert.ok(admits('2001:db8:0:2::1'))
  })

  it('is 16 times as high for all networks of a /48 together, and ends with time', () => {
    const { clock, admits } = setUp()
    const addresses = Array.from({ length: 1_000 }, (_, at) => `2001:db8:1:${at.toString(16)}::1`)
    assert.equal(addresses.filter(admits).length, 32)
    assert.ok(admits('2001:db8:2::1'), 'another site')
    clock.now = 1_000
    assert.equal(addresses.filter(admits).length, 16)
  })

  it('is not reached by a site because one of its networks is over its own', () => {
    const { admits } = setUp()
    for (let at = 0; at < 1_000; at++) admits('2001:db8:1:1::1')
    assert.ok(admits('2001:db8:1:2::1'))
  })
})
