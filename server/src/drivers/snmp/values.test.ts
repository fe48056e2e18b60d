// The rules that turn values of a device into ours.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { findCredentialProblem, type SnmpCredential } from './credential.ts'
import { sensorValue } from './health.ts'
import { uptimeMs } from './identify.ts'
import { speedBps } from './interfaces.ts'
import { entPhySensor } from './oids.ts'
import { toCounter, toText } from './value.ts'
import { compareOidTexts } from './walk.ts'

describe('values of SNMP', () => {
  it('reads a Counter64 of 1 to 9 octets, and nothing else, as a counter', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.nat(8), (value, zeros) => {
        const hex = value.toString(16)
        const octets = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
        const padded = Buffer.concat([Buffer.alloc(Math.min(zeros, 9 - octets.length)), octets])
        assert.equal(toCounter({ type: 70, value: padded }), value)
      }),
    )
    const invalid = [Buffer.alloc(0), Buffer.alloc(10), Buffer.alloc(9, 1), null, 'text', 7]
    for (const value of invalid) assert.equal(toCounter({ type: 70, value }), null)
    assert.equal(toCounter({ type: 65, value: 4_294_967_295 }), 4_294_967_295n)
    assert.equal(toCounter({ type: 2, value: 5 }), null)
  })

  it('reads texts without control characters, in UTF-8 or Latin-1', () => {
    const read = (value: Uint8Array) => toText({ type: 4, value })
    assert.equal(read(Buffer.from(' uplink\r\n\0A ')), 'uplink A')
    assert.equal(read(Buffer.from('Zürich')), 'Zürich')
    assert.equal(read(Buffer.from([0x5a, 0xfc, 0x72])), 'Zür')
    assert.equal(read(Buffer.from('\0\0')), null)
    assert.equal(toText({ type: 4, value: null }), null)
  })

  it('compares OIDs by their numbers', () => {
    const oid = fc.array(fc.nat(2 ** 32 - 1), { minLength: 1, maxLength: 6 })
    const byNumbers = (one: readonly number[], other: readonly number[]): number => {
      const at = one.findIndex((part, index) => part !== other[index])
      if (at < 0) return one.length - other.length
      return at >= other.length ? 1 : one[at]! - other[at]!
    }
    fc.assert(
      fc.property(oid, oid, (one, other) => {
        const order = compareOidTexts(one.join('.'), other.join('.'))
        assert.equal(Math.sign(order), Math.sign(byNumbers(one, other)))
      }),
    )
  })

  it('takes the speed from the object that is right', () => {
    for (const [speed, highSpeed, expected] of [
      [1_544_000, 2, 1_544_000],
      [64_000, 0, 64_000],
      [4_294_967_295, 100_000, 100e9],
      // ifSpeed of 10 Gbit/s modulo 2^32.
      [1_410_065_408, 10_000, 10e9],
      [4_294_967_295, 0, null],
      [0, null, null],
      [null, 400_000, 400e9],
      [1e9, null, 1e9],
    ] as const)
      assert.equal(speedBps(speed, highSpeed), expected)
  })

  it('counts uptime beyond the wrap of sysUpTime if the engine agrees', () => {
    const wrapCs = 2 ** 32
    assert.equal(uptimeMs(5_000, null), 50_000)
    assert.equal(uptimeMs(5_000, Math.floor((wrapCs + 5_000) / 100)), (wrapCs + 5_000) * 10)
    assert.equal(uptimeMs(5_000, Math.floor(wrapCs / 2 / 100)), 50_000)
    assert.equal(uptimeMs(5_000, 50), 50_000)
  })

  it('scales sensors (RFC 3433)', () => {
    const read = (value: number, scale: number, precision: number) =>
      sensorValue(
        new Map(
          Object.entries({ value, scale, precision }).map(([name, number]) => [
            entPhySensor[name as 'value'],
            new Map([['1', { oid: '', type: 2, value: number }]]),
          ]),
        ),
        '1',
      )
    assert.equal(read(31, 9, 0), 31)
    assert.equal(read(315, 9, 1), 31.5)
    assert.equal(read(31_500, 8, 0), 31.5)
    assert.equal(read(1_000_000_000, 9, 0), null)
    assert.equal(read(31, 9, 1_615_384_784), null)
  })
})

describe('a credential', () => {
  const v3 = {
    kind: 'v3',
    user: 'pharos',
    auth: 'sha256',
    authPassword: 'authpassword',
    privacy: 'aes128',
    privacyPassword: 'privpassword',
  } as const
  const problem = (changes: object) => findCredentialProblem({ ...v3, ...changes } as SnmpCredential)

  it('is accepted with a community, or a user with passwords of 8 characters', () => {
    assert.equal(findCredentialProblem({ kind: 'v2c', community: 'public' }), undefined)
    for (const changes of [
      {},
      { privacy: null, privacyPassword: '' },
      { auth: null, authPassword: '', privacy: null, privacyPassword: '' },
    ])
      assert.equal(problem(changes), undefined)
  })

  it('is refused with the reason', () => {
    assert.match(findCredentialProblem({ kind: 'v2c', community: '' })!, /community/)
    assert.match(problem({ user: '' })!, /user/)
    assert.match(problem({ auth: 'sha3' })!, /sha3/)
    assert.match(problem({ authPassword: 'short' })!, /authentication password/)
    assert.match(problem({ auth: null })!, /needs authentication/)
    assert.match(problem({ privacy: 'des' })!, /DES .* OpenSSL/)
    assert.match(problem({ privacy: 'aes192' })!, /aes192/)
    assert.match(problem({ privacyPassword: 'short' })!, /privacy password/)
  })
})
