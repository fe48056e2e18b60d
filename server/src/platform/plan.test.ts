import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { planPlatform, type Change, type Plan, type PlanOptions } from './plan.ts'
import {
  emptyPlatform,
  kinds,
  type Current,
  type Desired,
  type Entry,
  type Kind,
  type Row,
} from './platform.ts'
import { planAsJson, printPlan } from './print.ts'
import { checkText, sampleText } from './samples.ts'

const plain: PlanOptions = { prune: false, enforce: false }
const sample = checkText(sampleText).desired

/** What the database would hold after the plan: a model of apply.store.ts, without a database. */
function after(current: Current, { changes }: Plan): Current {
  const next = Object.fromEntries(kinds.map((kind) => [kind, new Map<string, Row>(current[kind])])) as Record<
    Kind,
    Map<string, Row>
  >
  for (const change of changes) {
    const row = next[change.kind].get(change.key)
    if (change.action === 'delete') assert.ok(next[change.kind].delete(change.key))
    else {
      assert.equal(change.action === 'create', row === undefined)
      const fields = { ...row?.fields, ...passedNow(change) }
      next[change.kind].set(change.key, {
        ...change,
        id: 1,
        fields,
        inUse: null,
        alsoRefersTo: [],
        prunable: true,
        teamsOwn: change.kind === 'announcement' ? ['enabled', 'regions'] : [],
      } as unknown as Row)
    }
  }
  return next as Current
}

function passedNow(change: Exclude<Change, { action: 'delete' }>): object {
  const times = new Set(['verified', 'irr', 'rpki', 'loa'])
  return Object.fromEntries(
    Object.entries(change.fields).map(([field, value]) => [
      field,
      times.has(field) && value === true ? '2026-01-01T00:00:00.000Z' : value,
    ]),
  )
}

const planned = (text: string, current: Current, options = plain) =>
  planPlatform(checkText(text, current, options.prune).desired, current, options)

const linesOf = (plan: Plan) => printPlan(plan).split('\n')

test('an empty database gets everything, and then nothing is left to do', () => {
  const first = planPlatform(sample, emptyPlatform, plain)
  assert.equal(first.changes.length, sample.entries.length)
  assert.ok(first.changes.every(({ action }) => action === 'create'))
  const second = planPlatform(sample, after(emptyPlatform, first), plain)
  assert.deepEqual([second.changes, second.notices], [[], []])
  assert.equal(second.unchanged.membership, 2)
})

test('things are made after what they refer to, and deleted before it', () => {
  const place = (change: Change) => kinds.indexOf(change.kind)
  const created = planPlatform({ ...sample, entries: sample.entries.toReversed() }, emptyPlatform, plain)
  assert.deepEqual(
    created.changes.map(place),
    created.changes.map(place).sort((a, b) => a - b),
  )
  const nothing: Desired = { entries: [], present: sample.present }
  const gone = planPlatform(nothing, after(emptyPlatform, created), { ...plain, prune: true })
  assert.deepEqual(
    gone.changes.map(place),
    gone.changes.map(place).sort((a, b) => b - a),
  )
  assert.equal(gone.changes.length, sample.entries.length)
})

const world = after(emptyPlatform, planPlatform(sample, emptyPlatform, plain))

test('only what the file names is changed, field by field', () => {
  const text = 'teams: [{slug: demo, name: Demo}]\nasns: [{team: demo, asn: 64496, verified: true}]\n'
  const plan = planned(text, world)
  assert.deepEqual(linesOf(plan), [
    '~ team demo name: Demo Networks -> Demo',
    '= 0 to create, 1 to change, 0 to delete, 1 unchanged (1 asns)',
  ])
})

test('a pass that was lost is set again, a pass that stands keeps its time', () => {
  const text = 'announcements: [{team: demo, prefix: 192.0.2.0/24, origin_asn: 64496, validated: true}]\n'
  assert.deepEqual(planned(text, world).changes, [])
  const row = world.announcement.get('192.0.2.0/24')!
  const lost = {
    ...world,
    announcement: new Map([[row.key, { ...row, fields: { ...row.fields, rpki: false } }]]),
  }
  assert.deepEqual(linesOf(planned(text, lost))[0], '~ announcement 192.0.2.0/24 rpki: false -> true')
})

test('what a team has switched since is left to it, and said', () => {
  const row = world.announcement.get('192.0.2.0/24')!
  const switched = { ...row, fields: { ...row.fields, enabled: false, regions: [] } }
  const current = { ...world, announcement: new Map([[row.key, switched]]) }
  const text =
    'announcements: [{team: demo, prefix: 192.0.2.0/24, origin_asn: 64496, enabled: true, regions: [ams]}]\n'
  const left = planned(text, current)
  assert.deepEqual(left.changes, [])
  assert.equal(left.notices.length, 2)
  assert.match(
    left.notices[0]!,
    /the file says enabled true, since then it was set to false; left to the team/,
  )
  const enforced = planned(text, current, { ...plain, enforce: true })
  assert.deepEqual(linesOf(enforced).slice(0, 2), [
    '~ announcement 192.0.2.0/24 enabled: false -> true',
    '~ announcement 192.0.2.0/24 regions: [] -> [ams]',
  ])
})

test('nothing is deleted unless told, and then only in the sections that the file has', () => {
  const text = 'prefixes: [{team: demo, prefix: 192.0.2.0/24}]\n'
  assert.deepEqual(planned(text, world).changes, [])
  assert.deepEqual(linesOf(planned(text, world, { ...plain, prune: true })), [
    '- prefix other 2001:db8::/32',
    '= 0 to create, 0 to change, 1 to delete, 1 unchanged (1 prefixes)',
  ])
})

test('an announcement that is in use is switched off, and deleted only when it is at rest', () => {
  const row = world.announcement.get('192.0.2.0/24')!
  const current = { ...world, announcement: new Map([[row.key, { ...row, inUse: 'it is withdrawn first' }]]) }
  const plan = planned('announcements: []\n', current, { ...plain, prune: true })
  assert.deepEqual(linesOf(plan), [
    '~ announcement 192.0.2.0/24 enabled: true -> false',
    '! announcement 192.0.2.0/24 is not named and stays: it is withdrawn first',
    '= 0 to create, 0 to change, 0 to delete, 0 unchanged'.replace('0 to change', '1 to change'),
  ])
})

test('what others refer to is not deleted; a region is closed instead', () => {
  const row = { ...world.announcement.get('192.0.2.0/24')!, inUse: 'busy', alsoRefersTo: ['region ams'] }
  const current = { ...world, announcement: new Map([[row.key, row]]) }
  const plan = planned('locations: []\nregions: []\nteams: []\n', current, { ...plain, prune: true })
  assert.deepEqual(
    linesOf(plan).filter((line) => !line.startsWith('=')),
    [
      '~ region ams open: true -> false',
      '- region fra',
      '- location fra',
      '! team demo is not named and stays: membership demo ada@demo.example and 3 more refer to it',
      '! team other is not named and stays: membership other ada@demo.example and 1 more refer to it',
      '! region ams is not named and stays: announcement 192.0.2.0/24 refers to it',
      '! location ams is not named and stays: region ams and 2 more refer to it',
    ],
  )
})

test('a secret is never printed, neither for people nor for programs', () => {
  const entries = sample.entries.map((entry) => {
    const more =
      { user: { password_hash: 'hunter2' }, source: { secret_mac: 'hunter2' } }[entry.kind as string] ?? {}
    return { ...entry, fields: { ...entry.fields, ...more } } as Entry
  })
  const created = planPlatform({ ...sample, entries }, emptyPlatform, plain)
  const changed = planPlatform({ ...sample, entries }, world, plain)
  assert.equal(changed.changes.length, 2)
  for (const plan of [created, changed]) {
    assert.doesNotMatch(printPlan(plan) + JSON.stringify(planAsJson(plan)), /hunter2/)
  }
  assert.match(printPlan(changed), /~ user ada@demo\.example password: changed/)
})

const slug = fc.constantFrom('a', 'b', 'c')
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const listOf = <T>(value: fc.Arbitrary<T>, key: (element: T) => unknown) =>
  optional(fc.uniqueArray(value, { selector: key, maxLength: 4 }))

/** Platforms that refer only to what they have; JSON is YAML. */
const platformText = fc
  .record({
    locations: fc.constant(
      ['a', 'b', 'c'].map((key) => ({ key, name: key, country: 'NL', timezone: 'UTC' })),
    ),
    teams: fc
      .tuple(fc.string({ minLength: 1 }), fc.boolean())
      .map(([name, enable_dns]) => ['a', 'b', 'c'].map((key) => ({ slug: key, name, enable_dns }))),
    regions: fc
      .record({ location: slug, name: fc.constantFrom('x', 'y'), open: fc.constant(true) })
      .map((fields) =>
        ['a', 'b', 'c'].map((key) => ({ slug: key, speaker: { kind: 'sandbox' }, ...fields })),
      ),
    prefixes: listOf(
      fc.record(
        { team: slug, prefix: fc.nat(5).map((at) => `192.0.${at}.0/24`), name: fc.string(), location: slug },
        { requiredKeys: ['team', 'prefix'] },
      ),
      ({ prefix }) => prefix,
    ),
    asns: listOf(
      fc.record(
        { team: slug, asn: fc.integer({ min: 1, max: 5 }), verified: fc.boolean() },
        { requiredKeys: ['team', 'asn'] },
      ),
      ({ asn }) => `${asn}`,
    ),
    announcements: listOf(
      fc.record(
        {
          team: fc.constant('a'),
          prefix: fc.nat(5).map((at) => `198.51.${at}.0/24`),
          origin_asn: fc.integer({ min: 1, max: 3 }),
          validated: fc.constant(true),
          enabled: fc.boolean(),
          suspended: fc.boolean(),
          regions: fc.subarray(['a', 'b', 'c'], { minLength: 1 }),
        },
        { requiredKeys: ['team', 'prefix', 'origin_asn', 'validated'] },
      ),
      ({ prefix }) => prefix,
    ),
  })
  .map((platform) => JSON.stringify(platform))

test('applying any file twice leaves nothing to do the second time, whatever was there before', () => {
  fc.assert(
    fc.property(platformText, platformText, fc.boolean(), fc.boolean(), (earlier, later, prune, enforce) => {
      const options = { prune, enforce }
      const before = after(emptyPlatform, planned(earlier, emptyPlatform))
      const first = checkText(later, before, prune)
      if (first.problems.length > 0) return
      const now = after(before, planPlatform(first.desired, before, options))
      const again = planned(later, now, options)
      assert.deepEqual(again.changes, [])
    }),
    { numRuns: 300 },
  )
})
