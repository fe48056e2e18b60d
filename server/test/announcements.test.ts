// Announcements against a real database: rows, responses, and isolation of teams.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import {
  announcementConditions,
  announcementStatuses,
  type Announcement as Wire,
} from '@pharos/contract/byoip/announcement'
import fc from 'fast-check'
import { sql } from 'kysely'
import type { AnnouncementStatus } from '../src/byoip/status/announcement.ts'
import type { AnnouncementListQuery } from '../src/byoip/announcement/announcement.store.ts'
import {
  countAnnouncements,
  getAnnouncement,
  listAnnouncements,
} from '../src/byoip/announcement/list-announcements.ts'
import { patchAnnouncement, type Patch } from '../src/byoip/announcement/patch-announcement.ts'
import { listRegions } from '../src/byoip/announcement/region.ts'
import { saveStatuses } from '../src/byoip/status/status.store.ts'
import { operationOf, seedAnnouncement, seedRegions, seedTeam } from '../src/byoip/announcement/testing.ts'
import { createTestDatabase, emptyAudit, emptyTables, type TestDatabase } from '../src/db/testing.ts'
import { createWaker } from '../src/db/wake.ts'
import { Failure } from '../src/runtime/error.ts'
import type { Operation } from '../src/operation/operation.ts'

let database: TestDatabase
let regions: Record<string, number>
let team: number
let other: number

before(async () => {
  database = await createTestDatabase()
  regions = await seedRegions(database.postgres, ['ams', 'fra', 'lon', 'old'])
  await sql`update regions set open = false where slug = 'old'`.execute(database.postgres.owner)
  team = await seedTeam(database.postgres, 'ours')
  other = await seedTeam(database.postgres, 'theirs')
})
after(() => database[Symbol.asyncDispose]())
beforeEach(async () => {
  await emptyTables(database.postgres.owner, ['announcements'])
  await emptyTables(database.postgres.owner, ['idempotency_keys'])
  await emptyAudit(database.postgres.owner)
})

const deps = () => ({ postgres: database.postgres, memberToggle: true, now: () => new Date() })
const seed = (prefix: string, rest = {}) =>
  seedAnnouncement(database.postgres, { teamId: team, prefix, ...rest })
const patch = (id: number, body: Patch, operation: Operation = operationOf(team)) =>
  patchAnnouncement(deps(), operation, id, body)
function admin(rest: Pick<Partial<Operation>, 'dryRun'> = {}): Operation {
  const operation: Operation = operationOf(team, rest)
  return { ...operation, actor: { ...operation.actor, roles: ['admin'] } }
}
const get = (id: number, query = {}) => getAnnouncement(deps(), operationOf(team), id, query)
const list = (query: Partial<AnnouncementListQuery> = {}, teamId = team) =>
  listAnnouncements(deps(), operationOf(teamId), { ordering: 'id', limit: 100, offset: 0, ...query })
const count = async (table: string): Promise<number> =>
  (await sql<{ n: number }>`select count(*) n from ${sql.table(table)}`.execute(database.postgres.owner))
    .rows[0]!.n

function failsWith(code: string) {
  return (error: unknown) => error instanceof Failure && error.code === code
}

describe('PATCH', () => {
  it('returns exactly what the next GET returns, including the ETag', async () => {
    const id = await seed('203.0.113.0/24')
    const answer = await patch(id, { enabled: true, region: 'ams' })
    assert.deepEqual(answer, await get(id))
    assert.match(answer.etag ?? '', /^"2\./)
    const body = answer.body as Wire
    assert.deepEqual([body.status, body.regions, body.enabled], ['announcing', ['ams'], true])
    const fields =
      'id cidr prefix prefixlen origin_asn regions status irr_validated rpki_validated loa_validated last_check last_check_result enabled created'
    assert.deepEqual(Object.keys(body), fields.split(' '))
  })

  it('does not have its statements planned anew each time', async () => {
    // The planner sees a difference only with the statistics of many rows.
    const { owner } = database.postgres
    await sql`
      with added as (
        insert into announcements (team_id, prefix, origin_asn, status, vouched, clearance, claimed, checked_origin)
        select ${team}, ('10.' || n / 256 || '.' || n % 256 || '.0/24')::cidr, 64496, 'ready', '{irr,rpki,loa}', 'passed', now(), 64496
        from generate_series(0, 3999) n returning id)
      insert into announcement_regions (announcement_id, region_id, team_id, configured, state)
      select a.id, r.id, ${team}, true, 'withdrawn' from added a cross join regions r`.execute(owner)
    await sql`analyze announcements, announcement_regions`.execute(owner)
    const id = await seed('203.0.113.0/24')
    for (let n = 0; n < 16; n++) await patch(id, { enabled: n % 2 === 0 })
    // The pool returns the connection that was used last.
    const { rows } = await database.postgres.inTeam(team, (trx) =>
      sql<{ statement: string }>`
        select statement from pg_prepared_statements
        where custom_plans + generic_plans > 10 and custom_plans > generic_plans`.execute(trx),
    )
    assert.deepEqual(rows, [])
  })

  it('returns region_states only with include=region_states', async () => {
    const id = await seed('203.0.113.0/24')
    const answer = await patchAnnouncement(
      deps(),
      operationOf(team),
      id,
      { enabled: true },
      { include: 'region_states' },
    )
    assert.deepEqual(answer, await get(id, { include: 'region_states' }))
    const states = (answer.body as Wire).region_states
    assert.deepEqual(
      states?.map(({ region, desired, state, message }) => ({ region, desired, state, message })),
      ['ams', 'fra', 'lon'].map((region) => ({ region, desired: true, state: 'announcing', message: null })),
    )
  })

  it('stores, audits and notifies nothing if nothing changes', async () => {
    const id = await seed('203.0.113.0/24', { enabled: true, regions: [regions.ams] })
    const notified = await notificationsDuring(() => patch(id, { enabled: true, region: 'ams' }))
    assert.equal(notified, 0)
    assert.match((await get(id)).etag, /^"1\./)
    assert.equal(await count('audit_entries'), 0)
  })

  it('is audited and notifies the reconciler in the transaction that stores it', async () => {
    const id = await seed('203.0.113.0/24')
    const notified = await notificationsDuring(() => patch(id, { enabled: true, region: 'ams' }))
    assert.equal(notified, 1)
    const { rows } = await sql<Record<string, unknown>>`
      select team_id, actor, action, target, before, after from audit_entries`.execute(
      database.postgres.owner,
    )
    const before = { enabled: false, regions: [] }
    const after = { enabled: true, regions: ['ams'] }
    const who = {
      team_id: team,
      actor: 'user:1',
      action: 'announcement.update',
      target: `announcement:${id}`,
    }
    assert.deepEqual(rows, [{ ...who, before, after: { ...after, desired: { ams: true } } }])
  })

  it('loses none of many concurrent toggles of different regions', async () => {
    for (let round = 0; round < 20; round++) {
      const id = await seed(`10.0.${round}.0/24`)
      await Promise.all(['ams', 'fra', 'lon'].map((region) => patch(id, { enabled: true, region })))
      assert.deepEqual((await get(id)).body.regions, ['ams', 'fra', 'lon'])
      await Promise.all([
        patch(id, { enabled: false, region: 'ams' }),
        patch(id, { enabled: false, region: 'lon' }),
      ])
      assert.deepEqual((await get(id)).body.regions, ['fra'])
      await Promise.all([
        patch(id, { enabled: false, region: 'fra' }),
        patch(id, { enabled: true, region: 'lon' }),
      ])
      const { body } = await get(id)
      assert.deepEqual([body.regions, body.enabled], [['lon'], true])
    }
  })

  it('returns 404 for missing announcements and those of other teams, and changes neither', async () => {
    const theirs = await seedAnnouncement(database.postgres, { teamId: other, prefix: '198.51.100.0/24' })
    const before = await list({}, other)
    for (const id of [theirs, 999_999, 999_999_999_999_999]) {
      await assert.rejects(patch(id, { enabled: true }), failsWith('not_found'))
      await assert.rejects(get(id), failsWith('not_found'))
    }
    assert.deepEqual(await list({}, other), before)
  })

  it('stores each of many random toggles as its dry run and its answer state, and as GET returns it', async () => {
    const toggle = fc.record(
      { enabled: fc.boolean(), region: fc.constantFrom('ams', 'fra', 'lon') },
      { requiredKeys: ['enabled'] },
    ) as fc.Arbitrary<Patch>
    const whole = fc.record(
      { enabled: fc.boolean(), regions: fc.subarray(['ams', 'fra', 'lon'], { minLength: 1 }) },
      { requiredKeys: ['regions'] },
    ) as fc.Arbitrary<Patch>
    let next = 0
    const property = fc.asyncProperty(
      fc.array(fc.oneof(toggle, whole), { minLength: 1, maxLength: 8 }),
      async (toggles) => {
        const id = await seed(`10.1.${next++}.0/24`)
        for (const body of toggles) {
          const before = await get(id)
          const planned = (await patch(id, body, operationOf(team, { dryRun: true }))).body
          assert.ok('dry_run' in planned)
          assert.deepEqual(await get(id), before)
          const answer = await patch(id, body)
          const after = await get(id)
          assert.deepEqual(answer, after)
          assert.deepEqual(planned.result, after.body)
          const changed = planned.changes.map(({ field, after: value }) => [field, value])
          assert.deepEqual({ ...before.body, ...Object.fromEntries(changed) }, after.body)
          assert.equal(answer.etag === before.etag, changed.length === 0)
        }
        await assertRecorded(id)
      },
    )
    await fc.assert(property, { numRuns: 20 })
  })

  /** The audit entries form a chain from the first state to the current one, with a line of the history for each. */
  async function assertRecorded(id: number): Promise<void> {
    const { owner } = database.postgres
    type Intent = { enabled: boolean; regions: string[] }
    const { rows } = await sql<{ before: Intent; after: Intent }>`
      select before, after - 'desired' as after from audit_entries where target = ${`announcement:${id}`} order by id`.execute(
      owner,
    )
    let state: Intent = { enabled: false, regions: [] }
    for (const entry of rows) {
      assert.deepEqual(entry.before, state)
      assert.notDeepEqual(entry.after, state)
      state = entry.after
    }
    const { enabled, regions: last } = (await get(id)).body
    assert.deepEqual(state, { enabled, regions: last })
    const lines = await sql`select from announcement_history where announcement_id = ${id}`.execute(owner)
    assert.equal(lines.rows.length, rows.length)
  }

  it('checks If-Match', async () => {
    const id = await seed('203.0.113.0/24')
    const matching = (ifMatch: string) => operationOf(team, { ifMatch })
    await assert.rejects(patch(id, { enabled: true }, matching('"7"')), failsWith('precondition_failed'))
    await assert.rejects(patch(id, { enabled: true }, matching('W/"1"')), failsWith('precondition_failed'))
    assert.match((await get(id)).etag, /^"1\./)
    await patch(id, { enabled: true }, matching('"9", "1"'))
    assert.match((await get(id)).etag, /^"2\./)
    await patch(id, { enabled: false }, matching('*'))
    assert.match((await get(id)).etag, /^"3\./)
  })

  it('is not refused because of what the reconciler and the validator observed, but because of what a caller changed', async () => {
    const id = await seed('203.0.113.0/24', { enabled: true, regions: [regions.ams] })
    const { owner } = database.postgres
    const read = await get(id, { include: 'validations' })
    await sql`update announcement_regions set state = 'error' where announcement_id = ${id}`.execute(owner)
    await owner.transaction().execute((trx) => saveStatuses(trx, [id]))
    const observed = await get(id, { include: 'validations' })
    assert.equal(observed.body.status, 'error')
    assert.notEqual(observed.etag, read.etag)
    await sql`update announcements set irr_validated = now() where id = ${id}`.execute(owner)
    const validated = await get(id, { include: 'validations' })
    assert.notEqual(validated.etag, observed.etag)
    const mine = () => operationOf(team, { ifMatch: read.etag })
    await patch(id, { enabled: true, regions: ['ams', 'fra'] }, mine())
    await assert.rejects(patch(id, { enabled: false }, mine()), failsWith('precondition_failed'))
    for (const change of [{ description: 'Web' }, { regions: ['lon'] }, { enabled: false }]) {
      const operation = operationOf(team, { ifMatch: (await get(id)).etag })
      await patch(id, change, admin())
      await assert.rejects(patch(id, { enabled: false }, operation), failsWith('precondition_failed'))
    }
  })

  it('sets all regions at once, also while disabled, with the ETag and the record of the next GET', async () => {
    const id = await seed('203.0.113.0/24')
    const planned = await patch(id, { regions: ['lon', 'ams'] }, operationOf(team, { dryRun: true }))
    assert.ok('dry_run' in planned.body)
    assert.deepEqual(planned.body.changes, [{ field: 'regions', before: [], after: ['ams', 'lon'] }])
    const stored = await patch(id, { regions: ['lon', 'ams'] })
    assert.deepEqual(stored, await get(id))
    assert.deepEqual((stored.body as Wire).status, 'ready')
    const on = (await patch(id, { enabled: true })).body as Wire
    assert.deepEqual([on.regions, on.enabled], [['ams', 'lon'], true])
    const next = (await patch(id, { enabled: true, regions: ['fra', 'lon'] })).body as Wire
    assert.deepEqual(next.regions, ['fra', 'lon'])
    await assertRecorded(id)
  })

  it('changes details, shows them, and has a changed AS-SET checked', async () => {
    const id = await seed('203.0.113.0/24')
    const include = 'details'
    const details = { description: 'Web', as_set: 'AS-EXAMPLE', delegate_loa: true, loa_signatory: 'Ann Lee' }
    const dry = await patch(id, details, admin({ dryRun: true }))
    assert.ok('dry_run' in dry.body)
    assert.deepEqual(
      dry.body.changes.map(({ field, after }) => [field, after]),
      Object.entries(details),
    )
    const notified = await notificationsDuring(() => patch(id, details, admin()))
    assert.equal(notified, 1)
    const { body, etag } = await get(id, { include })
    assert.partialDeepStrictEqual(body.details, details)
    const same = await patchAnnouncement(deps(), admin(), id, details, { include })
    assert.deepEqual(same, { body, etag })
    const cleared = await patchAnnouncement(deps(), admin(), id, { as_set: null }, { include })
    assert.equal((cleared.body as Wire).details?.as_set, null)
    assert.deepEqual(cleared, await get(id, { include }))
    const { rows } =
      await sql`select kind, detail from announcement_history where announcement_id = ${id} order by id`.execute(
        database.postgres.owner,
      )
    assert.deepEqual(rows, [
      { kind: 'updated', detail: { fields: Object.keys(details) } },
      { kind: 'updated', detail: { fields: ['as_set'] } },
    ])
  })

  it('lets only admins change details', async () => {
    const id = await seed('203.0.113.0/24')
    await assert.rejects(patch(id, { description: 'Web' }), failsWith('forbidden'))
    await patch(id, { description: 'Web' }, admin())
    await patch(id, { regions: ['ams'] })
  })

  it('reports in a dry run what would change, and stores nothing', async () => {
    const id = await seed('203.0.113.0/24')
    const operation = operationOf(team, { dryRun: true })
    const { body } = await patch(id, { enabled: true, region: 'fra' }, operation)
    assert.ok('dry_run' in body)
    assert.deepEqual(body.changes, [
      { field: 'regions', before: [], after: ['fra'] },
      { field: 'status', before: 'ready', after: 'announcing' },
      { field: 'enabled', before: false, after: true },
    ])
    assert.deepEqual(body.result.regions, ['fra'])
    assert.match((await get(id)).etag, /^"1\./)
    assert.equal(await count('announcement_regions'), 0)
    await assert.rejects(patch(id, { enabled: true, region: 'mars' }, operation), failsWith('invalid'))
  })

  it('returns the first response again for a repeated Idempotency-Key', async () => {
    const id = await seed('203.0.113.0/24')
    const idempotency = { key: 'k1', requestHash: Buffer.from('on') }
    const first = await patch(id, { enabled: true, region: 'ams' }, operationOf(team, { idempotency }))
    await patch(id, { enabled: false })
    assert.deepEqual(await patch(id, { enabled: true, region: 'ams' }, operationOf(team, { idempotency })), {
      ...first,
      replayed: true,
    })
    assert.equal((await get(id)).body.enabled, false)
  })

  it('requires the admin role if the operator configures it', async () => {
    const id = await seed('203.0.113.0/24')
    const strict = { ...deps(), memberToggle: false }
    await assert.rejects(
      patchAnnouncement(strict, operationOf(team), id, { enabled: true }),
      failsWith('forbidden'),
    )
    await patchAnnouncement(strict, operationOf(team, { actor: { roles: ['admin'] } }), id, { enabled: true })
    assert.equal((await get(id)).body.enabled, true)
  })

  it('rejects enabling in a closed region, and allows disabling there', async () => {
    const id = await seed('203.0.113.0/24', { enabled: true, regions: [regions.ams, regions.old] })
    await assert.rejects(
      patch(await seed('198.51.100.0/24'), { enabled: true, region: 'old' }),
      failsWith('invalid'),
    )
    await patch(id, { enabled: false, region: 'old' })
    assert.deepEqual((await get(id)).body.regions, ['ams'])
  })

  it('keeps the row of a disabled region', async () => {
    const id = await seed('203.0.113.0/24', { enabled: true, regions: [regions.ams, regions.fra] })
    await patch(id, { enabled: false, region: 'ams' })
    const { body } = await get(id, { include: 'region_states' })
    assert.deepEqual(
      body.region_states?.map(({ region, desired, state }) => [region, desired, state]),
      [
        ['ams', false, 'withdrawing'],
        ['fra', true, 'announcing'],
      ],
    )
  })
})

describe('GET', () => {
  it('formats IPv6 as defined in RFC 5952', async () => {
    const { body } = await get(await seed('2001:db8:0:1::/64'))
    assert.deepEqual([body.cidr, body.prefix, body.prefixlen], ['2001:db8:0:1::/64', '2001:db8:0:1::', 64])
    const mapped = await get(await seed('2001:db8:0:0:1::/80'))
    assert.deepEqual(mapped.body.cidr, '2001:db8:0:0:1::/80')
  })

  it('reports the oldest check of the regions concerned', async () => {
    const [older, old, recent] = [300, 20, 10].map((s) => new Date(Date.now() - s * 1000).toISOString())
    const at = (slug: string, time: string | undefined, result: boolean | null) =>
      sql`update regions set last_check = ${time}, last_check_result = ${result} where slug = ${slug}`.execute(
        database.postgres.owner,
      )
    const id = await seed('203.0.113.0/24', { enabled: true, regions: [regions.ams, regions.fra] })
    const check = async () => {
      const { body } = await get(id)
      return [body.last_check, body.last_check_result]
    }
    assert.deepEqual(await check(), [null, null])
    await at('ams', recent, true)
    await at('lon', '2020-01-01T00:00:00Z', false)
    assert.deepEqual(await check(), [null, false], 'it is not yet as wanted')
    await sql`update announcement_regions set state = 'announced' where announcement_id = ${id}`.execute(
      database.postgres.owner,
    )
    assert.deepEqual(await check(), [null, null])
    await at('fra', old, true)
    assert.deepEqual(await check(), [old, true])
    await at('fra', older, true)
    assert.deepEqual(await check(), [older, false], 'the next check is overdue')
    await at('fra', old, false)
    assert.deepEqual(await check(), [old, false])
    const { body } = await get(id, { include: 'region_states' })
    assert.match(body.region_states?.[1]?.message ?? '', /cannot be read since/)
    await sql`update regions set last_check = null, last_check_result = null`.execute(database.postgres.owner)
  })
})

describe('the list', () => {
  const prefixes = ['10.2.0.0/16', '10.10.0.0/16', '9.0.0.0/24', '2001:db8::/32', '10.10.128.0/17']

  async function seedSome() {
    const asns = [64500, 64499, 64498, 64497, 64496]
    for (const [at, prefix] of prefixes.entries()) {
      const placed = at < 2 ? { enabled: true, regions: [at === 0 ? regions.ams : regions.fra] } : {}
      await seed(prefix, { originAsn: asns[at], validated: at !== 4, ...placed })
    }
    await seedAnnouncement(database.postgres, { teamId: other, prefix: '10.99.0.0/16' })
  }

  const cidrs = async (query: Partial<AnnouncementListQuery>) =>
    (await list(query)).results.map(({ cidr }) => cidr)
  const pick = (...places: number[]) => places.map((at) => prefixes[at])

  it('filters: different filters are combined with and, repeated ones with or', async () => {
    await seedSome()
    const pending: AnnouncementStatus = 'pending_validation'
    assert.deepEqual(await cidrs({}), prefixes)
    assert.deepEqual(await cidrs({ cidr: ['10.10.200.1'] }), pick(1, 4))
    assert.deepEqual(await cidrs({ cidr: ['10.0.0.0/8'] }), pick(0, 1, 4))
    assert.deepEqual(await cidrs({ cidr: ['9.0.0.0/8', '2001:DB8:0::1'] }), pick(2, 3))
    assert.deepEqual(await cidrs({ cidr: ['192.0.2.0/24'] }), [])
    assert.deepEqual(await cidrs({ origin_asn: [64500, 64496] }), pick(0, 4))
    assert.deepEqual(await cidrs({ region: ['ams', 'fra'] }), pick(0, 1))
    assert.deepEqual(await cidrs({ region: ['lon'] }), [])
    assert.deepEqual(await cidrs({ status: [pending, 'announcing'] }), pick(0, 1, 4))
    assert.deepEqual(await cidrs({ enabled: false, family: '4' }), pick(2, 4))
    assert.deepEqual(await cidrs({ family: '6' }), pick(3))
    assert.deepEqual(await cidrs({ enabled: true, cidr: ['10.10.0.0/16'], region: ['fra'] }), pick(1))
  })

  it('searches in prefixes, descriptions and origins, and for what covers an address', async () => {
    await seedSome()
    await sql`update announcements set description = 'Web servers' where prefix = '9.0.0.0/24'`.execute(
      database.postgres.owner,
    )
    const found = (search: string) => cidrs({ search })
    assert.deepEqual(await found('10.10'), pick(1, 4))
    assert.deepEqual(await found('2001:DB8'), pick(3))
    assert.deepEqual(await found(' web '), pick(2))
    assert.deepEqual(await found('64496'), pick(4))
    assert.deepEqual(await found('as6449'), pick(1, 2, 3, 4))
    assert.deepEqual(await found('10.10.200.1'), pick(1, 4))
    assert.deepEqual(await found('10.0.0.0/8'), pick(0, 1, 4))
    assert.deepEqual(await found('10.99'), [], 'of another team')
    assert.deepEqual(await found('%'), [])
  })

  it('sorts cidr numerically, IPv4 first', async () => {
    await seedSome()
    assert.deepEqual(await cidrs({ ordering: 'cidr' }), pick(2, 0, 1, 4, 3))
    assert.deepEqual(await cidrs({ ordering: '-cidr' }), pick(3, 4, 1, 0, 2))
    assert.deepEqual(await cidrs({ ordering: 'origin_asn' }), pick(4, 3, 2, 1, 0))
    assert.deepEqual(await cidrs({ ordering: 'status,-id' }), pick(1, 0, 4, 3, 2))
    assert.deepEqual(await cidrs({ ordering: '-created' }), pick(4, 3, 2, 1, 0))
  })

  it('sorts by the last check that it shows', async () => {
    await seedSome()
    for (const [slug, time] of [
      ['ams', '2026-03-01T00:00:00Z'],
      ['fra', '2026-02-01T00:00:00Z'],
    ]) {
      await sql`update regions set last_check = ${time} where slug = ${slug}`.execute(database.postgres.owner)
    }
    for (const ordering of ['last_check', '-last_check']) {
      const { results } = await list({ ordering })
      const shown = results.map(({ last_check }) => (last_check ? Date.parse(last_check) : 0))
      const sorted = shown.toSorted((a, b) => (ordering === 'last_check' ? a - b : b - a))
      assert.deepEqual(shown, sorted)
      assert.equal(new Set(shown).size, 3)
    }
    await sql`update regions set last_check = null`.execute(database.postgres.owner)
  })

  it('returns pages, with an exact count even past the end', async () => {
    await seedSome()
    const pages = [
      await list({ limit: 2 }),
      await list({ limit: 2, offset: 2 }),
      await list({ limit: 2, offset: 4 }),
    ]
    assert.deepEqual(
      pages.map(({ count }) => count),
      [5, 5, 5],
    )
    assert.deepEqual(
      pages.flatMap(({ results }) => results.map(({ cidr }) => cidr)),
      prefixes,
    )
    assert.deepEqual(await list({ offset: 1_000_000 }), { results: [], count: 5 })
    assert.deepEqual(await list({ status: ['error'] }), { results: [], count: 0 })
  })

  it('returns each record as GET does', async () => {
    await seedSome()
    for (const query of [{}, { include: 'region_states' }]) {
      const { results } = await list(query)
      for (const record of results) assert.deepEqual(record, (await get(record.id, query)).body)
    }
  })

  it('reports why a cidr is invalid', async () => {
    await assert.rejects(list({ cidr: ['10.0.0.1/8'] }), (error) => {
      assert.ok(error instanceof Failure)
      assert.deepEqual(error.errors?.[0]?.loc, ['query', 'cidr'])
      assert.deepEqual(error.errors?.[0]?.ctx, { canonical: '10.0.0.0/8' })
      return true
    })
    await assert.rejects(list({ cidr: ['nonsense'] }), failsWith('invalid'))
  })
})

describe('the counts', () => {
  it('add up, and each leads to exactly the announcements that it counts', async () => {
    const prefixes = announcementStatuses.flatMap((status, at) =>
      [true, false].map((enabled, second) => ({ status, enabled, prefix: `198.18.${at * 2 + second}.0/24` })),
    )
    for (const { status, enabled, prefix } of prefixes) {
      const id = await seed(prefix)
      await sql`update announcements set status = ${status}, enabled = ${enabled} where id = ${id}`.execute(
        database.postgres.owner,
      )
    }
    await seedAnnouncement(database.postgres, { teamId: other, prefix: '203.0.113.0/24' })
    await seed('192.0.2.0/24', { deleted: true })
    const { body } = await countAnnouncements(deps(), operationOf(team))
    assert.equal(body.total, prefixes.length)
    const conditions = announcementConditions.map((condition) => body[condition])
    assert.deepEqual(conditions, [1, 11, 2, 8])
    assert.equal(
      conditions.reduce((sum, count) => sum + count),
      body.total,
    )
    for (const condition of announcementConditions)
      assert.equal((await list({ condition: [condition] })).count, body[condition], condition)
    for (const status of announcementStatuses)
      assert.equal((await list({ status: [status] })).count, body.statuses[status], status)
    assert.equal((await list({ condition: [...announcementConditions] })).count, body.total)
  })

  it('keep their ETag until a number changes', async () => {
    const id = await seed('203.0.113.0/24')
    const first = await countAnnouncements(deps(), operationOf(team))
    assert.equal((await countAnnouncements(deps(), operationOf(team))).etag, first.etag)
    await patch(id, { enabled: true })
    assert.notEqual((await countAnnouncements(deps(), operationOf(team))).etag, first.etag)
  })
})

describe('the regions', () => {
  it('returns the open regions, with a page and a count', async () => {
    const query = { ordering: 'slug', limit: 100, offset: 0 }
    const all = await listRegions(deps(), operationOf(team), query)
    const place = { location: 'Here', country: 'NL', timezone: 'Europe/Amsterdam' }
    const unchecked = { last_check: null, last_check_result: null }
    const region = (slug: string) => ({ slug, name: slug.toUpperCase(), ...place, ...unchecked })
    const expected = ['ams', 'fra', 'lon'].map(region)
    assert.deepEqual(all, { results: expected, count: 3 })
    const page = await listRegions(deps(), operationOf(team), { ordering: '-name', limit: 1, offset: 1 })
    assert.deepEqual(page, { results: [expected[1]], count: 3 })
    assert.deepEqual(await listRegions(deps(), operationOf(team), { ...query, offset: 9 }), {
      results: [],
      count: 3,
    })
  })
})

async function notificationsDuring(work: () => Promise<unknown>): Promise<number> {
  const waker = createWaker(database.postgres)
  await waker.start()
  let notifications = 0
  waker.on('announcements', () => notifications++)
  await work()
  // Notifications of one connection arrive in order.
  const settled = Promise.withResolvers<void>()
  waker.on('approvals', settled.resolve)
  await sql`select pg_notify('pharos', 'approvals')`.execute(database.postgres.owner)
  await settled.promise
  await waker.stop()
  return notifications
}
