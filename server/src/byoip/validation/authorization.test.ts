import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AuthorizationKind, AuthorizationProof } from '@pharos/contract/byoip/announcement-checks'
import { parseAsn } from '../../net/asn.ts'
import { parsePrefix } from '../../net/prefix.ts'
import { createKeyRing } from '../../runtime/secrets.ts'
import { evaluateAuthorization, type AuthorizationFacts } from './authorization.ts'
import { noLetter } from './check-rules.ts'
import { prefixTokens } from './prefix-token.ts'
import { explain, type CheckResult } from './validation.ts'

const now = new Date('2026-03-01T12:00:00Z')
const earlier = new Date('2026-03-01T09:00:00Z')
const ring = createKeyRing(['a secret of the tests that is long enough'])
const prefix = parsePrefix('203.0.113.0/24')
const tokens = prefixTokens(ring, 7, prefix)
const all = ['letter', 'roa', 'dns_txt', 'rdap'] as const

const resultOf = (state: CheckResult['state'], rest: Partial<CheckResult> = {}): CheckResult => ({
  state,
  ...explain('letter_rejected', { reason: `It is ${state}.` }),
  evidence: {},
  fix: state === 'valid' ? null : 'fix',
  checked: now,
  ...rest,
})

const evaluate = (
  kinds: readonly AuthorizationKind[],
  facts: Partial<AuthorizationFacts> = {},
  before?: CheckResult,
): CheckResult =>
  evaluateAuthorization(
    kinds,
    {
      announcementId: 42,
      target: { prefix, originAsn: parseAsn(64_500), asSet: null },
      tokens,
      letter: noLetter,
      rpki: resultOf('missing'),
      asn: resultOf('valid'),
      stored: {},
      ...facts,
    },
    before,
    now,
  )

const letter = (state: 'valid' | 'pending' | 'invalid' | 'expired') =>
  ({ state, ...explain('letter_rejected', { reason: state }), validUntil: null, letterId: 3 }) as const

describe('the authorization of an announcement', () => {
  it('is valid by any kind that the operator accepts, and by no other', () => {
    const facts = {
      letter: { ...noLetter },
      rpki: resultOf('valid'),
      stored: { dns_txt: resultOf('valid'), rdap: resultOf('valid') },
    }
    for (const kind of ['roa', 'dns_txt', 'rdap'] as const) {
      assert.deepEqual(
        [evaluate([kind], facts).state, evaluate([kind], facts).evidence['by']],
        ['valid', kind],
      )
      assert.equal(evaluate(['letter'], facts).state, 'missing')
    }
    assert.equal(evaluate(['dns_txt'], { letter: letter('valid') }).state, 'missing')
    assert.equal(evaluate(all, { letter: letter('valid') }).evidence['by'], 'letter')
  })

  it('is not valid by a ROA of an ASN that is not verified', () => {
    const facts = { rpki: resultOf('valid'), asn: resultOf('missing') }
    assert.equal(evaluate(['roa'], facts).state, 'missing')
    assert.match(evaluate(['roa'], facts).fix!, /asns\/64500\/verify/)
  })

  it('has the check time of the proof that it is based on', () => {
    const stored = { dns_txt: resultOf('valid', { checked: earlier }) }
    assert.deepEqual(evaluate(all, { stored }).checked, earlier)
  })

  it('returns the literal fix of every kind, also before the first query', () => {
    const { fix, evidence } = evaluate(all)
    const [token] = tokens
    assert.equal(
      fix,
      [
        'letter:\nPOST /v3/ipam/announcements/42/loa with a signed letter of authorization; GET /v3/ipam/announcements/42/loa/draft returns a draft to sign',
        'roa:\nprefix:    203.0.113.0/24\nmaxLength: 24\norigin:    AS64500',
        `dns_txt:\n_pharos.113.0.203.in-addr.arpa. 3600 IN TXT "${token}"`,
        `rdap:\nremarks: ${token}`,
      ].join('\n\n'),
    )
    assert.deepEqual(
      (evidence['proofs'] as AuthorizationProof[]).map(({ kind, state }) => [kind, state]),
      all.map((kind) => [kind, 'missing']),
    )
    assert.match(evaluate(['letter']).fix!, /^POST /)
  })

  it('has the state of the letter if no other proof is valid', () => {
    for (const state of ['pending', 'invalid', 'expired'] as const)
      assert.equal(evaluate(all, { letter: letter(state) }).state, state)
    const stored = { rdap: resultOf('valid') }
    assert.equal(evaluate(all, { letter: letter('invalid'), stored }).state, 'valid')
  })

  it('expires when its proof is gone, and stays expired until another proof is valid', () => {
    const valid = evaluate(['dns_txt', 'rdap'], { stored: { dns_txt: resultOf('valid') } })
    const stored = { dns_txt: resultOf('missing') }
    const gone = evaluate(['dns_txt', 'rdap'], { stored }, valid)
    assert.deepEqual([gone.state, gone.evidence['lost']], ['expired', 'dns_txt'])
    assert.equal(evaluate(['dns_txt', 'rdap'], { stored }, gone).state, 'expired')
    assert.equal(evaluate(['dns_txt'], { stored }, resultOf('missing')).state, 'missing')
    assert.equal(
      evaluate(['rdap'], { stored }, valid).state,
      'expired',
      'the operator no longer accepts the kind',
    )
    const other = evaluate(['dns_txt', 'rdap'], { stored: { ...stored, rdap: resultOf('valid') } }, gone)
    assert.equal(other.state, 'valid')
  })
})
