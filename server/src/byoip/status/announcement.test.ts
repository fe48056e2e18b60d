import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { announcementStatuses, regionStates } from '@pharos/contract/byoip/announcement'
import * as fc from 'fast-check'
import {
  changesKept,
  isDesired,
  stateAfterChange,
  statusOf,
  withIntent,
  type Announcement,
  type AnnouncementRegion,
} from './announcement.ts'
import { sampleAnnouncement, sampleNow, sampleOpen, sampleRegion } from '../announcement/samples.ts'

const once = { changes: [sampleNow] }

describe('the status of an announcement', () => {
  const on = { enabled: true }
  const cases: [string, string, Partial<Announcement>][] = [
    ['no validation', 'pending_validation', { irrValidated: null, rpkiValidated: null, loaValidated: null }],
    ['one validation missing', 'pending_validation', { loaValidated: null }],
    ['validated, never enabled', 'ready', {}],
    ['validated, configured, never enabled', 'ready', { regions: [sampleRegion('ams')] }],
    [
      'enabled, nothing observed',
      'announcing',
      { ...on, regions: [sampleRegion('ams', { state: 'announcing' })] },
    ],
    ['observed everywhere', 'announced', { ...on, regions: [sampleRegion('ams', { state: 'announced' })] }],
    [
      'observed in one of two',
      'partially_announced',
      {
        ...on,
        regions: [sampleRegion('ams', { state: 'announced' }), sampleRegion('fra', { state: 'announcing' })],
      },
    ],
    [
      'observed in one, rejected in the other',
      'partially_announced',
      {
        ...on,
        regions: [sampleRegion('ams', { state: 'announced' }), sampleRegion('fra', { state: 'error' })],
      },
    ],
    [
      'observed everywhere, still being withdrawn from a removed region',
      'announced',
      {
        ...on,
        regions: [
          sampleRegion('ams', { state: 'announced' }),
          sampleRegion('fra', { configured: false, state: 'withdrawing' }),
        ],
      },
    ],
    ['rejected everywhere', 'error', { ...on, regions: [sampleRegion('ams', { state: 'error' })] }],
    [
      'rejected in one, being announced in the other',
      'announcing',
      {
        ...on,
        regions: [sampleRegion('ams', { state: 'error' }), sampleRegion('fra', { state: 'announcing' })],
      },
    ],
    [
      'disabled, still announced',
      'withdrawing',
      { regions: [sampleRegion('ams', { state: 'withdrawing', ...once })] },
    ],
    ['disabled and withdrawn', 'withdrawn', { regions: [sampleRegion('ams', once)] }],
    [
      'disabled, its withdrawal rejected',
      'error',
      { regions: [sampleRegion('ams', { state: 'error', ...once })] },
    ],
    [
      'disabled and withdrawn, no longer validated',
      'pending_validation',
      {
        rpkiValidated: null,
        regions: [sampleRegion('ams', once)],
      },
    ],
    [
      'suspended, still announced',
      'withdrawing',
      {
        ...on,
        suspended: true,
        regions: [sampleRegion('ams', { state: 'withdrawing' })],
      },
    ],
    [
      'suspended and withdrawn',
      'suspended',
      { ...on, suspended: true, regions: [sampleRegion('ams', once)] },
    ],
    [
      'announced, its validation lost',
      'announced',
      {
        ...on,
        irrValidated: null,
        regions: [sampleRegion('ams', { state: 'announced' })],
      },
    ],
  ]
  for (const [what, status, rest] of cases) {
    it(`${what}: ${status}`, () => assert.equal(statusOf(sampleAnnouncement(rest)), status))
  }

  it('follows the checks while nothing is announced', () => {
    const announcement = sampleAnnouncement({ irrValidated: null })
    assert.equal(statusOf({ ...announcement, clearance: 'running' }), 'validating')
    assert.equal(statusOf({ ...announcement, clearance: 'failed' }), 'validation_failed')
  })

  it('is one of the documented statuses for all rows', () => {
    fc.assert(
      fc.property(anyAnnouncement, (announcement) => {
        assert.ok(announcementStatuses.includes(statusOf(announcement)))
      }),
    )
  })

  it('never reports a route that was not observed, and never hides one that was', () => {
    fc.assert(
      fc.property(anyAnnouncement, (announcement) => {
        const status = statusOf(announcement)
        const desired = announcement.regions.filter((region) => isDesired(announcement, region))
        const seen = desired.filter((region) => region.state === 'announced')
        assert.equal(status === 'announced', desired.length > 0 && seen.length === desired.length)
        assert.equal(status === 'partially_announced', seen.length > 0 && seen.length < desired.length)
        const atRest = ['pending_validation', 'ready', 'withdrawn', 'suspended']
        if (announcement.regions.some((region) => region.state !== 'withdrawn'))
          assert.ok(!atRest.includes(status))
      }),
    )
  })
})

describe('a changed intent', () => {
  it('changes the direction of each region whose desired state changes, and of no other', () => {
    fc.assert(
      fc.property(anyAnnouncement, anyIntent, (announcement, intent) => {
        const next = withIntent(announcement, intent, sampleOpen, sampleNow)
        for (const region of next.regions) {
          const before = announcement.regions.find((one) => one.regionId === region.regionId)
          const was = before !== undefined && isDesired(announcement, before)
          const is = isDesired(next, region)
          const state = before?.state ?? 'withdrawn'
          const expected = was === is ? state : stateAfterChange[state][is ? 'desired' : 'undesired']
          assert.equal(region.state, expected)
          if (was === is) assert.deepEqual(region.changes, before?.changes ?? [])
          else assert.equal(region.changes.at(-1), sampleNow)
        }
      }),
    )
  })

  it('keeps the row of every region that was ever configured', () => {
    fc.assert(
      fc.property(anyAnnouncement, anyIntent, (announcement, intent) => {
        const next = withIntent(announcement, intent, sampleOpen, sampleNow)
        const kept = new Set(next.regions.map((region) => region.regionId))
        for (const region of announcement.regions) assert.ok(kept.has(region.regionId))
        for (const regionId of intent.configured) assert.ok(kept.has(regionId))
      }),
    )
  })

  it('never changes what was observed', () => {
    fc.assert(
      fc.property(anyAnnouncement, anyIntent, (announcement, intent) => {
        const seen = new Set(
          announcement.regions.filter((one) => one.state === 'announced').map((one) => one.slug),
        )
        const gone = new Set(
          announcement.regions.filter((one) => one.state === 'withdrawn').map((one) => one.slug),
        )
        for (const region of withIntent(announcement, intent, sampleOpen, sampleNow).regions) {
          if (region.state === 'announced') assert.ok(seen.has(region.slug))
          if (region.state === 'withdrawn')
            assert.ok(gone.has(region.slug) || !announcement.regions.some((one) => one.slug === region.slug))
        }
      }),
    )
  })

  it('keeps only the newest changes', () => {
    let announcement = sampleAnnouncement({ regions: [sampleRegion('ams')] })
    for (let minute = 0; minute < 40; minute++) {
      const intent = { enabled: minute % 2 === 0, suspended: false, configured: new Set([1]) }
      announcement = withIntent(
        announcement,
        intent,
        sampleOpen,
        new Date(sampleNow.getTime() + minute * 60_000),
      )
    }
    const { changes } = announcement.regions[0]!
    assert.equal(changes.length, changesKept)
    assert.equal(changes.at(-1)!.getTime() - changes[0]!.getTime(), (changesKept - 1) * 60_000)
  })
})

const anyTime = fc.option(fc.constant(sampleNow), { nil: null })
const anyRegions = fc.uniqueArray(fc.constantFrom('ams', 'fra', 'lon'), { maxLength: 3 }).chain((slugs) =>
  fc.tuple(
    ...slugs.map((slug) =>
      fc
        .record({
          configured: fc.boolean(),
          state: fc.constantFrom(...regionStates),
          changes: fc.array(fc.constant(sampleNow), { maxLength: 2 }),
        })
        .map((rest): AnnouncementRegion => sampleRegion(slug, rest)),
    ),
  ),
)
const anyAnnouncement = fc
  .record({
    enabled: fc.boolean(),
    suspended: fc.boolean(),
    irrValidated: anyTime,
    rpkiValidated: anyTime,
    loaValidated: anyTime,
    regions: anyRegions,
  })
  .map((rest) => sampleAnnouncement(rest))
const anyIntent = fc.record({
  enabled: fc.boolean(),
  suspended: fc.boolean(),
  configured: fc.uniqueArray(fc.constantFrom(1, 2, 3, 4)).map((ids) => new Set(ids)),
})
