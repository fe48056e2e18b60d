import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Failure } from '../../runtime/error.ts'
import type { Announcement } from './announcement.ts'
import { applyPatch, type Patch } from './patch-announcement.ts'
import { sampleAnnouncement, sampleNow, sampleOpen, sampleRegion } from './samples.ts'

const open = sampleOpen.slice(0, 3)

function patched(announcement: Announcement, patch: Patch) {
  const { enabled, regions, status, version } = applyPatch(announcement, patch, open, sampleNow)
  const configured = regions.filter((region) => region.configured).map((region) => region.slug)
  return { enabled, regions: configured, status, version }
}

function failureOf(announcement: Announcement, patch: Patch): Failure {
  try {
    applyPatch(announcement, patch, open, sampleNow)
  } catch (error) {
    if (error instanceof Failure) return error
    throw error
  }
  return assert.fail('the patch was accepted')
}

const fresh = sampleAnnouncement()
const inAms = sampleAnnouncement({ enabled: true, regions: [sampleRegion('ams', { state: 'announced' })] })
const inTwo = sampleAnnouncement({
  enabled: true,
  regions: [sampleRegion('ams', { state: 'announced' }), sampleRegion('fra', { state: 'announced' })],
})
const offInTwo = sampleAnnouncement({ regions: [sampleRegion('ams'), sampleRegion('fra')] })

describe('enabled with a region', () => {
  it('adds the region and sets enabled', () => {
    const expected = { enabled: true, regions: ['fra'], status: 'announcing', version: 4 }
    assert.deepEqual(patched(fresh, { enabled: true, region: 'fra' }), expected)
  })

  it('does not change the other regions', () => {
    const next = applyPatch(inAms, { enabled: true, region: 'fra' }, open, sampleNow)
    assert.equal(next.regions[0], inAms.regions[0])
    assert.equal(next.regions[1]?.state, 'announcing')
    assert.equal(next.status, 'partially_announced')
  })

  it('sets enabled if the region is already configured', () => {
    const { enabled, regions } = patched(offInTwo, { enabled: true, region: 'ams' })
    assert.deepEqual({ enabled, regions }, { enabled: true, regions: ['ams', 'fra'] })
  })

  it('removes the region and keeps the rest enabled', () => {
    const expected = { enabled: true, regions: ['ams'], status: 'announced', version: 4 }
    assert.deepEqual(patched(inTwo, { enabled: false, region: 'fra' }), expected)
  })

  it('is disabled when its last region is removed', () => {
    const expected = { enabled: false, regions: [], status: 'withdrawing', version: 4 }
    assert.deepEqual(patched(inAms, { enabled: false, region: 'ams' }), expected)
  })

  it('removes a region while the announcement is disabled', () => {
    const { enabled, regions } = patched(offInTwo, { enabled: false, region: 'ams' })
    assert.deepEqual({ enabled, regions }, { enabled: false, regions: ['fra'] })
  })

  it('can be disabled in a region that was closed meanwhile', () => {
    const announcement = sampleAnnouncement({
      enabled: true,
      regions: [sampleRegion('ams'), sampleRegion('nyc')],
    })
    assert.deepEqual(patched(announcement, { enabled: false, region: 'nyc' }).regions, ['ams'])
  })
})

describe('enabled without a region', () => {
  it('keeps its regions when it is disabled', () => {
    const expected = { enabled: false, regions: ['ams', 'fra'], status: 'withdrawing', version: 4 }
    assert.deepEqual(patched(inTwo, { enabled: false }), expected)
  })

  it('restores its regions when it is enabled again', () => {
    const off = applyPatch(inTwo, { enabled: false }, open, sampleNow)
    const expected = { enabled: true, regions: ['ams', 'fra'], status: 'announcing', version: 5 }
    assert.deepEqual(patched(off, { enabled: true }), expected)
  })

  it('adds every open region if none is configured', () => {
    assert.deepEqual(patched(fresh, { enabled: true }).regions, ['ams', 'fra', 'lon'])
  })

  it('adds every open region again after the last one was removed', () => {
    const none = applyPatch(inAms, { enabled: false, region: 'ams' }, open, sampleNow)
    assert.deepEqual(patched(none, { enabled: true }).regions, ['ams', 'fra', 'lon'])
  })

  it('is a conflict if no region is open', () => {
    assert.throws(
      () => applyPatch(fresh, { enabled: true }, [], sampleNow),
      (error) => error instanceof Failure && error.code === 'conflict',
    )
  })
})

describe('a patch without effect', () => {
  const cases: [string, Announcement, Patch][] = [
    ['enabled', inTwo, { enabled: true }],
    ['enabled in the region', inTwo, { enabled: true, region: 'fra' }],
    ['disabled', offInTwo, { enabled: false }],
    ['not in the region', inAms, { enabled: false, region: 'fra' }],
    ['disabled without regions', fresh, { enabled: false, region: 'fra' }],
    ['enabled, its validation lost meanwhile', { ...inTwo, irrValidated: null }, { enabled: true }],
  ]
  for (const [what, announcement, patch] of cases) {
    it(`${what}: returns the same object with the same version`, () => {
      assert.equal(applyPatch(announcement, patch, open, sampleNow), announcement)
    })
  }
})

describe('a patch is rejected', () => {
  it('for an unknown region, with the valid ones', () => {
    for (const announcement of [fresh, inTwo, { ...inTwo, suspended: true }]) {
      for (const enabled of [true, false]) {
        const failure = failureOf(announcement, { enabled, region: 'mars' })
        assert.equal(failure.code, 'invalid')
        assert.deepEqual(failure.errors?.[0]?.loc, ['body', 'region'])
        assert.deepEqual(failure.errors?.[0]?.ctx, { valid: ['ams', 'fra', 'lon'] })
      }
    }
  })

  it('for a region that is not open to the team', () => {
    assert.equal(failureOf(fresh, { enabled: true, region: 'nyc' }).code, 'invalid')
  })

  it('for enabling before validation, with the missing checks', () => {
    const failure = failureOf({ ...fresh, irrValidated: null, loaValidated: null }, { enabled: true })
    assert.equal(failure.code, 'not_validated')
    assert.match(failure.message, /irr, loa/)
    assert.deepEqual(
      failure.errors?.map(({ loc, ctx }) => [loc, ctx]),
      [
        [['body', 'enabled'], { missing: 'irr' }],
        [['body', 'enabled'], { missing: 'loa' }],
      ],
    )
  })

  it('for adding a region after the validation was lost', () => {
    assert.equal(
      failureOf({ ...inAms, rpkiValidated: null }, { enabled: true, region: 'fra' }).code,
      'not_validated',
    )
  })

  it('for enabling while suspended, even if it is already enabled', () => {
    assert.equal(failureOf({ ...fresh, suspended: true }, { enabled: true }).code, 'suspended')
    assert.equal(failureOf({ ...inAms, suspended: true }, { enabled: true }).code, 'suspended')
  })
})

describe('disabling', () => {
  it('is never rejected', () => {
    const blocked = [
      { ...inTwo, irrValidated: null, rpkiValidated: null, loaValidated: null },
      { ...inTwo, suspended: true },
    ]
    for (const announcement of blocked) {
      assert.equal(patched(announcement, { enabled: false }).enabled, false)
      assert.deepEqual(patched(announcement, { enabled: false, region: 'ams' }).regions, ['fra'])
    }
  })
})
