import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Failure } from '../../runtime/error.ts'
import { isDesired, withIntent, type Announcement } from '../status/announcement.ts'
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

  it('enables a disabled announcement in the region alone', () => {
    for (const region of ['ams', 'lon']) {
      const { enabled, regions } = patched(offInTwo, { enabled: true, region })
      assert.deepEqual({ enabled, regions }, { enabled: true, regions: [region] })
    }
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

  it('adds every open region if it never had one', () => {
    assert.deepEqual(patched(fresh, { enabled: true }).regions, ['ams', 'fra', 'lon'])
  })

  it('restores the last set of regions after every one was disabled', () => {
    const one = applyPatch(inTwo, { enabled: false, region: 'ams' }, open, sampleNow)
    const none = applyPatch(one, { enabled: false, region: 'fra' }, open, sampleNow)
    assert.deepEqual(patched(none, { enabled: true }).regions, ['fra'])
  })

  it('restores it also after a suspension, and not after another region was enabled', () => {
    const none = applyPatch(inAms, { enabled: false, region: 'ams' }, open, sampleNow)
    const suspended = withIntent(none, { ...none, suspended: true, configured: new Set() }, open, sampleNow)
    const resumed = withIntent(suspended, { ...none, configured: new Set() }, open, sampleNow)
    assert.deepEqual(patched(resumed, { enabled: true }).regions, ['ams'])
    const other = applyPatch(none, { enabled: true, region: 'lon' }, open, sampleNow)
    const off = applyPatch(other, { enabled: false, region: 'lon' }, open, sampleNow)
    assert.deepEqual(patched(off, { enabled: true }).regions, ['lon'])
  })

  it('restores no region that was closed meanwhile; a conflict if none is left', () => {
    const none = applyPatch(inAms, { enabled: false, region: 'ams' }, open, sampleNow)
    assert.throws(
      () => applyPatch(none, { enabled: true }, open.slice(1), sampleNow),
      (error) => error instanceof Failure && error.code === 'conflict' && /fra, lon/.test(error.message),
    )
  })

  it('is a conflict if no region is open', () => {
    assert.throws(
      () => applyPatch(fresh, { enabled: true }, [], sampleNow),
      (error) => error instanceof Failure && error.code === 'conflict',
    )
  })
})

describe('any sequence of toggles', () => {
  it('announces where the model does, and never in a region that was not chosen', () => {
    fc.assert(
      fc.property(fc.array(anyToggle, { maxLength: 12 }), (toggles) => {
        let announcement = fresh
        let model = modelAtFirst
        for (const toggle of toggles) {
          const next = afterToggle(model, toggle)
          if (next === undefined) {
            assert.equal(failureOf(announcement, toggle).code, 'invalid')
            continue
          }
          announcement = applyPatch(announcement, toggle, open, sampleNow)
          const configured = announcement.regions.filter((one) => one.configured).map(({ slug }) => slug)
          assert.deepEqual(
            { enabled: announcement.enabled, regions: configured },
            { enabled: next.enabled, regions: [...next.regions].sort() },
          )
          const desired = announcement.regions.filter((one) => isDesired(announcement, one))
          // A region is new only if the request named it, enabled the regions of before, or it is the first one ever.
          for (const { slug } of desired)
            assert.ok(isNamed(toggle, slug) || model.last.has(slug) || model.last.size === 0, slug)
          model = next
        }
      }),
    )
  })
})

type Model = {
  readonly enabled: boolean
  readonly regions: ReadonlySet<string>
  /** The last set that was not empty; empty if there never was one. */
  readonly last: ReadonlySet<string>
}

const modelAtFirst: Model = { enabled: false, regions: new Set(), last: new Set() }

const slugs = ['ams', 'fra', 'lon'] as const
const anyToggle = fc.oneof(
  fc.record(
    { enabled: fc.boolean(), region: fc.constantFrom(...slugs) },
    { requiredKeys: ['enabled'] },
  ) as fc.Arbitrary<Patch>,
  fc.record(
    { enabled: fc.boolean(), regions: fc.subarray([...slugs]) },
    { requiredKeys: ['regions'] },
  ) as fc.Arbitrary<Patch>,
)

const isNamed = ({ region, regions = [] }: Patch, slug: string): boolean =>
  slug === region || regions.includes(slug)

/** The rules of the API's description, in its words; undefined if the patch is refused. */
function afterToggle(model: Model, patch: Patch): Model | undefined {
  if (patch.regions === undefined) return afterSwitch(model, { ...patch, enabled: patch.enabled! })
  const enabled = patch.enabled ?? model.enabled
  const regions = new Set(patch.regions)
  if (enabled && regions.size === 0) return undefined
  return { enabled, regions, last: regions.size > 0 ? regions : model.last }
}

function afterSwitch(
  { enabled, regions, last }: Model,
  { enabled: on, region }: Patch & { readonly enabled: boolean },
): Model {
  if (region === undefined) {
    const all = new Set(open.map(({ slug }) => slug))
    const kept = regions.size > 0 || !on ? regions : last.size > 0 ? last : all
    return { enabled: on, regions: kept, last: kept.size > 0 ? kept : last }
  }
  const changed = on
    ? new Set(enabled ? [...regions, region] : [region])
    : new Set([...regions].filter((one) => one !== region))
  const isLeft = changed.size > 0
  return { enabled: on || (enabled && isLeft), regions: changed, last: isLeft ? changed : last }
}

describe('all regions at once', () => {
  it('replaces the set, and announces only in the new ones', () => {
    const next = applyPatch(inTwo, { regions: ['lon', 'fra', 'lon'] }, open, sampleNow)
    assert.deepEqual(
      next.regions.map(({ slug, configured, state }) => [slug, configured, state]),
      [
        ['ams', false, 'withdrawing'],
        ['fra', true, 'announced'],
        ['lon', true, 'announcing'],
      ],
    )
    assert.equal(next.version, inTwo.version + 1)
  })

  it('is kept for enabling while the announcement is disabled', () => {
    const stored = applyPatch(offInTwo, { regions: ['lon'] }, open, sampleNow)
    assert.deepEqual([stored.enabled, stored.status], [false, 'ready'])
    assert.deepEqual(patched(stored, { enabled: true }).regions, ['lon'])
    const both = patched(offInTwo, { enabled: true, regions: ['fra'] })
    assert.deepEqual([both.enabled, both.regions], [true, ['fra']])
    const off = patched(inTwo, { enabled: false, regions: ['fra'] })
    assert.deepEqual([off.enabled, off.regions], [false, ['fra']])
  })

  it('may be empty only while disabled', () => {
    for (const [announcement, patch] of [
      [inTwo, { regions: [] }],
      [offInTwo, { enabled: true, regions: [] }],
    ] as const) {
      const [error] = failureOf(announcement, { ...patch, regions: [] }).errors!
      assert.deepEqual(error!.loc, ['body', 'regions'])
      assert.match(error!.msg, /name the regions, or send enabled as false/)
    }
    const off = patched(inTwo, { enabled: false, regions: [] })
    assert.deepEqual([off.enabled, off.regions], [false, []])
  })

  it('needs checks to add a region, and none to remove one', () => {
    for (const lost of [
      { ...inTwo, irrValidated: null },
      { ...inTwo, claimed: null },
    ]) {
      assert.equal(failureOf(lost, { regions: ['ams', 'lon'] }).code, 'not_validated')
      assert.deepEqual(patched(lost, { enabled: true, regions: ['ams'] }).regions, ['ams'])
    }
    const unvalidated = { ...offInTwo, irrValidated: null }
    assert.deepEqual(patched(unvalidated, { regions: ['lon'] }).regions, ['lon'])
    assert.equal(failureOf(unvalidated, { enabled: true, regions: ['lon'] }).code, 'not_validated')
    const suspended = { ...inTwo, suspended: true }
    assert.equal(failureOf(suspended, { regions: ['ams', 'lon'] }).code, 'suspended')
    assert.deepEqual(patched(suspended, { regions: ['ams'] }).regions, ['ams'])
  })

  it('lists each unknown region with the valid ones; a closed one may be kept, not added', () => {
    const failure = failureOf(inTwo, { regions: ['mars', 'ams', 'nyc'] })
    const valid = ['ams', 'fra', 'lon']
    assert.deepEqual(
      failure.errors?.map(({ loc, ctx }) => [loc, ctx]),
      [
        [['body', 'regions', 0], { valid, suggestion: 'ams' }],
        [['body', 'regions', 2], { valid }],
      ],
    )
    const inClosed = sampleAnnouncement({ regions: [sampleRegion('ams'), sampleRegion('nyc')] })
    assert.deepEqual(patched(inClosed, { regions: ['nyc', 'fra'] }).regions, ['fra', 'nyc'])
  })

  it('excludes region, and region needs enabled', () => {
    const both = failureOf(inTwo, { enabled: true, region: 'ams', regions: ['ams'] })
    assert.deepEqual(both.errors?.[0]?.loc, ['body', 'region'])
    assert.deepEqual(failureOf(inTwo, { region: 'ams' }).errors?.[0]?.loc, ['body', 'enabled'])
    assert.deepEqual(failureOf(inTwo, {}).errors?.[0]?.loc, ['body', 'enabled'])
  })
})

describe('a patch of details', () => {
  it('changes them and nothing else, in one new version also together with the regions', () => {
    const next = applyPatch(inTwo, { description: 'Web', as_set: 'AS-EXAMPLE' }, open, sampleNow)
    const details = { ...inTwo.details, description: 'Web', as_set: 'AS-EXAMPLE' }
    assert.deepEqual(next, { ...inTwo, details, version: inTwo.version + 1 })
    const both = applyPatch(inTwo, { description: 'Web', regions: ['ams'] }, open, sampleNow)
    assert.deepEqual([both.details.description, both.version], ['Web', inTwo.version + 1])
    assert.equal(applyPatch(inTwo, { description: '', as_set: null }, open, sampleNow), inTwo)
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
        const failure = failureOf(announcement, { enabled, region: 'tokyo' })
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
