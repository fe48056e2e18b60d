import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseAsn } from '../net/asn.ts'
import { parsePrefix } from '../net/prefix.ts'
import { createKeyRing } from '../runtime/secrets.ts'
import type { Claim } from './asn-finding.ts'
import { checkRoa, instructRoa } from './asn-proof-roa.ts'
import type { RoaSource } from './asn-proof-sources.ts'
import { asnTokens } from './asn-token.ts'

const asn = parseAsn(64500)
const held = parsePrefix('203.0.113.0/24')
const tokens = asnTokens(createKeyRing(['a secret of the tests that is long enough']), 7, asn)
const claim: Claim = { asn, tokens, heldPrefixes: [held] }

const roa = (prefix: string, number: number) => ({ prefix: parsePrefix(prefix), maxLength: 24, asn: number })
const sourceOf = (...roas: ReturnType<typeof roa>[]): RoaSource => ({
  roasOf: async () => ({ state: 'found', roas }),
})

describe('a ROA', () => {
  it('is a proof where it names the ASN for a prefix that the team holds', async () => {
    const finding = await checkRoa(sourceOf(roa('203.0.113.0/24', 1), roa('203.0.113.0/24', 64500)), claim)
    assert.equal(finding.state, 'valid')
    assert.deepEqual(finding.evidence, { prefix: '203.0.113.0/24', max_length: 24, asn: 64500 })
  })

  it('is none of another ASN, or of a covering prefix, which may be another holder', async () => {
    assert.equal((await checkRoa(sourceOf(roa('203.0.113.0/24', 64501)), claim)).state, 'missing')
    assert.equal((await checkRoa(sourceOf(roa('203.0.112.0/23', 64500)), claim)).state, 'missing')
  })

  it('is not looked for where the team holds nothing', async () => {
    const source: RoaSource = { roasOf: () => Promise.reject(new Error('asked')) }
    assert.equal((await checkRoa(source, { ...claim, heldPrefixes: [] })).state, 'missing')
  })

  it('is not called missing while one could not be read', async () => {
    const second = parsePrefix('198.51.100.0/24')
    const source: RoaSource = {
      roasOf: async (prefix) =>
        prefix === held ? { state: 'unavailable', reason: 'no cache' } : { state: 'found', roas: [] },
    }
    const finding = await checkRoa(source, { ...claim, heldPrefixes: [second, held] })
    assert.equal(finding.state, 'unavailable')
    assert.equal((await checkRoa(undefined, claim)).state, 'unavailable')
  })

  it('is given in the instructions as the tuple to create', () => {
    const [, roas] = instructRoa(claim)
    assert.deepEqual([roas!.lines, roas!.needs], [['(203.0.113.0/24, maxLength 24, AS64500)'], 'one'])
    assert.match(
      instructRoa({ ...claim, heldPrefixes: [] })
        .map(({ text }) => text)
        .join(),
      /^This does not verify AS64500[^]*no verified prefix yet/,
    )
  })
})
