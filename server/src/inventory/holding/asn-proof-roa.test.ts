import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseAsn } from '../../net/asn.ts'
import { parsePrefix } from '../../net/prefix.ts'
import { createKeyRing } from '../../runtime/secrets.ts'
import type { AsnProofSources, ProofSubject } from './asn-proof-result.ts'
import { checkRoa, instructRoa } from './asn-proof-roa.ts'
import { asnTokens } from './asn-token.ts'

const asn = parseAsn(64500)
const held = parsePrefix('203.0.113.0/24')
const tokens = asnTokens(createKeyRing(['a secret of the tests that is long enough']), 7, asn)
const subject: ProofSubject = { asn, tokens, heldPrefixes: [held] }

const roa = (prefix: string, number: number) => ({ prefix: parsePrefix(prefix), maxLength: 24, asn: number })
const rpkiOf = (judge: NonNullable<AsnProofSources['rpki']>['judge']): AsnProofSources => ({
  rpki: { judge, originsOf: () => Promise.reject(new Error('queried')) },
})
const sourceOf = (...covering: ReturnType<typeof roa>[]): AsnProofSources =>
  rpkiOf(() => ({ state: 'mismatch_asn', covering, source: 'RTR cache', asOf: new Date() }))

describe('a ROA', () => {
  it('is a proof if it authorizes the ASN for a prefix that the team holds', () => {
    const result = checkRoa(sourceOf(roa('203.0.113.0/24', 1), roa('203.0.113.0/24', 64500)), subject)
    assert.equal(result.state, 'valid')
    assert.deepEqual(result.evidence, { prefix: '203.0.113.0/24', max_length: 24, asn: 64500 })
  })

  it('is no proof for another ASN, or of a covering prefix, which another holder may have', () => {
    assert.equal(checkRoa(sourceOf(roa('203.0.113.0/24', 64501)), subject).state, 'missing')
    assert.equal(checkRoa(sourceOf(roa('203.0.112.0/23', 64500)), subject).state, 'missing')
  })

  it('is not searched if the team holds no prefixes', () => {
    const source = rpkiOf(() => assert.fail('queried'))
    assert.equal(checkRoa(source, { ...subject, heldPrefixes: [] }).state, 'missing')
  })

  it('is not reported as missing while one could not be read', () => {
    const second = parsePrefix('198.51.100.0/24')
    const source = rpkiOf((prefix) => ({
      state: prefix === held ? 'unavailable' : 'missing',
      covering: [],
      source: null,
      asOf: null,
    }))
    const result = checkRoa(source, { ...subject, heldPrefixes: [second, held] })
    assert.equal(result.state, 'unavailable')
    assert.equal(checkRoa({}, subject).state, 'unavailable')
  })

  it('is described in the instructions as the tuple to create', () => {
    const [, roas] = instructRoa(subject)
    assert.deepEqual([roas!.lines, roas!.needs], [['(203.0.113.0/24, maxLength 24, AS64500)'], 'one'])
    assert.match(
      instructRoa({ ...subject, heldPrefixes: [] })
        .map(({ text }) => text)
        .join(),
      /^This does not verify AS64500[^]*no verified prefix yet/,
    )
  })
})
