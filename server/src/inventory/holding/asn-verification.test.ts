import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { asnProofMethods, type AsnProofMethod } from '@pharos/contract/inventory/asn'
import { parseAsn } from '../../net/asn.ts'
import { isVerified, type HeldAsn } from './held-asn.ts'
import { proofResult, type AsnProof, type ProofResult } from './asn-proof-result.ts'
import { dayMs, hourMs, noteOf, proofAfter, nextVerification } from './asn-verification.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const now = new Date('2026-03-01T12:00:00Z')
const inDays = (days: number) => new Date(now.getTime() + days * dayMs)

const held = (rest: Partial<HeldAsn>): HeldAsn => ({
  id: 1,
  teamId: 7,
  asn: parseAsn(64500),
  name: '',
  verified: null,
  verifiedBy: null,
  expires: null,
  revoked: null,
  created: inDays(-400),
  ...rest,
})
const proven = (expires: Date, verifiedBy: AsnProofMethod = 'rdap_email') =>
  held({ verified: inDays(-100), verifiedBy, expires })
const operators = held({ verified: inDays(-100), verifiedBy: 'operator' })

const result = (state: ProofResult['state']): ProofResult => ({
  ...proofResult(state, 'txt_missing'),
  note: `It is ${state}.`,
})
const found = (states: Partial<Record<AsnProofMethod, ProofResult['state']>>) =>
  new Map(Object.entries(states).map(([method, state]) => [method as AsnProofMethod, result(state)] as const))

describe('the decision', () => {
  it('is 180 days for one valid method, whether or not the team had a row', () => {
    for (const before of [undefined, held({})])
      assert.deepEqual(
        nextVerification(before, found({ aut_num: 'valid', rdap_email: 'missing' }), false, now),
        {
          kind: 'verify',
          after: { verified: now, verifiedBy: 'aut_num', expires: inDays(180) },
        },
      )
  })

  it('uses the strongest of several methods, and keeps it later', () => {
    const all = found({ peeringdb: 'valid', rdap_email: 'valid', aut_num: 'valid' })
    assert.equal(nextVerification(undefined, all, false, now)?.after.verifiedBy, 'aut_num')
    assert.equal(nextVerification(proven(inDays(100)), all, false, now)?.after.verifiedBy, 'rdap_email')
    const gone = found({ rdap_email: 'missing', peeringdb: 'valid' })
    assert.equal(nextVerification(proven(inDays(100)), gone, false, now)?.after.verifiedBy, 'peeringdb')
  })

  it('is unchanged by control of address space, whatever else is missing', () => {
    const evidence = found({ dns_txt: 'valid', roa: 'valid', aut_num: 'missing' })
    assert.equal(nextVerification(undefined, evidence, false, now), undefined)
    assert.equal(nextVerification(proven(inDays(1), 'aut_num'), evidence, false, now), undefined)
    assert.equal(nextVerification(proven(inDays(-1), 'aut_num'), evidence, false, now)?.kind, 'expire')
  })

  it('is unchanged once the operator has revoked the verification', () => {
    const revoked = held({ revoked: { at: inDays(-1), reason: 'sold' } })
    assert.equal(nextVerification(revoked, found({ aut_num: 'valid' }), false, now), undefined)
  })

  it('extends the expiry of a proof that is still valid, and keeps its start', () => {
    const before = proven(inDays(100))
    assert.deepEqual(nextVerification(before, found({ rdap_email: 'valid' }), true, now), {
      kind: 'extend',
      after: { verified: before.verified, verifiedBy: 'rdap_email', expires: inDays(180) },
    })
  })

  it('is a conflict while another team is verified, also for a team whose proof has expired', () => {
    const all = found({ aut_num: 'valid' })
    assert.equal(nextVerification(undefined, all, true, now), undefined)
    assert.equal(nextVerification(proven(inDays(-1)), all, true, now), undefined)
    assert.equal(nextVerification(proven(inDays(-1), 'aut_num'), all, false, now)?.kind, 'verify')
  })

  it('keeps a missing proof before its expiry, and ends it afterwards', () => {
    for (const state of ['missing', 'error'] as const) {
      assert.equal(nextVerification(proven(inDays(1)), found({ rdap_email: state }), false, now), undefined)
      assert.deepEqual(nextVerification(proven(inDays(-1)), found({ rdap_email: state }), false, now), {
        kind: 'expire',
        after: { verified: null, verifiedBy: null, expires: null },
      })
    }
    assert.equal(nextVerification(proven(inDays(-1)), found({ aut_num: 'missing' }), false, now), undefined)
  })

  it('postpones the expiry while the registry does not answer', () => {
    const unknown = found({ rdap_email: 'unavailable' })
    assert.equal(nextVerification(proven(inDays(100)), unknown, false, now), undefined)
    for (const expires of [inDays(1), inDays(-3)])
      assert.deepEqual(nextVerification(proven(expires), unknown, false, now)?.after.expires, inDays(2))
  })
})

const states = fc.constantFrom('valid', 'missing', 'unavailable', 'error' as const)
const anyFindings = fc
  .dictionary(fc.constantFrom(...asnProofMethods), states, { noNullPrototype: true })
  .map((given) => found(given as Partial<Record<AsnProofMethod, ProofResult['state']>>))
const anyHeld = fc.oneof(
  fc.constantFrom(undefined, operators, held({})),
  fc
    .tuple(fc.integer({ min: -400, max: 180 }), fc.constantFrom(...asnProofMethods))
    .map(([days, method]) => proven(inDays(days), method)),
)

describe('for any results', () => {
  const holds = (
    check: (before: HeldAsn | undefined, all: ReturnType<typeof found>, conflict: boolean) => void,
  ) => fc.assert(fc.property(anyHeld, anyFindings, fc.boolean(), check), { numRuns: scaled(2_000) })

  it('no team is verified without a proof, or beside another team', () => {
    holds((before, all, conflict) => {
      const after = nextVerification(before, all, conflict, now)?.after
      const wasVerified = before !== undefined && isVerified(before, now)
      if (!after?.verified || after.expires! <= now || wasVerified) return
      if (before?.verified && after.verified === before.verified)
        return assert.equal(all.get(after.verifiedBy!)?.state, 'unavailable')
      assert.equal(all.get(after.verifiedBy!)?.state, 'valid')
      assert.equal(conflict, false)
    })
  })

  it('a verification that has not expired remains, and ends no sooner', () => {
    holds((before, all, conflict) => {
      if (!before || !isVerified(before, now)) return
      const after = nextVerification(before, all, conflict, now)?.after ?? before
      assert.equal(after.verified, before.verified)
      if (before.expires) assert.ok(after.expires! >= before.expires)
    })
  })

  it('a verification by the operator is unchanged', () => {
    holds((_, all, conflict) => assert.equal(nextVerification(operators, all, conflict, now), undefined))
  })

  it('missing answers end nothing', () => {
    holds((before, all, conflict) => {
      const method = before?.verifiedBy
      if (!method || method === 'operator' || all.get(method)?.state !== 'unavailable') return
      assert.notEqual(nextVerification(before, all, conflict, now)?.kind, 'expire')
    })
  })
})

describe('the stored proof', () => {
  const days = (...states: ProofResult['state'][]): AsnProof => {
    let proof: AsnProof | undefined
    for (const [day, state] of states.entries())
      proof = proofAfter(proof, 'rdap_email', result(state), 'rdap_email', inDays(day))
    return proof!
  }

  it('warns from the third day without it on, with the expiry', () => {
    const row = proven(inDays(90))
    assert.equal(noteOf(days('valid', 'missing', 'missing'), row), 'It is missing.')
    assert.equal(
      noteOf(days('valid', 'missing', 'unavailable', 'missing'), row),
      'It is missing. It has been missing since 2026-03-02; the verification ends on 2026-05-30 unless the proof is restored.',
    )
  })

  it('clears the absence once it is valid again', () => {
    assert.equal(days('missing', 'missing', 'missing', 'missing', 'valid').missingSince, null)
  })

  it('does not warn about a proof that was never valid', () => {
    const proof = proofAfter(undefined, 'aut_num', result('missing'), 'rdap_email', now)
    assert.equal(proof.missingSince, null)
    const later = proofAfter(
      proof,
      'aut_num',
      result('missing'),
      'rdap_email',
      new Date(now.getTime() + hourMs),
    )
    assert.equal(later.missingSince, null)
  })
})
