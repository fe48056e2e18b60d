import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Validation } from '@pharos/contract/byoip/announcement-checks'
import type { Announcement, RegionStateOfAnnouncement } from '@pharos/contract/byoip/announcement'
import { actorOf, viewOf } from './check-view.ts'
import { blockedReason, blockedShown, primaryAction } from './condition.ts'
import { changesOf } from './edited.ts'
import { placeOf } from './region-places.ts'
import { medianTook, targetText } from './region-target.ts'
import { fillObject, registryOf } from './registries.ts'
import { stepsOf } from './steps.ts'

const check = (one: Partial<Validation>): Validation => ({
  name: 'irr',
  state: 'valid',
  reason: null,
  attrs: {},
  note: 'The note.',
  evidence: {},
  fix: null,
  checked: null,
  ...one,
})

const region = (one: Partial<RegionStateOfAnnouncement>): RegionStateOfAnnouncement => ({
  region: 'ams',
  desired: true,
  state: 'announced',
  since: '2026-03-01T12:00:00Z',
  reason: null,
  message: null,
  requested: '2026-03-01T11:59:59Z',
  took_ms: 600,
  ...one,
})

const announcement = (one: Partial<Announcement>): Announcement => ({
  id: 1,
  cidr: '3fff:100::/32',
  prefix: '3fff:100::',
  prefixlen: 32,
  origin_asn: 64_498,
  regions: [],
  status: 'ready',
  irr_validated: null,
  rpki_validated: null,
  loa_validated: null,
  last_check: null,
  last_check_result: null,
  enabled: false,
  created: '2026-03-01T11:00:00Z',
  region_states: [],
  validations: [],
  ...one,
})

const roa = (state: Validation['state'], maxLength: number) =>
  check({
    name: 'rpki',
    state,
    reason: state === 'valid' ? 'roa_valid' : 'roa_mismatch_length',
    evidence: { vrps: [{ prefix: '3fff::/20', max_length: maxLength, asn: 64_498 }] },
  })
const sentLetter = check({ name: 'loa', state: 'pending', reason: 'letter_pending' })
const missingRoute = check({ state: 'missing', reason: 'route_missing', evidence: { objects: [] } })

describe('a check as a row', () => {
  it('names who acts: a letter that was sent is with the provider', () => {
    assert.equal(actorOf(missingRoute), 'you')
    assert.equal(actorOf(sentLetter), 'provider')
    assert.equal(actorOf(check({ name: 'asn', state: 'missing', reason: 'asn_revoked' })), 'provider')
    assert.equal(actorOf(check({ name: 'overlap', state: 'pending', reason: 'prefix_unproven' })), 'nobody')
    assert.equal(actorOf(check({ state: 'unavailable', reason: 'irr_unavailable' })), 'nobody')
    const waiting = check({ name: 'loa', state: 'missing', reason: 'authorization_missing' })
    const proof = { kind: 'letter', state: 'pending', reason: 'letter_pending' } as const
    const proofs = [{ ...proof, attrs: {}, note: '', fix: null, checked: null }]
    assert.equal(actorOf({ ...waiting, proofs }), 'provider')
  })

  it('says what exists now', () => {
    const target = announcement({})
    assert.match(
      viewOf(roa('mismatch_length', 28), target).text,
      /covers 3fff::\/20 with max length 28\. Raise it to 32/,
    )
    assert.match(
      viewOf(roa('valid', 32), target).text,
      /^A ROA for AS64498 covers 3fff::\/20 with max length 32/,
    )
    assert.match(viewOf(missingRoute, target).text, /^No route6 object/)
    const other = { prefix: target.cidr, origin: 1, source: 'RADB' }
    const wrong = check({
      state: 'mismatch_asn',
      reason: 'route_mismatch_asn',
      evidence: { objects: [other] },
    })
    assert.match(viewOf(wrong, target).text, /3fff:100::\/32 with origin AS1 in RADB only/)
    assert.equal(viewOf(check({ reason: 'vouched' }), target).text, 'The note.')
  })
})

describe('the steps of an announcement', () => {
  it('names what a blocked one waits for, and for whom', () => {
    const blocked = announcement({
      status: 'validation_failed',
      validations: [missingRoute, sentLetter, roa('valid', 32)],
    })
    const [checks, ready, announced] = stepsOf(blocked)
    assert.deepEqual([checks.state, checks.text], ['warn', '1 of 3 passed'])
    assert.equal(ready.text, 'Waits for you: route object; for your provider: letter of authorization')
    assert.equal(announced.text, 'Not yet')
    assert.equal(blockedShown(blocked)?.label, 'Blocked: 2 checks')
    assert.equal(primaryAction(blocked), 'check')
    assert.equal(blockedReason(blocked), '2 checks not passed, so it cannot be announced.')
  })

  it('does not ask the team if only the provider can act', () => {
    const sent = announcement({ status: 'pending_validation', validations: [sentLetter, check({})] })
    assert.equal(stepsOf(sent)[1].text, 'Waits for your provider: letter of authorization')
    assert.deepEqual(blockedShown(sent), { label: 'Waits for your provider', color: 'info' })
  })

  it('counts regions where it is announced, not where it should be', () => {
    const states = [region({}), region({ region: 'fra', state: 'announcing' })]
    const partly = announcement({ enabled: true, validations: [check({})], region_states: states })
    assert.deepEqual(stepsOf(partly)[2], { name: 'Announced', state: 'now', text: 'In 1 of 2 regions' })
    const failed = announcement({ enabled: true, region_states: [region({ state: 'error' })] })
    assert.equal(stepsOf(failed)[2].state, 'bad')
    const left = announcement({ region_states: [region({ desired: false, state: 'withdrawing' })] })
    assert.equal(stepsOf(left)[2].text, 'Still in 1 region, being withdrawn')
    const all = announcement({ enabled: true, region_states: [region({})] })
    assert.equal(stepsOf(all)[2].at, '2026-03-01T12:00:00Z')
    assert.equal(primaryAction(all), 'withdraw')
  })
})

describe('helpers of the page', () => {
  it('fills an object with what is known, and keeps other placeholders', () => {
    const text = 'descr: <your organisation>\nmnt-by: <your maintainer>\nsource: <your registry>'
    const known = { source: registryOf('arin')?.source, organization: 'Demo' }
    assert.equal(fillObject(text, known), 'descr: Demo\nmnt-by: <your maintainer>\nsource: ARIN')
    assert.match(fillObject(text, { source: undefined, organization: '' }), /source: <your registry>$/)
    for (const name of [null, undefined, '', 'IANA']) assert.equal(registryOf(name), undefined)
  })

  it('sends only the fields that differ', () => {
    const before = {
      description: 'Web',
      as_set: 'AS-DEMO',
      regions: ['ams', 'fra'],
      loa_signatory: '',
      delegate_loa: false,
    }
    assert.deepEqual(changesOf(before, { ...before, regions: ['fra', 'ams'] }, ['sin']), {})
    assert.deepEqual(changesOf(before, { ...before, as_set: ' ', regions: ['ams'] }, before.regions), {
      as_set: null,
      regions: ['ams'],
    })
    const edited = { ...before, regions: ['fra', 'lon'] }
    assert.deepEqual(changesOf(before, edited, ['ams', 'sin']), { regions: ['sin', 'lon'] })
    assert.deepEqual(changesOf(before, edited, ['ams', 'lon']), { regions: ['lon'] })
  })

  it('names regions and their measured time', () => {
    const known = [
      { slug: 'ams', name: 'Amsterdam' },
      { slug: 'fra', name: 'Frankfurt' },
    ]
    assert.equal(
      targetText(announcement({}), known),
      'When enabled, announced in all regions: Amsterdam, Frankfurt',
    )
    const states = [region({ took_ms: 400 }), region({ took_ms: null }), region({ took_ms: 600 })]
    assert.deepEqual(medianTook(states), { ms: 500, count: 2 })
    assert.equal(medianTook([]), undefined)
  })

  it('finds a region on the map by its city, or by that of its time zone', () => {
    const at = (location: string, timezone: string) => placeOf({ location, name: 'Edge 1', timezone })
    assert.equal(at('São Paulo', 'UTC')?.latitude, -23.55)
    assert.equal(at('Equinix FR5', 'Europe/Berlin')?.latitude, 52.52)
    assert.equal(at('Unknown', 'UTC'), undefined)
  })
})
