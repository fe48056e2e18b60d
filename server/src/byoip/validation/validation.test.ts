import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { validationStates, type ValidationState } from '@pharos/contract/byoip/announcement-checks'
import { parseAsn } from '../../net/asn.ts'
import { parsePrefix } from '../../net/prefix.ts'
import { evaluateAsn, evaluateIrr, evaluateRpki, evaluateSize, vouch } from './check-rules.ts'
import { sampleAnnouncement, sampleNow as now, sampleRegion } from '../announcement/samples.ts'
import { stateMessages } from '../announcement/state-messages.ts'
import {
  explain,
  clearanceOf,
  completeChecks,
  isFailing,
  isSameResult,
  keepLastAnswer,
  validationNames,
  type Check,
  type CheckResult,
} from './validation.ts'

const resultOf = (state: ValidationState, rest: Partial<CheckResult> = {}): CheckResult => ({
  state,
  ...explain('letter_rejected', { reason: `it is ${state}.` }),
  evidence: {},
  fix: null,
  checked: now,
  ...rest,
})

const anyState = fc.constantFrom(...validationStates)
const anyChecks = fc
  .tuple(...validationNames.map(() => anyState))
  .map((states) => validationNames.map((name, at): Check => ({ ...resultOf(states[at]!), name })))

describe('a new result of a check', () => {
  it('replaces the stored one, unless the registry is unavailable', () => {
    fc.assert(
      fc.property(anyState, anyState, (before, after) => {
        const { state } = keepLastAnswer(resultOf(before), resultOf(after))
        const isAnswer = before !== 'pending' && before !== 'unavailable'
        assert.equal(state, after === 'unavailable' && isAnswer ? before : after)
      }),
    )
  })

  it('reports an unavailable registry once, and keeps the time of the answer', () => {
    const unavailable = resultOf('unavailable', { ...explain('rpki_unavailable'), checked: null })
    const once = keepLastAnswer(resultOf('valid'), unavailable)
    const twice = keepLastAnswer(once, unavailable)
    assert.deepEqual(twice, once)
    assert.deepEqual([twice.state, twice.checked], ['valid', now])
    assert.match(
      twice.note,
      /rejected: it is valid\. This is the last answer: The RPKI could not be queried\.$/,
    )
    assert.deepEqual(keepLastAnswer(twice, resultOf('missing')), resultOf('missing'))
  })
})

describe('two results', () => {
  it('are compared by value, as the database returns them', () => {
    const stored = { vrps: [{ asn: 1, prefix: 'a' }], source: null }
    const made = { source: null, vrps: [{ prefix: 'a', asn: 1 }], member: undefined }
    const [before, after] = [stored, made].map((evidence) => resultOf('valid', { evidence }))
    assert.equal(isSameResult(before!, after!), true)
    assert.equal(isSameResult(before!, { ...after!, evidence: { ...made, source: 'x' } }), false)
    assert.equal(isSameResult(before!, { ...after!, attrs: { reason: 'other' } }), false)
    assert.equal(isSameResult(before!, { ...after!, checked: null }), true)
  })
})

describe('the clearance', () => {
  it('is passed exactly when every check is valid', () => {
    fc.assert(
      fc.property(anyChecks, (checks) => {
        assert.equal(
          clearanceOf(checks) === 'passed',
          checks.every(({ state }) => state === 'valid'),
        )
      }),
    )
  })

  it('is failed as soon as one check failed, and a missing letter is not a failure', () => {
    fc.assert(
      fc.property(anyChecks, (checks) => {
        assert.equal(clearanceOf(checks) === 'failed', checks.some(isFailing))
      }),
    )
    const valid = validationNames.map((name): Check => ({ ...resultOf('valid'), name }))
    const without = valid.map((check) =>
      check.name === 'loa' ? { ...check, state: 'missing' as const } : check,
    )
    assert.equal(clearanceOf(without), 'pending')
  })

  it('contains every check before the first run', () => {
    const complete = completeChecks([])
    assert.deepEqual(Object.keys(complete), [...validationNames])
    assert.equal(clearanceOf(Object.values(complete)), 'running')
  })
})

const target = { prefix: parsePrefix('203.0.113.0/24'), originAsn: parseAsn(64496), asSet: null }

describe('the result of a check', () => {
  it('of a prefix that is too long states the limit', () => {
    assert.equal(evaluateSize(parsePrefix('203.0.113.0/25'), now).state, 'invalid')
    assert.equal(evaluateSize(parsePrefix('2001:db8::/48'), now).state, 'valid')
    assert.equal(evaluateSize(parsePrefix('2001:db8::/49'), now).state, 'invalid')
  })

  it('of an ASN follows its proof until the moment that it expires', () => {
    const verification = { verified: now, verifiedBy: 'aut_num', expires: new Date(now.getTime() + 1) }
    assert.equal(evaluateAsn(target.originAsn, verification, now).state, 'valid')
    assert.equal(evaluateAsn(target.originAsn, { ...verification, expires: now }, now).state, 'expired')
    assert.equal(evaluateAsn(target.originAsn, { ...verification, expires: null }, now).state, 'valid')
    assert.equal(evaluateAsn(target.originAsn, null, now).state, 'missing')
    const none = { verified: null, verifiedBy: null, expires: null }
    assert.match(evaluateAsn(target.originAsn, none, now).fix!, /verify$/)
    const revoked = evaluateAsn(target.originAsn, { ...none, isRevoked: true }, now)
    assert.deepEqual([revoked.state, revoked.fix], ['missing', null])
    assert.match(revoked.note, /revoked/)
  })

  it('of the RPKI and of the IRR has the literal fix if it is neither valid nor unavailable', () => {
    for (const state of ['valid', 'missing', 'mismatch_asn', 'mismatch_length', 'unavailable'] as const) {
      const needsFix = state !== 'valid' && state !== 'unavailable'
      const unavailable = state === 'unavailable'
      const rpki = evaluateRpki(target, { state, covering: [], source: null, asOf: unavailable ? null : now })
      const irr = evaluateIrr(target, {
        state,
        objects: [],
        source: null,
        fetched: unavailable ? null : now,
        cached: false,
        ...(unavailable ? { reason: 'no source answers' } : {}),
      })
      assert.deepEqual([rpki.state, irr.state], [state, state])
      assert.deepEqual([rpki.fix !== null, irr.fix !== null], [needsFix, needsFix])
      assert.deepEqual([rpki.checked === null, irr.checked === null], [unavailable, unavailable])
    }
  })

  it('says that a ROA of AS 0 forbids the prefix', () => {
    const covering = [
      { prefix: parsePrefix('203.0.112.0/23'), maxLength: 24, asn: 64511 },
      { prefix: parsePrefix('203.0.112.0/22'), maxLength: 32, asn: 0 },
    ]
    const verdict = { state: 'mismatch_asn', covering, source: null, asOf: now } as const
    const { reason, note, fix } = evaluateRpki(target, verdict)
    assert.equal(reason, 'roa_forbids')
    assert.match(note, /^A ROA of AS0 forbids to announce 203\.0\.112\.0\/22 and its subnets/)
    assert.ok(fix)
    assert.equal(
      evaluateRpki(target, { ...verdict, covering: covering.slice(0, 1) }).reason,
      'roa_mismatch_asn',
    )
    assert.equal(evaluateRpki(target, { ...verdict, state: 'valid' }).reason, 'roa_valid')
  })

  it('names its source in the evidence, or none', () => {
    const rpki = { state: 'missing', covering: [], asOf: now } as const
    const irr = { state: 'missing', objects: [], fetched: now, cached: false } as const
    assert.deepEqual(
      [
        evaluateRpki(target, { ...rpki, source: 'RTR cache' }).evidence['source'],
        evaluateRpki(target, { ...rpki, source: null }).evidence['source'],
        evaluateIrr(target, { ...irr, source: 'IRR dump' }).evidence['source'],
      ],
      ['RTR cache', null, 'IRR dump'],
    )
  })

  it('is valid if the operator vouches for it, and contains the result of the registry', () => {
    const vouched = vouch(resultOf('missing', { fix: 'x' }), now)
    assert.deepEqual([vouched.state, vouched.fix], ['valid', null])
    assert.match(vouched.note, /vouches.*it is missing/)
  })
})

describe('the state messages', () => {
  const valid = validationNames.map((name): Check => ({ ...resultOf('valid'), name }))
  const tagsOf = (rest: Parameters<typeof sampleAnnouncement>[0], checks: readonly Check[] = valid) =>
    stateMessages(sampleAnnouncement(rest), completeChecks(checks), { visibility: null, now }).map(
      ({ tag }) => tag,
    )

  it('are empty if the announcement is as desired', () => {
    assert.deepEqual(tagsOf({ enabled: true, regions: [sampleRegion('ams', { state: 'announced' })] }), [])
  })

  it('distinguish a check that never passed from one that was lost', () => {
    const checks = valid.map((check) =>
      check.name === 'rpki' ? { ...check, state: 'missing' as const } : check,
    )
    assert.deepEqual(tagsOf({ claimed: null }, checks), ['validation_failed'])
    assert.deepEqual(tagsOf({}, checks), ['validation_lost'])
  })

  it('are sorted by severity', () => {
    const regions = [sampleRegion('ams', { state: 'announcing', since: now })]
    const tags = tagsOf({ enabled: true, suspended: false, regions }, [
      ...valid.filter(({ name }) => name !== 'loa'),
      { ...resultOf('expired'), name: 'loa' },
    ])
    assert.deepEqual(tags, ['validation_lost', 'region_announcing'])
  })

  it('warn a month before a letter or a proof expires', () => {
    const until = (days: number) => new Date(now.getTime() + days * 86_400_000).toISOString()
    const ending = (name: 'loa' | 'asn', days: number) =>
      valid.map((check) =>
        check.name === name
          ? { ...check, evidence: { [name === 'loa' ? 'valid_until' : 'expires']: until(days) } }
          : check,
      )
    assert.deepEqual(tagsOf({}, ending('loa', 30)), ['ends_soon'])
    assert.deepEqual(tagsOf({}, ending('asn', 1)), ['ends_soon'])
    assert.deepEqual(tagsOf({}, ending('loa', 31)), [])
  })
})
