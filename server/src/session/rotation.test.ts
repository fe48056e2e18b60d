import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gracePeriodMs, isSameNetwork, judgeRefresh, lateRepeatMs, type Rotation } from './rotation.ts'

const now = new Date('2026-01-31T12:00:00Z')
const ago = (ms: number) => new Date(now.getTime() - ms)

const client = { address: '192.0.2.7', userAgent: 'browser' }
const stranger = { address: '203.0.113.9', userAgent: 'script' }

const session: Rotation = {
  counter: 5,
  rotations: [],
  renewedUntil: [],
  lastAddress: client.address,
  lastUserAgent: client.userAgent,
}
const judge = (known: Partial<Rotation>, presented: number, from = client) =>
  judgeRefresh({ ...session, ...known }, presented, from, now)

const reuse = { kind: 'reuse' }

describe('a presented refresh token', () => {
  it('is rotated if it is the newest, from any client', () => {
    assert.deepEqual(judge({}, 5, stranger), { kind: 'rotate' })
  })

  it('gets its own successor for 30 s, from any client, even if later tokens were issued', () => {
    const rotations = [ago(gracePeriodMs), ago(9), ago(3)]
    for (const from of [client, stranger]) {
      assert.deepEqual(judge({ rotations }, 3, from), {
        kind: 'repeat',
        successor: 4,
        renew: false,
        late: false,
      })
      assert.deepEqual(judge({ rotations }, 2, from), {
        kind: 'repeat',
        successor: 3,
        renew: false,
        late: false,
      })
    }
  })

  it('ends the session if it was rotated more than 30 s ago and its successor was presented', () => {
    assert.deepEqual(judge({ rotations: [ago(gracePeriodMs + 1), ago(3)] }, 3), reuse)
    assert.deepEqual(judge({ rotations: [ago(1)] }, 2), reuse)
  })

  it('ends the session if it was never issued', () => {
    assert.deepEqual(judge({}, 6), reuse)
  })
})

describe('the parent of the newest token', () => {
  it('gets its successor again for 10 minutes, marked late from 30 s on', () => {
    const repeat = { kind: 'repeat', successor: 5, renew: true }
    assert.deepEqual(judge({ rotations: [ago(gracePeriodMs)] }, 4), { ...repeat, late: false })
    assert.deepEqual(judge({ rotations: [ago(gracePeriodMs + 1)] }, 4), { ...repeat, late: true })
    assert.deepEqual(judge({ rotations: [ago(lateRepeatMs - gracePeriodMs)] }, 4), { ...repeat, late: true })
    assert.deepEqual(judge({ rotations: [ago(lateRepeatMs + 1)] }, 4), reuse)
    assert.deepEqual(judge({ rotations: [] }, 4), reuse)
  })

  it('is accepted late only from the network or the user agent of the last refresh', () => {
    const rotations = [ago(gracePeriodMs + 1)]
    const kindOf = (from: typeof client, known: Partial<Rotation> = {}) =>
      judge({ rotations, ...known }, 4, from).kind
    assert.equal(kindOf({ ...stranger, address: '192.0.2.250' }), 'repeat')
    assert.equal(kindOf({ ...stranger, userAgent: 'browser' }), 'repeat')
    assert.equal(kindOf(stranger), 'reuse')
    assert.equal(kindOf(client, { lastAddress: null, lastUserAgent: null }), 'reuse')
    assert.equal(
      kindOf({ ...stranger, userAgent: '' }, { lastUserAgent: '' }),
      'reuse',
      'no client is identified',
    )
  })

  it('has its 30 s renewed once by concurrent requests', () => {
    const fresh = { rotations: [ago(1_000)] }
    assert.deepEqual(judge(fresh, 4), { kind: 'repeat', successor: 5, renew: false, late: false })
    const renewed = { rotations: [ago(60_000)], renewedUntil: [ago(1_000 - gracePeriodMs)] }
    assert.deepEqual(judge(renewed, 4), { kind: 'repeat', successor: 5, renew: false, late: true })
  })

  it('is accepted within renewed 30 s after its successor was presented, and not later', () => {
    const renewedUntil = (until: Date) => ({
      counter: 6,
      rotations: [ago(60_000), ago(3)],
      renewedUntil: [until, null],
    })
    const repeat = { kind: 'repeat', successor: 5, renew: false, late: true }
    assert.deepEqual(judge(renewedUntil(ago(0)), 4), repeat)
    assert.deepEqual(judge(renewedUntil(ago(1)), 4), reuse)
    assert.deepEqual(judge(renewedUntil(ago(0)), 4, stranger), reuse)
  })
})

describe('the same network', () => {
  const cases: readonly [string, string, boolean][] = [
    ['192.0.2.0', '192.0.2.255', true],
    ['192.0.2.255', '192.0.3.0', false],
    ['::ffff:192.0.2.1', '192.0.2.9', true],
    ['2001:db8:1::1', '2001:db8:1:ffff::1', true],
    ['2001:db8:1::1', '2001:db8:2::1', false],
    ['192.0.2.1', '2001:db8::1', false],
    ['', '', false],
    ['unix', 'unix', false],
  ]
  for (const [one, other, same] of cases) {
    it(`is ${same ? '' : 'not '}that of ${one || 'nothing'} and ${other || 'nothing'}`, () => {
      assert.equal(isSameNetwork(one, other), same)
    })
  }
})
