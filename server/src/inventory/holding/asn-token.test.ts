import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseAsn } from '../../net/asn.ts'
import { createKeyRing } from '../../runtime/secrets.ts'
import { asnTokens, holdsToken } from './asn-token.ts'

const old = 'an older secret of the tests, long enough'
const current = 'the newest secret of the tests, long enough'
const asn = parseAsn(64500)

describe('the token of an ASN', () => {
  it('is deterministic, short, and safe in a registry, in DNS and in a URL', () => {
    const ring = createKeyRing([current])
    const [token] = asnTokens(ring, 7, asn)
    assert.match(token, /^pharos-asn-verify=[A-Za-z0-9_-]{24}$/)
    assert.deepEqual(asnTokens(createKeyRing([current]), 7, asn), [token])
  })

  it('differs for each team, each ASN and each installation', () => {
    const ring = createKeyRing([current])
    const tokens = [
      ...asnTokens(ring, 7, asn),
      ...asnTokens(ring, 8, asn),
      ...asnTokens(ring, 7, parseAsn(64501)),
      ...asnTokens(createKeyRing([old]), 7, asn),
      // Values that a join without a separator would confuse.
      ...asnTokens(ring, 76, parseAsn(4500)),
    ]
    assert.equal(new Set(tokens).size, tokens.length)
  })

  it('is derived from the newest key, and accepted from an older one', () => {
    const before = asnTokens(createKeyRing([old]), 7, asn)
    const after = asnTokens(createKeyRing([current, old]), 7, asn)
    assert.deepEqual(after, [...asnTokens(createKeyRing([current]), 7, asn), ...before])
    assert.ok(holdsToken(before[0], after))
  })
})

describe('holdsToken', () => {
  const tokens = asnTokens(createKeyRing([current]), 7, asn)
  const [token] = tokens

  it('finds the token as a word of a line', () => {
    for (const line of [token, ` ${token}\n`, `see "${token}"`, `a, ${token}; b`, `first\n${token}`])
      assert.ok(holdsToken(line, tokens), line)
  })

  it('does not match a part of it, a longer word, or another spelling', () => {
    for (const line of [
      '',
      token.slice(0, -1),
      `${token}x`,
      `x${token}`,
      token.toUpperCase(),
      token.slice(18),
    ])
      assert.ok(!holdsToken(line, tokens), line)
  })
})
