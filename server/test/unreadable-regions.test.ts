// A region whose router cannot be read, or was not read for too long: no response, list or message reports a prefix as
// announced there, and this causes no writes.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { announcementStatuses, regionStates } from '@pharos/contract/byoip/announcement'
import { sql } from 'kysely'
import { deleteAnnouncement } from '../src/byoip/announcement/delete-announcement.ts'
import type { AnnouncementListQuery } from '../src/byoip/announcement/announcement.store.ts'
import { getAnnouncement, listAnnouncements } from '../src/byoip/announcement/list-announcements.ts'
import { patchAnnouncement } from '../src/byoip/announcement/patch-announcement.ts'
import { listRegions } from '../src/byoip/announcement/region.ts'
import { saveStatuses } from '../src/byoip/status/status.store.ts'
import {
  operationOf,
  seedAnnouncement,
  seedChecks,
  seedRegions,
  seedTeam,
} from '../src/byoip/announcement/testing.ts'
import { createTestDatabase, emptyTables, type TestDatabase } from '../src/db/testing.ts'
import { Failure } from '../src/runtime/error.ts'

const slugs = ['ams', 'fra', 'lon']
let database: TestDatabase
let regions: Record<string, number>
let team: number

before(async () => {
  database = await createTestDatabase()
  regions = await seedRegions(database.postgres, slugs)
  team = await seedTeam(database.postgres, 'ours')
})
after(() => database[Symbol.asyncDispose]())
beforeEach(async () => {
  await emptyTables(database.postgres.owner, ['announcements', 'outbox'])
  await seedChecks(database.postgres, slugs)
})

const deps = () => ({ postgres: database.postgres, memberToggle: true, quota: 1000, now: () => new Date() })
const all = { include: 'region_states,state_messages' }
const get = (id: number, query = {}) => getAnnouncement(deps(), operationOf(team), id, query)
const list = (query: Partial<AnnouncementListQuery> = {}) =>
  listAnnouncements(deps(), operationOf(team), { ordering: 'id', limit: 1000, offset: 0, ...query })

/** Adds an enabled announcement with a state in each region, and the resulting status. */
async function seed(prefix: string, states: Record<string, string>): Promise<number> {
  const names = Object.keys(states)
  const id = await seedAnnouncement(database.postgres, {
    teamId: team,
    prefix,
    enabled: true,
    regions: names.map((slug) => regions[slug]!),
  })
  await setStates(id, states)
  return id
}

/** Stores check results as a run of the reconciler does. */
async function setStates(id: number, states: Record<string, string>): Promise<void> {
  await database.postgres.owner.transaction().execute(async (trx) => {
    for (const [slug, state] of Object.entries(states)) {
      await sql`update announcement_regions set state = ${state}, since = now() - interval '1 hour'
        where announcement_id = ${id} and region_id = ${regions[slug]!}`.execute(trx)
    }
    await saveStatuses(trx, [id])
  })
}

/** Returns the status messages since the last call, as `before -> after`. */
async function takeMessages(): Promise<string[]> {
  const { rows } = await sql<{ change: string }>`
    with gone as (delete from outbox returning *)
    select (data ->> 'before') || ' -> ' || (data ->> 'after') as change from gone order by xid, id`.execute(
    database.postgres.owner,
  )
  return rows.map(({ change }) => change)
}

const unreadable = () => seedChecks(database.postgres, ['ams'], { result: false, ageSeconds: 40 })

describe('an announcement in a region whose router cannot be read', () => {
  it('is reported as announcing, with the reason, and not written', async () => {
    const id = await seed('203.0.113.0/24', { ams: 'announced' })
    const before = await get(id, all)
    assert.deepEqual([before.body.status, before.body.last_check_result], ['announced', true])
    assert.deepEqual(
      before.body.state_messages?.filter(({ tag }) => !tag.startsWith('validation_')),
      [],
    )
    await unreadable()
    const { body, etag } = await get(id, all)
    assert.deepEqual([body.status, body.last_check_result], ['announcing', false])
    const [state] = body.region_states!
    assert.deepEqual([state!.state, state!.desired, state!.took_ms], ['announcing', true, null])
    const since = body.last_check!
    assert.equal(state!.reason, 'router_unreadable')
    assert.match(state!.message!, new RegExp(`cannot be read since ${since}`))
    const message = body.state_messages!.find(({ tag }) => tag === 'region_announcing')!
    const attrs = { region: 'ams', desired: true, reason: 'router_unreadable', since }
    assert.deepEqual([message.severity, message.attrs], ['warning', attrs])
    assert.notEqual(etag, before.etag)
    const { rows } = await sql`select a.status, r.state from announcements a join announcement_regions r
      on r.announcement_id = a.id`.execute(database.postgres.owner)
    assert.deepEqual(rows, [{ status: 'announced', state: 'announced' }])
    await seedChecks(database.postgres, ['ams'])
    assert.deepEqual((await get(id)).body.status, 'announced')
  })

  it('is reported as announcing while no session carries its address family', async () => {
    const ids = [
      await seed('203.0.113.0/24', { ams: 'announced' }),
      await seed('2001:db8:1::/48', { ams: 'announced' }),
    ]
    const sessions = (up4: boolean, up6: boolean) =>
      sql`update regions set neighbors4 = ${up4}, neighbors6 = ${up6} where slug = 'ams'`.execute(
        database.postgres.owner,
      )
    await takeMessages()
    await sessions(false, true)
    const [v4, v6] = await Promise.all(ids.map(async (id) => (await get(id, all)).body))
    assert.deepEqual([v4!.status, v4!.last_check_result], ['announcing', false])
    assert.deepEqual([v6!.status, v6!.last_check_result], ['announced', true])
    const [state] = v4!.region_states!
    assert.deepEqual([state!.state, state!.reason], ['announcing', 'no_neighbor'])
    const listed = await list({ status: ['announced'] })
    assert.deepEqual([listed.count, listed.results.map(({ id }) => id)], [1, [ids[1]]])
    await sessions(true, true)
    assert.equal((await get(ids[0]!)).body.status, 'announced')
    assert.equal((await list({ status: ['announced'] })).count, 2)
  })

  it('is reported as partially announced if another region is readable', async () => {
    const id = await seed('203.0.113.0/24', { ams: 'announced', fra: 'announced' })
    await unreadable()
    const { body } = await get(id, all)
    assert.equal(body.status, 'partially_announced')
    assert.deepEqual(
      body.region_states!.map(({ state }) => state),
      ['announcing', 'announced'],
    )
  })

  it('can be toggled with the returned ETag, and the response reports no route as announced either', async () => {
    const id = await seed('203.0.113.0/24', { ams: 'announced' })
    await unreadable()
    const operation = operationOf(team, { ifMatch: (await get(id)).etag })
    const { body } = await patchAnnouncement(deps(), operation, id, { enabled: true, region: 'fra' })
    assert.equal((body as { status: string }).status, 'announcing')
  })

  it('is not reported as announced by the rejection of its deletion', async () => {
    const id = await seed('203.0.113.0/24', { ams: 'announced' })
    await unreadable()
    await assert.rejects(
      deleteAnnouncement(
        { ...deps(), listDependentZones: async () => [], listDependentLists: async () => [] },
        operationOf(team),
        id,
        {
          force: false,
        },
      ),
      (error) => {
        assert.ok(error instanceof Failure)
        assert.deepEqual(error.errors?.[0]?.ctx, { region: 'ams', state: 'announcing' })
        return true
      },
    )
  })
})

describe('an overdue check', () => {
  it('counts as failed, after a time derived from the interval of the region', async () => {
    const id = await seed('203.0.113.0/24', { ams: 'announced' })
    const results = async () => {
      const { results } = await listRegions(deps(), operationOf(team), {
        ordering: 'slug',
        limit: 1,
        offset: 0,
      })
      const { body } = await get(id)
      return [results[0]!.last_check_result, body.last_check_result, body.status]
    }
    await seedChecks(database.postgres, ['ams'], { ageSeconds: 140 })
    assert.deepEqual(await results(), [true, true, 'announced'])
    await seedChecks(database.postgres, ['ams'], { ageSeconds: 160 })
    assert.deepEqual(await results(), [false, false, 'announcing'])
    const every = (interval: string) =>
      sql`update regions set check_interval = ${interval}::interval`.execute(database.postgres.owner)
    await every('10 minutes')
    assert.deepEqual(await results(), [true, true, 'announced'])
    await every('30 seconds')
  })
})

describe('the list while a router cannot be read', () => {
  it('filters, counts and sorts by the reported status, which equals that of GET', async () => {
    let at = 0
    for (const ams of regionStates)
      for (const fra of regionStates) {
        await seed(`10.0.${at++}.0/24`, { ams })
        await seed(`10.1.${at++}.0/24`, { ams, fra })
        await seed(`10.2.${at++}.0/24`, { ams, fra, lon: 'announced' })
      }
    for (const down of [[], ['ams'], ['ams', 'fra'], slugs]) {
      await seedChecks(database.postgres, slugs)
      await seedChecks(database.postgres, down, { result: false, ageSeconds: 40 })
      const { results } = await list({ include: 'region_states' })
      assert.equal(results.length, at)
      for (const one of results) {
        const claimed = one.region_states!.filter(({ state }) => state === 'announced')
        assert.ok(
          claimed.every(({ region }) => !down.includes(region)),
          one.cidr,
        )
        if (claimed.length === 0) assert.doesNotMatch(one.status, /^(partially_)?announced$/, one.cidr)
        assert.deepEqual((await get(one.id, { include: 'region_states' })).body, one)
      }
      for (const status of announcementStatuses) {
        const expected = results.filter((one) => one.status === status).map(({ id }) => id)
        const page = await list({ status: [status], limit: 3 })
        assert.deepEqual(
          [page.count, page.results.map(({ id }) => id)],
          [expected.length, expected.slice(0, 3)],
        )
      }
      const ordered = (await list({ ordering: 'status' })).results.map(({ status }) => status)
      assert.deepEqual(ordered, results.map(({ status }) => status).toSorted())
    }
  })
})

describe('the messages while a router cannot be read', () => {
  it('contain the reported status, and the remaining changes once it is readable again', async () => {
    const id = await seed('203.0.113.0/24', { ams: 'announced', fra: 'announcing' })
    await seed('198.51.100.0/24', { ams: 'announced' })
    await takeMessages()
    await unreadable()
    assert.deepEqual(
      await takeMessages(),
      [],
      'an unreadable router causes no messages, not even for ten thousand announcements',
    )
    await setStates(id, { fra: 'announced' })
    assert.deepEqual(await takeMessages(), [], 'it was partially announced, and is reported as such')
    await setStates(id, { fra: 'error' })
    assert.deepEqual(await takeMessages(), ['partially_announced -> announcing'])
    await setStates(id, { fra: 'announced' })
    assert.deepEqual(await takeMessages(), ['announcing -> partially_announced'])
    await seedChecks(database.postgres, ['ams'])
    assert.deepEqual(await takeMessages(), ['partially_announced -> announced'])
    await seedChecks(database.postgres, ['ams'])
    assert.deepEqual(await takeMessages(), [], 'once')
  })

  it('are created at the check of the run that announced it', async () => {
    await unreadable()
    const id = await seed('203.0.113.0/24', { ams: 'announcing' })
    await takeMessages()
    await setStates(id, { ams: 'announced' })
    assert.deepEqual([await takeMessages(), (await get(id)).body.status], [[], 'announcing'])
    await seedChecks(database.postgres, ['ams'])
    assert.deepEqual(await takeMessages(), ['announcing -> announced'])
  })

  it('omit an announcement that is withdrawn meanwhile', async () => {
    await unreadable()
    const id = await seed('203.0.113.0/24', { ams: 'announcing' })
    await setStates(id, { ams: 'announced' })
    await takeMessages()
    await patchAnnouncement(deps(), operationOf(team), id, { enabled: false })
    assert.deepEqual(await takeMessages(), ['announcing -> withdrawing'])
    await seedChecks(database.postgres, ['ams'])
    assert.deepEqual(await takeMessages(), [])
  })
})
