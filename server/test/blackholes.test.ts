// Black holes from the request over the router of a region to the flag of the event, and their end by time, by request and by the loss of
// the announcement.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { Blackhole } from '@pharos/contract/shield/blackhole'
import type { RelatedEvent } from '@pharos/contract/events/event'
import { sql } from 'kysely'
import { markBlackholed } from '../src/events/relate/event-mark.ts'
import { ingestDeliveries } from '../src/events/ingest/ingest.ts'
import { fixture } from '../src/events/sources/fixtures.ts'
import { addSource, deliver } from '../src/events/testing.ts'
import { seedAnnouncement, seedRegions } from '../src/byoip/announcement/testing.ts'
import { expireBlackholes } from '../src/byoip/blackhole/expire-blackholes.ts'
import { listBlackholed } from '../src/byoip/blackhole/expire-blackholes.store.ts'
import { readMovingRows, readRegionRows } from '../src/byoip/regions/plan-row.store.ts'
import { quickRun, type KnownRegion } from '../src/byoip/regions/quick-run.ts'
import { reconcileRegion } from '../src/byoip/regions/reconcile.ts'
import { RegionLock, type RegionLease } from '../src/byoip/regions/region-lock.store.ts'
import type { Speaker } from '../src/byoip/regions/speaker.ts'
import { routerOf } from '../src/byoip/regions/testing.ts'
import { createSandboxSpeaker, sandboxRegion } from '../src/drivers/sandbox/speaker.ts'
import { createOwnershipCache } from '../src/inventory/holding/ownership.ts'
import { addTeam, addUser, createTestApi, type TestApi, type TestTeam } from './api.ts'
import { openGate } from '../src/runtime/testing-gate.ts'

const host = '203.0.113.77'
const network = '203.0.113.0/24'
const collection = '/v3/lighthouse/security/shield/blackholes'

let api: TestApi
let red: TestTeam
let blue: TestTeam
const access: Record<string, string> = {}
let regions: Record<string, number>
let announcementId: number
let speaker: Speaker
let lock: RegionLock
let lease: RegionLease
let known: KnownRegion
const router = sandboxRegion('blackholes-ams')

before(async () => {
  api = await createTestApi({ PHAROS_LOG_LEVEL: 'error' })
  regions = await seedRegions(api.database.postgres, ['ams', 'fra', 'lon'])
  for (const name of ['red', 'blue']) {
    const team = await addTeam(api, name)
    const { email } = await addUser(api, `admin-${name}`, [team], { admin: true })
    access[name] = (await api.signIn(email)).access
    if (name === 'red') red = team
    else blue = team
  }
  announcementId = await seedAnnouncement(api.database.postgres, {
    teamId: red.teamId,
    prefix: network,
    enabled: true,
    regions: [regions['ams']!, regions['fra']!],
  })
  await addSource(db(), 'fnm')
  await deliver(db(), 'fnm', [{ ...fixture('fastnetmon-ban'), ip: host }], new Date())
  await ingestDeliveries(api.database.postgres, createOwnershipCache())
  speaker = createSandboxSpeaker({ region: 'blackholes-ams' })
  lock = new RegionLock(api.database.postgres, regions['ams']!)
  lease = (await lock.hold())!
})
after(async () => {
  await lock.release()
  await speaker.close()
  await api[Symbol.asyncDispose]()
})
beforeEach(async () => {
  await sql`delete from blackholes`.execute(db())
  await sql`update announcements set enabled = true`.execute(db())
  router.restart()
  await reconcile()
})

const db = () => api.database.postgres.owner
const deps = () => ({
  db: db(),
  routers: [routerOf(speaker)],
  quorum: null,
  gate: openGate,
  onSettled: (tookMs: readonly number[]) => void settled.push(...tookMs),
  now: () => new Date(),
  elapsedMs: () => performance.now(),
})
async function reconcile() {
  known = await reconcileRegion({ ...deps(), readRows: readRegionRows }, lease)
}
const quick = () => quickRun({ ...deps(), readMoving: readMovingRows }, lease, known)
/** Milliseconds of the changes that the runs since the last call have settled. */
const takeSettled = () => settled.splice(0)
const settled: number[] = []
const onRouter = () => [...router.table('pharos').keys()].sort()

async function call<T = Blackhole>(
  method: 'GET' | 'POST' | 'DELETE',
  path = '',
  body?: object,
  team = 'red',
) {
  const answer = await api.server.inject({
    method,
    url: `${collection}${path}`,
    headers: { authorization: `Bearer ${access[team]}` },
    ...(body === undefined ? {} : { payload: body }),
  })
  return { status: answer.statusCode, body: (answer.body === '' ? null : answer.json()) as T }
}
type Refusal = {
  readonly code: string
  readonly errors?: readonly { readonly loc: unknown; readonly type: string }[]
}
const refusal = async (body: object, team = 'red') => {
  const { body: refused } = await call<Refusal>('POST', '', body, team)
  return refused.errors?.map(({ loc, type }) => [loc, type]) ?? refused.code
}
const create = async (body: object = {}) => {
  const { status, body: created } = await call('POST', '', { host, ...body })
  assert.equal(status, 201, JSON.stringify(created))
  return created
}
const get = async (id: number) => (await call('GET', `/${id}`)).body
const inRegion = ({ regions: states }: Blackhole, region = 'ams') =>
  states.find((one) => one.region === region)!
const hoursAhead = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
/** Simulates that the time of all black holes has passed. */
const letExpire = () =>
  sql`update blackholes set created = created - interval '2 hours', expires = now() - interval '1 second'`.execute(
    db(),
  )

async function flagsOf(team: string): Promise<readonly string[]> {
  const answer = await api.server.inject({
    url: '/v3/lighthouse/security/events/related',
    headers: { authorization: `Bearer ${access[team]}` },
  })
  return answer.json<{ results: RelatedEvent[] }>().results.flatMap(({ flags }) => flags)
}
const mark = async () => markBlackholed(db(), await listBlackholed(db()))

describe('a black hole', () => {
  it('is announced by a quick run, shown as observed, and marks its event until it is withdrawn', async () => {
    const created = await create()
    assert.deepEqual([created.host, created.status, created.forced], [host, 'pending', false])
    assert.notEqual(created.event_id, null)
    assert.equal(await mark(), 0)
    const report = await quick()
    assert.equal(report.announced, 1)
    const route = router.table('pharos').get(`${host}/32`)!
    assert.deepEqual([route.asPath, route.nextHop, route.communities], [[64496], '192.0.2.1', ['65535:666']])
    // The region fra has no reconciler in this test.
    const shown = await get(created.id)
    assert.deepEqual(
      [shown.status, inRegion(shown).state, inRegion(shown, 'fra').state],
      ['partial', 'announced', 'announcing'],
    )
    assert.equal(await mark(), 1)
    assert.ok((await flagsOf('red')).includes('BLACKHOLED'))
    assert.deepEqual((await flagsOf('blue')).includes('BLACKHOLED'), false)

    assert.equal((await call('DELETE', `/${created.id}`)).status, 204)
    assert.equal((await get(created.id)).status, 'ending')
    assert.equal(await mark(), 0, 'the router still has it')
    assert.equal((await quick()).withdrawn, 1)
    assert.deepEqual(onRouter(), [network])
    await sql`update blackhole_regions set state = 'withdrawn' where region_id = ${regions['fra']}`.execute(
      db(),
    )
    assert.equal(await mark(), 1)
    assert.ok(!(await flagsOf('red')).includes('BLACKHOLED'))
    assert.equal(inRegion(await get(created.id)).state, 'withdrawn')
    const kept = await sql<{ action: string }>`
      select action from audit_entries where target = ${`blackhole:${created.id}`} order by id`.execute(db())
    assert.deepEqual(
      kept.rows.map(({ action }) => action),
      ['blackhole.create', 'blackhole.end'],
    )
  })

  it('ends by its time alone, also if no loop has stored the end, and is never announced again', async () => {
    const { id } = await create()
    await quick()
    assert.deepEqual(onRouter(), [network, `${host}/32`])
    await letExpire()
    assert.equal((await quick()).withdrawn, 1)
    assert.deepEqual(onRouter(), [network])
    router.restart()
    await reconcile()
    assert.deepEqual(onRouter(), [network])
    const late = await get(id)
    assert.deepEqual([late.ended, inRegion(late).desired], [late.expires, false])
    assert.deepEqual([await expireBlackholes(db()), await expireBlackholes(db())], [1, 0])
    assert.equal((await quick()).announced, 0)
  })

  it('is counted once when the routers show it and once when they no longer do, with the time since the request', async () => {
    takeSettled()
    const hourMs = 3_600_000
    const { id } = await create()
    await sql`update blackholes set created = created - interval '1 hour' where id = ${id}`.execute(db())
    await quick()
    const [announced, ...others] = takeSettled()
    assert.ok(announced! >= hourMs && announced! < hourMs + 60_000 && others.length === 0, String(announced))
    router.restart()
    await reconcile()
    await sql`update announcements set enabled = false`.execute(db())
    await reconcile()
    await sql`update announcements set enabled = true`.execute(db())
    await reconcile()
    assert.equal(inRegion(await get(id)).state, 'announced')
    assert.deepEqual(takeSettled(), [], 'nobody asked for a change')
    await call('DELETE', `/${id}`)
    await quick()
    const [withdrawn, ...more] = takeSettled()
    assert.ok(withdrawn! >= 0 && withdrawn! < 60_000 && more.length === 0, String(withdrawn))
    await create()
    await quick()
    takeSettled()
    await sql`update blackhole_regions set settled = settled - interval '1 hour'`.execute(db())
    await letExpire()
    await reconcile()
    const [expired, ...rest] = takeSettled()
    assert.ok(expired! >= 1_000 && expired! < 60_000 && rest.length === 0, String(expired))
  })

  it('is withdrawn when it ends although withdrawals of networks are held', async () => {
    await create()
    await quick()
    const spent = ['10.0.1.0/24', '10.0.2.0/24', '10.0.3.0/24', '10.0.4.0/24']
    await sql`insert into region_withdrawals (region_id, prefix) select ${regions['ams']}, unnest(${spent}::cidr[])`.execute(
      db(),
    )
    await letExpire()
    await expireBlackholes(db())
    await reconcile()
    assert.deepEqual(onRouter(), [network])
    const { rows } = await sql`select from approvals where state = 'open'`.execute(db())
    assert.equal(rows.length, 0)
    await sql`delete from region_withdrawals`.execute(db())
  })

  it('lasts only while the prefix is announced, and by no other team', async () => {
    const { id } = await create()
    await quick()
    await sql`update announcements set suspended = true, suspended_by = 'staff'`.execute(db())
    await sql`update announcement_regions set state = 'withdrawing'`.execute(db())
    await reconcile()
    assert.deepEqual(onRouter(), [])
    assert.deepEqual([inRegion(await get(id)).desired, inRegion(await get(id)).state], [false, 'withdrawn'])
    await sql`update announcements set suspended = false, suspended_by = null`.execute(db())
    await sql`insert into prefixes (team_id, prefix) values (${blue.teamId}, '203.0.113.64/26')`.execute(db())
    await reconcile()
    assert.deepEqual(onRouter(), [network])
    await sql`delete from prefixes where team_id = ${blue.teamId}`.execute(db())
    await reconcile()
    assert.deepEqual(onRouter(), [network, `${host}/32`])
  })

  it('is replaced by a further one of the host, while the route stays', async () => {
    const first = await create()
    await quick()
    router.changes = 0
    const second = await create({ expires: hoursAhead(3), regions: ['ams'] })
    assert.deepEqual([inRegion(second).state, second.status], ['announced', 'active'])
    const { ended, status } = await get(first.id)
    assert.notEqual(ended, null)
    assert.equal(status, 'ending', 'a router of fra may still have it')
    await quick()
    await reconcile()
    assert.equal(router.changes, 0)
    assert.deepEqual(onRouter(), [network, `${host}/32`])
  })
})

describe('a request for a black hole', () => {
  it('needs force unless an ongoing event targets exactly the host', async () => {
    const neighbor = { host: '203.0.113.78' }
    assert.equal(await refusal(neighbor), 'not_attacked')
    const forced = await create({ ...neighbor, force: true })
    assert.deepEqual([forced.forced, forced.event_id], [true, null])
    await sql`update team_events set end_at = now()`.execute(db())
    assert.equal(await refusal({ host }), 'not_attacked')
    await sql`update team_events set end_at = null`.execute(db())
    assert.deepEqual(
      await refusal({ host: '203.0.113.78', force: true, event_id: (await create()).event_id }),
      [[['body', 'event_id'], 'other_target']],
    )
  })

  it('is for one address inside an announced prefix of the team, and ends within a day', async () => {
    const field = (name: string, type: string, ...at: number[]) => [[['body', name, ...at], type]]
    assert.deepEqual(await refusal({ host: network }), field('host', 'host'))
    assert.deepEqual(await refusal({ host: '198.51.100.7' }), field('host', 'not_announced'))
    assert.deepEqual(await refusal({ host }, 'blue'), field('host', 'not_announced'))
    assert.deepEqual(await refusal({ host, expires: hoursAhead(25) }), field('expires', 'out_of_range'))
    assert.deepEqual(await refusal({ host, expires: hoursAhead(-1) }), field('expires', 'out_of_range'))
    assert.deepEqual(await refusal({ host, regions: ['ams', 'lon'] }), field('regions', 'not_announced', 1))
    await sql`update announcements set enabled = false where id = ${announcementId}`.execute(db())
    assert.deepEqual(await refusal({ host }), field('host', 'not_announced'))
  })

  it('is refused beyond the limits of the team and of the region', async () => {
    for (const at of [1, 2, 3, 4]) await create({ host: `203.0.113.${at}`, force: true })
    assert.equal(await refusal({ host }), 'quota_exceeded')
    // The same host again is no further one.
    await create({ host: '203.0.113.4', force: true })
    await sql`delete from blackholes`.execute(db())
    await sql`
      with added as (insert into blackholes (team_id, host, forced, expires)
        select ${blue.teamId}, ('198.18.0.' || n || '/32')::cidr, true, now() + interval '1 hour' from generate_series(1, 32) n
        returning id, team_id)
      insert into blackhole_regions (blackhole_id, region_id, team_id, state)
      select id, ${regions['fra']}, team_id, 'announced' from added`.execute(db())
    assert.equal(await refusal({ host }), 'quota_exceeded')
    assert.equal((await create({ regions: ['ams'] })).regions.length, 1)
  })

  it('shows with a dry run what is on the host', async () => {
    const { status, body } = await call<{ result: Blackhole }>('POST', '?dry_run=true', { host })
    assert.equal(status, 200)
    const { attacked, announcements, ptr, traffic } = body.result.on_host!
    assert.deepEqual(
      [attacked, announcements, ptr],
      [true, [{ id: announcementId, cidr: network, regions: ['ams', 'fra'] }], []],
    )
    assert.ok(['unavailable', 'no_flows', 'complete'].includes(traffic.state))
    assert.deepEqual((await call<{ count: number }>('GET')).body.count, 0)
  })

  it('is visible to its team alone', async () => {
    const { id } = await create()
    assert.equal((await call('GET', `/${id}`, undefined, 'blue')).status, 404)
    assert.equal((await call('DELETE', `/${id}`, undefined, 'blue')).status, 404)
    const list = async (team: string, query: string) =>
      (await call<{ count: number }>('GET', query, undefined, team)).body.count
    assert.deepEqual([await list('blue', ''), await list('red', '?ongoing=true')], [0, 1])
    assert.deepEqual(
      [await list('red', `?host=${network}`), await list('red', '?host=198.51.100.0/24')],
      [1, 0],
    )
  })
})
