import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { rowsByKey } from './define-kind.ts'
import type { PlatformChange, Current, Entry, PlanOptions, Row } from './kind.ts'
import { platformKinds } from '../kinds/index.ts'
import { planPlatform, type Desired, type ApplyPlan } from './plan.ts'
import { planAsData, printPlan } from './print.ts'
import { checkText, nothing, sampleText } from '../samples.ts'

const plain: PlanOptions = { prune: false, enforce: false }
const sample = checkText(sampleText).desired
const { kinds } = platformKinds

/** The state of the database after a plan: a model of apply.ts without a database. */
function after(current: Current, { changes }: ApplyPlan): Current {
  const next = new Map(kinds.map((kind) => [kind.name, new Map<string, Row>(rowsByKey(current, kind))]))
  for (const change of changes) {
    const rows = next.get(change.kind)!
    const row = rows.get(change.key)
    if (change.action === 'delete') assert.ok(rows.delete(change.key))
    else {
      assert.equal(change.action === 'create', row === undefined)
      rows.set(change.key, {
        kind: change.kind,
        key: change.key,
        id: 1,
        fields: { ...row?.fields, ...passedNow(change) },
        selected: {},
        inUse: null,
        alsoRefersTo: [],
        isPrunable: true,
        setByOwner: change.kind === 'announcement' ? ['enabled', 'regions'] : [],
      })
    }
  }
  return { rows: next, removed: current.removed }
}

function passedNow(change: Exclude<PlatformChange, { action: 'delete' }>): object {
  const times = new Set(['verified', 'irr', 'rpki', 'loa'])
  return Object.fromEntries(
    Object.entries(change.fields).map(([field, value]) => [
      field,
      times.has(field) && value === true ? '2026-01-01T00:00:00.000Z' : value,
    ]),
  )
}

const planOf = (desired: Desired, current: Current, options = plain) =>
  planPlatform(platformKinds, desired, current, options)

const planned = (text: string, current: Current, options = plain) =>
  planOf(checkText(text, current, options.prune).desired, current, options)

const linesOf = (plan: ApplyPlan) => printPlan(platformKinds, plan).split('\n')

/** The same platform with another row. */
function withRow(current: Current, kind: string, key: string, change: (row: Row) => Partial<Row>): Current {
  const row = current.rows.get(kind)!.get(key)!
  const rows = new Map(current.rows).set(kind, new Map([[key, { ...row, ...change(row) }]]))
  return { ...current, rows }
}

const prefix = '192.0.2.0/24'

test('creates everything in an empty database, and nothing the second time', () => {
  const first = planOf(sample, nothing)
  assert.equal(first.changes.length, sample.entries.length)
  assert.ok(first.changes.every(({ action }) => action === 'create'))
  const second = planOf(sample, after(nothing, first))
  assert.deepEqual([second.changes, second.notices], [[], []])
  assert.equal(second.unchanged['membership'], 2)
})

test('creates elements after those they refer to, and deletes them before', () => {
  const place = (change: PlatformChange) => kinds.findIndex(({ name }) => name === change.kind)
  const created = planOf({ ...sample, entries: sample.entries.toReversed() }, nothing)
  assert.deepEqual(
    created.changes.map(place),
    created.changes.map(place).sort((a, b) => a - b),
  )
  const empty: Desired = { entries: [], present: sample.present }
  const gone = planOf(empty, after(nothing, created), { ...plain, prune: true })
  assert.deepEqual(
    gone.changes.map(place),
    gone.changes.map(place).sort((a, b) => b - a),
  )
  assert.equal(gone.changes.length, sample.entries.length)
})

const world = after(nothing, planOf(sample, nothing))

test('changes what the file names, returns the rest to its defaults, and keeps what others set too', () => {
  const text = 'teams: [{slug: demo, name: Demo}]\nasns: [{team: demo, asn: 64496, verified: true}]\n'
  const plan = planned(text, world)
  assert.deepEqual(linesOf(plan), [
    '~ team demo name: Demo Networks -> Demo',
    '~ team demo modules: [ipam, lighthouse] -> []',
    '~ team demo enable_dns: true -> false',
    '= 0 to create, 1 to change, 0 to delete, 1 unchanged (1 asn)',
  ])
})

test('restores a pass that was lost, and keeps the time of an existing one', () => {
  const text = 'announcements: [{team: demo, prefix: 192.0.2.0/24, origin_asn: 64496, validated: true}]\n'
  assert.deepEqual(planned(text, world).changes, [])
  const lost = withRow(world, 'announcement', prefix, ({ fields }) => ({
    fields: { ...fields, rpki: false },
  }))
  assert.deepEqual(linesOf(planned(text, lost))[0], '~ announcement 192.0.2.0/24 rpki: false -> true')
})

test('keeps what a team has set since, with a notice', () => {
  const current = withRow(world, 'announcement', prefix, ({ fields }) => ({
    fields: { ...fields, enabled: false, regions: [] },
  }))
  const text =
    'announcements: [{team: demo, prefix: 192.0.2.0/24, origin_asn: 64496, enabled: true, regions: [ams]}]\n'
  const kept = planned(text, current)
  assert.deepEqual(kept.changes, [])
  assert.equal(kept.notices.length, 2)
  assert.match(kept.notices[0]!, /enabled is true in the file and was set to false since; kept/)
  const enforced = planned(text, current, { ...plain, enforce: true })
  assert.deepEqual(linesOf(enforced).slice(0, 2), [
    '~ announcement 192.0.2.0/24 enabled: false -> true',
    '~ announcement 192.0.2.0/24 regions: [] -> [ams]',
  ])
})

test('deletes only with prune, and only in the sections that the file has', () => {
  const text = 'prefixes: [{team: demo, prefix: 192.0.2.0/24, name: Servers, location: ams}]\n'
  assert.deepEqual(planned(text, world).changes, [])
  assert.deepEqual(linesOf(planned(text, world, { ...plain, prune: true })), [
    '- prefix other 2001:db8::/32',
    '= 0 to create, 0 to change, 1 to delete, 1 unchanged (1 prefix)',
  ])
})

test('disables an announcement in use, and deletes it only once it is withdrawn', () => {
  const current = withRow(world, 'announcement', prefix, () => ({ inUse: 'it must be withdrawn first' }))
  const plan = planned('announcements: []\n', current, { ...plain, prune: true })
  assert.deepEqual(linesOf(plan), [
    '~ announcement 192.0.2.0/24 enabled: true -> false',
    '! announcement 192.0.2.0/24 is not in the file and is kept: it must be withdrawn first',
    '= 0 to create, 1 to change, 0 to delete, 0 unchanged',
  ])
})

test('does not delete referenced elements, and closes a region instead', () => {
  const current = withRow(world, 'announcement', prefix, ({ fields }) => ({
    inUse: 'in use',
    fields: { ...fields, regions: [] },
    alsoRefersTo: ['region ams'],
  }))
  const plan = planned('locations: []\nregions: []\nteams: []\n', current, { ...plain, prune: true })
  assert.deepEqual(
    linesOf(plan).filter((line) => !line.startsWith('=')),
    [
      '~ region ams open: true -> false',
      '- region fra',
      '- location fra',
      '! team demo is not in the file and is kept: membership demo ada@demo.example and 3 more refer to it',
      '! team other is not in the file and is kept: membership other ada@demo.example and 1 more refer to it',
      '! region ams is not in the file and is kept: announcement 192.0.2.0/24 refers to it',
      '! location ams is not in the file and is kept: region ams and 2 more refer to it',
    ],
  )
})

test('prints no secret, neither as text nor as JSON', () => {
  const entries = sample.entries.map((entry) => {
    const more = { user: { password_hash: 'hunter2' }, source: { secret_mac: 'hunter2' } }[entry.kind] ?? {}
    return { ...entry, fields: { ...entry.fields, ...more } } satisfies Entry
  })
  const created = planOf({ ...sample, entries }, nothing)
  const changed = planOf({ ...sample, entries }, world)
  assert.equal(changed.changes.length, 2)
  for (const plan of [created, changed]) {
    assert.doesNotMatch(linesOf(plan).join() + JSON.stringify(planAsData(platformKinds, plan)), /hunter2/)
  }
  assert.match(linesOf(changed).join('\n'), /~ user ada@demo\.example password: changed/)
})

const slug = fc.constantFrom('a', 'b', 'c')
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const listOf = <T>(value: fc.Arbitrary<T>, key: (element: T) => unknown) =>
  optional(fc.uniqueArray(value, { selector: key, maxLength: 4 }))

/** Platforms without unknown references; JSON is YAML. */
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

test('applying any file a second time changes nothing, whatever existed before', () => {
  fc.assert(
    fc.property(platformText, platformText, fc.boolean(), fc.boolean(), (earlier, later, prune, enforce) => {
      const options = { prune, enforce }
      const before = after(nothing, planned(earlier, nothing))
      const first = checkText(later, before, prune)
      if (first.problems.length > 0) return
      const now = after(before, planOf(first.desired, before, options))
      const again = planned(later, now, options)
      assert.deepEqual(again.changes, [])
    }),
    { numRuns: 300 },
  )
})
