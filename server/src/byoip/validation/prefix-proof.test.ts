import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { NameAnswer } from '../../inventory/holding/asn-proof-dns.ts'
import { parseAddress } from '../../net/address.ts'
import { parsePrefix } from '../../net/prefix.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { createKeyRing } from '../../runtime/secrets.ts'
import type { IpNetwork } from '../../registry/rdap-source.ts'
import { checkRdap, checkTxt, evaluateRdap, evaluateTxt, proofNames, txtFix } from './prefix-proof.ts'
import { prefixTokens } from './prefix-token.ts'

const now = new Date('2026-03-01T12:00:00Z')
const never = new AbortController().signal
const secrets = ['the newest secret of the tests, long enough', 'an older secret of the tests, long enough']
const ring = createKeyRing(secrets)
const prefix = parsePrefix('203.0.113.0/24')
const tokens = prefixTokens(ring, 7, prefix)
const [token, olderToken] = tokens

describe('the token of a prefix', () => {
  it('differs between teams and prefixes, and is the same each time', () => {
    assert.deepEqual(prefixTokens(ring, 7, prefix), tokens)
    const others = [prefixTokens(ring, 8, prefix), prefixTokens(ring, 7, parsePrefix('203.0.113.0/25'))]
    for (const [other] of others) assert.notEqual(other, token)
    assert.match(token, /^pharos-verify=[\w-]{24}$/)
  })

  it('of an older key is still accepted', () => {
    const [old] = prefixTokens(createKeyRing([secrets[1]!]), 7, prefix)
    assert.equal(old, olderToken)
  })
})

describe('a token in the reverse zone', () => {
  const evaluate = (answers: Record<string, NameAnswer>, of = prefix) =>
    evaluateTxt(of, proofNames(of), new Map(Object.entries(answers)), tokens, now)
  const name = '_pharos.113.0.203.in-addr.arpa'

  it('has a fix with the literal record of each reverse zone of the prefix', () => {
    const fixOf = (text: string) => txtFix(parsePrefix(text), tokens)?.split('\n')
    assert.deepEqual(fixOf('203.0.113.0/24'), [`${name}. 3600 IN TXT "${token}"`])
    assert.deepEqual(fixOf('203.0.112.0/23'), [
      `_pharos.112.0.203.in-addr.arpa. 3600 IN TXT "${token}"`,
      `_pharos.113.0.203.in-addr.arpa. 3600 IN TXT "${token}"`,
    ])
    assert.deepEqual(fixOf('2001:db8::/32'), [`_pharos.8.b.d.0.1.0.0.2.ip6.arpa. 3600 IN TXT "${token}"`])
    assert.equal(fixOf('2001:db8::/46')?.length, 4)
    assert.equal(fixOf('203.0.0.0/20')?.length, 16)
    assert.equal(fixOf('203.0.0.0/17'), undefined)
  })

  it('is valid at all names, missing if one has none, and unavailable if a name server does not answer', () => {
    assert.equal(evaluate({ [name]: 'token' }).state, 'valid')
    assert.equal(evaluate({ [name]: 'none' }).state, 'missing')
    assert.match(evaluate({ [name]: 'other' }).note, /^Other text/)
    const two = parsePrefix('203.0.112.0/23')
    const [first, second] = proofNames(two) as [string, string]
    assert.equal(evaluate({ [first]: 'token', [second]: 'none' }, two).state, 'missing')
    assert.equal(evaluate({ [first]: 'token', [second]: 'token' }, two).state, 'valid')
    for (const silence of ['unreachable', 'failed'] as const) {
      assert.equal(evaluate({ [name]: silence }).state, 'unavailable')
      assert.equal(evaluate({ [first]: 'token', [second]: silence }, two).state, 'unavailable')
      assert.equal(evaluate({ [name]: silence }).checked, null)
    }
  })

  it('must be the whole text of the record', async () => {
    const check = (...texts: string[]) =>
      checkTxt({ resolveTxt: async () => texts }, prefix, tokens, now, never)
    assert.equal((await check('v=spf1', ` ${token} `)).state, 'valid')
    assert.equal((await check(olderToken!)).state, 'valid')
    for (const wrong of [`${token}x`, `x ${token}`, token.toLowerCase(), prefixTokens(ring, 8, prefix)[0]])
      assert.equal((await check(wrong)).state, 'missing', wrong)
  })
})

const network = (first: string, last: string, ...remarks: string[]): IpNetwork => ({
  handle: 'NET',
  first: parseAddress(first),
  last: parseAddress(last),
  remarks,
})

describe('a token in the registration', () => {
  const own = network('203.0.113.0', '203.0.113.255', 'other', token)
  const evaluate = (found: IpNetwork | undefined, ...ends: (IpNetwork | undefined)[]) =>
    evaluateRdap(prefix, found, ends, tokens, now)

  it('is valid as a separate line, also in the registration of a larger network of the holder', () => {
    assert.equal(evaluate(own, own, own).state, 'valid')
    assert.equal(evaluate(network('203.0.112.0', '203.0.115.255', ` ${token} `)).state, 'valid')
  })

  it('is missing if the line contains other text, or the token of another team', () => {
    for (const line of [`${token}.`, `see ${token}`, prefixTokens(ring, 8, prefix)[0]])
      assert.equal(evaluate(network('203.0.113.0', '203.0.113.255', line)).state, 'missing', line)
    assert.equal(evaluate(undefined).state, 'missing')
  })

  it('is not accepted in a registration that does not contain the prefix', () => {
    for (const [first, last] of [
      ['203.0.113.0', '203.0.113.127'],
      ['198.51.100.0', '198.51.100.255'],
      ['::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ] as const)
      assert.equal(evaluate(network(first, last, token)).state, 'invalid', first)
  })

  it('is not accepted in the block of a whole registry', () => {
    assert.equal(evaluate(network('0.0.0.0', '255.255.255.255', token)).state, 'missing')
    assert.equal(evaluate(network('202.0.0.0', '203.255.255.255', token)).state, 'missing')
    assert.equal(evaluate(network('203.0.0.0', '203.255.255.255', token)).state, 'valid')
  })

  it('is not accepted for a part that is registered for another holder', () => {
    const part = network('203.0.113.128', '203.0.113.255', 'a customer')
    const result = evaluate(own, own, part)
    assert.equal(result.state, 'missing')
    assert.match(result.note, /203\.0\.113\.128 - 203\.0\.113\.255/)
    assert.equal(evaluate(own, own, { ...part, remarks: [token] }).state, 'valid')
  })

  it('is queried at the prefix and at both of its ends', async () => {
    const queried: string[] = []
    const rdap = {
      findIpNetwork: async (of: string) => {
        queried.push(of)
        return own
      },
    }
    assert.equal((await checkRdap(rdap, prefix, tokens, now, never)).state, 'valid')
    assert.deepEqual(queried, ['203.0.113.0/24', '203.0.113.0/32', '203.0.113.255/32'])
  })

  it('is unavailable if the registry does not answer, or the answer cannot be parsed', async () => {
    for (const kind of ['unreachable', 'protocol', 'refused'] as const) {
      const rdap = { findIpNetwork: () => Promise.reject(new DriverError(kind, 'x')) }
      const result = await checkRdap(rdap, prefix, tokens, now, never)
      assert.deepEqual([result.state, result.checked], ['unavailable', null])
    }
    const bug = { findIpNetwork: () => Promise.reject(new TypeError('a bug')) }
    await assert.rejects(checkRdap(bug, prefix, tokens, now, never), TypeError)
  })

  it('is never valid without the token in a registration that contains the prefix', () => {
    const byte = fc.integer({ min: 0, max: 255 })
    const any = fc
      .tuple(byte, byte, byte, byte, fc.constantFrom(token, `${token}x`, 'x'))
      .filter(([a, b, c, d]) => !(a === 255 && c === 255 && b > d))
      .map(([a, b, c, d, line]) =>
        network(
          `203.0.${Math.min(a, c)}.${b}`,
          `203.0.${Math.max(a, c) + Number(a === c && b > d)}.${d}`,
          line,
        ),
      )
    fc.assert(
      fc.property(any, fc.array(any, { maxLength: 2 }), (found, ends) => {
        if (evaluate(found, ...ends).state !== 'valid') return
        assert.ok(found.remarks.includes(token))
        assert.ok(Number(found.first.split('.')[2]) <= 113 && Number(found.last.split('.')[2]) >= 113)
      }),
    )
  })
})
