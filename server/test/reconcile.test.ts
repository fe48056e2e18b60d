// The reconciler against a real database and the sandbox speaker: sent routes, stored states, and unchanged routes.
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import type { Approval } from '@pharos/contract/operator/approval'
import { sql } from 'kysely'
import { approveChanges, rejectChanges } from '../src/approval/approval.ts'
import { approvalsOf, openApprovals, valuesOf } from '../src/approval/testing.ts'
import { basicApprovalAreas as areas } from '../src/approval/parts.ts'
import { getAnnouncement } from '../src/byoip/announcement/list-announcements.ts'
import { patchAnnouncement } from '../src/byoip/announcement/patch-announcement.ts'
import { planAgeMsMax } from '../src/byoip/regions/region-run.ts'
import type { PlanRow } from '../src/byoip/regions/plan.ts'
import { reconcileRegion, type ReconcileDeps } from '../src/byoip/regions/reconcile.ts'
import { readRegionRows } from '../src/byoip/regions/plan-row.store.ts'
import { routerOf } from '../src/byoip/regions/testing.ts'
import { RegionLock, type RegionLease } from '../src/byoip/regions/region-lock.store.ts'
import { selfNextHop, type Route, type Speaker } from '../src/byoip/regions/speaker.ts'
import {
  operationOf,
  seedAnnouncement,
  seedRegions,
  disableWithoutRequest,
  seedTeam,
  seedTeams,
  teamOf,
  seedUser,
} from '../src/byoip/announcement/testing.ts'
import { writeAudit } from '../src/db/audit.ts'
import { createTestDatabase, emptyAudit, emptyTables, type TestDatabase } from '../src/db/testing.ts'
import { createSandboxSpeaker, sandboxRegion } from '../src/drivers/sandbox/speaker.ts'
import { parsePrefix } from '../src/net/prefix.ts'
import { Failure } from '../src/runtime/error.ts'
import { openGate } from '../src/runtime/testing-gate.ts'

let database: TestDatabase
let regions: Record<string, number>
let team: number
let teams: number[]
let staff: number
let speaker: Speaker
let lock: RegionLock
let lease: RegionLease
const router = sandboxRegion('reconcile-ams')

before(async () => {
  database = await createTestDatabase()
  regions = await seedRegions(database.postgres, ['ams', 'fra'])
  team = await seedTeam(database.postgres, 'ours')
  teams = await seedTeams(database.postgres, 10)
  staff = await seedUser(database.postgres, 'staff@example.net', true)
})
after(() => database[Symbol.asyncDispose]())
beforeEach(async () => {
  const { owner } = database.postgres
  await emptyTables(owner, ['announcements', 'approvals', 'region_withdrawals'])
  await emptyAudit(owner)
  await sql`update regions set last_check = null, last_check_result = null, last_error = null`.execute(owner)
  router.down = false
  router.refuses = () => false
  router.restart()
  router.changes = 0
  speaker = createSandboxSpeaker({ region: 'reconcile-ams' })
  lock = new RegionLock(database.postgres, regions.ams!)
  lease = (await lock.hold())!
})
afterEach(() => lock.release())

const seed = (prefix: string, rest = {}) =>
  seedAnnouncement(database.postgres, {
    teamId: team,
    prefix,
    enabled: true,
    regions: [regions.ams!],
    ...rest,
  })
const deps = (rest: Partial<ReconcileDeps> = {}): ReconcileDeps => ({
  db: database.postgres.owner,
  routers: [routerOf(speaker)],
  quorum: null,
  gate: openGate,
  readRows: readRegionRows,
  now: () => new Date(),
  elapsedMs: () => performance.now(),
  ...rest,
})
const reconcile = (rest: Partial<ReconcileDeps> = {}) => reconcileRegion(deps(rest), lease)
const patch = async (id: number, enabled: boolean, region?: string, now = new Date()) =>
  patchAnnouncement(
    { postgres: database.postgres, memberToggle: true, now: () => now },
    operationOf(await teamOf(database.postgres, id)),
    id,
    region === undefined ? { enabled } : { enabled, region },
  )
const disable = (ids: readonly number[]) => disableWithoutRequest(database.postgres, ids)
const get = async (id: number) =>
  (
    await getAnnouncement(
      { postgres: database.postgres, now: () => new Date() },
      operationOf(await teamOf(database.postgres, id)),
      id,
      {
        include: 'region_states',
      },
    )
  ).body
const stateIn = async (id: number, region = 'ams') =>
  (await get(id)).region_states?.find((one) => one.region === region)
const onRouter = () => [...router.table('pharos').keys()].sort()
const put = (prefix: string) => {
  const route: Route = {
    prefix: parsePrefix(prefix),
    asPath: [64496],
    nextHop: selfNextHop(parsePrefix(prefix)),
    communities: [],
    largeCommunities: [],
  }
  router.table('pharos').set(prefix, route)
}
const prefixAt = (at: number) => `10.0.${at}.0/24`
const open = () => openApprovals(database.postgres.owner)
const all = () => approvalsOf(database.postgres.owner)
const decide = (id: number, decision: 'approved' | 'rejected') =>
  (decision === 'approved' ? approveChanges : rejectChanges)(
    { db: database.postgres.owner, areas },
    operationOf(team, { actor: { isStaff: true, userId: staff } }),
    id,
  )
const rowOf = async <Row extends object>(query: ReturnType<typeof sql<Row>>) =>
  (await query.execute(database.postgres.owner)).rows[0]!
const lastError = async () =>
  (await rowOf(sql<{ last_error: string | null }>`select last_error from regions where slug = 'ams'`))
    .last_error

describe('one run', () => {
  it('announces the desired routes, and the next GET returns them as announced', async () => {
    const id = await seed('203.0.113.0/24')
    const v6 = await seed('2001:db8:1::/48')
    assert.equal((await get(id)).status, 'announcing')
    const report = await reconcile()
    assert.deepEqual([report.desired, report.observed, report.announced], [2, 2, 2])
    assert.deepEqual(onRouter(), ['2001:db8:1::/48', '203.0.113.0/24'])
    for (const one of [await get(id), await get(v6)]) {
      assert.deepEqual(
        [one.status, one.last_check_result, one.region_states?.[0]?.state],
        ['announced', true, 'announced'],
      )
      assert.ok(Date.now() - Date.parse(one.last_check!) < 60_000)
    }
  })

  it('reports partially announced until every region has been checked', async () => {
    const id = await seed('203.0.113.0/24', { regions: [regions.ams, regions.fra] })
    await reconcile()
    assert.equal((await get(id)).status, 'partially_announced')
    await inFra((fra) =>
      reconcileRegion(deps({ routers: [routerOf(createSandboxSpeaker({ region: 'reconcile-fra' }))] }), fra),
    )
    assert.equal((await get(id)).status, 'announced')
  })

  it('withdraws a disabled route: withdrawing until it is gone from the router, then withdrawn', async () => {
    const id = await seed('203.0.113.0/24')
    await seed('198.51.100.0/24')
    await reconcile()
    await patch(id, false)
    assert.equal((await get(id)).status, 'withdrawing')
    const report = await reconcile()
    assert.equal(report.withdrawn, 1)
    assert.deepEqual([(await get(id)).status, onRouter()], ['withdrawn', ['198.51.100.0/24']])
  })

  it('withdraws a route that staff suspend', async () => {
    const id = await seed('203.0.113.0/24')
    await reconcile()
    await sql`update announcements set suspended = true, suspended_by = 'staff' where id = ${id}`.execute(
      database.postgres.owner,
    )
    await reconcile()
    assert.deepEqual([(await get(id)).status, onRouter()], ['suspended', []])
  })

  it('does not withdraw a route that is no longer validated', async () => {
    const id = await seed('203.0.113.0/24')
    await reconcile()
    await sql`update announcements set rpki_validated = null where id = ${id}`.execute(
      database.postgres.owner,
    )
    await reconcile()
    assert.deepEqual([(await get(id)).status, onRouter()], ['announced', ['203.0.113.0/24']])
  })

  it('announces routes again that the router has lost', async () => {
    const id = await seed('203.0.113.0/24')
    await reconcile()
    router.restart()
    await reconcile()
    assert.deepEqual([(await get(id)).status, onRouter()], ['announced', ['203.0.113.0/24']])
  })

  it('corrects different attributes in place', async () => {
    await seed('203.0.113.0/24')
    await reconcile()
    router
      .table('pharos')
      .set('203.0.113.0/24', { ...router.table('pharos').get('203.0.113.0/24')!, asPath: [64499] })
    const report = await reconcile()
    assert.deepEqual([report.announced, report.withdrawn], [1, 0])
    assert.deepEqual(router.table('pharos').get('203.0.113.0/24')?.asPath, [64496])
  })

  it('writes only the time of the check if nothing changes', async () => {
    const id = await seed('203.0.113.0/24')
    await seed('198.51.100.0/24', { enabled: false })
    await reconcile()
    const before = await allRows()
    const { last_check } = await get(id)
    router.changes = 0
    await reconcile()
    assert.deepEqual(await allRows(), before)
    assert.equal(router.changes, 0)
    assert.ok((await get(id)).last_check! > last_check!)
  })

  it('leaves a row unchanged that was toggled while it ran', async () => {
    const id = await seed('203.0.113.0/24')
    const listing = { ...forward(speaker), list: async () => (await patch(id, false), speaker.list()) }
    let listed = 0
    const once = { ...forward(speaker), list: () => (listed++ === 0 ? speaker.list() : listing.list()) }
    await reconcile({ routers: [routerOf(once)] })
    assert.deepEqual([(await stateIn(id))?.state, onRouter()], ['withdrawing', ['203.0.113.0/24']])
    await reconcile()
    assert.deepEqual([(await stateIn(id))?.state, onRouter()], ['withdrawn', []])
  })
})

describe('the history', () => {
  it('has the time that a request took once, and none after a restart of the router', async () => {
    const id = await seed('203.0.113.0/24')
    await reconcile()
    await sql`
      update announcement_regions set changes = array(select c - interval '9 days' from unnest(changes) c)`.execute(
      database.postgres.owner,
    )
    for (const lost of ['announcing', 'announcing']) {
      router.restart()
      await sql`update announcement_regions set state = ${lost}`.execute(database.postgres.owner)
      await reconcile()
    }
    const took = async () => {
      const { rows } = await sql<{ kind: string; took: boolean }>`
        select kind, took_ms is not null as took from announcement_history
        where announcement_id = ${id} and actor = 'reconciler' order by id`.execute(database.postgres.owner)
      return rows.map(({ kind, took }) => `${kind} ${took}`)
    }
    assert.deepEqual(await took(), ['announced true', 'announced false', 'announced false'])
    await disable([id])
    await reconcile()
    assert.equal((await took()).at(-1), 'withdrawn true')
  })
})

describe('damping', () => {
  it('stores a toggle at once, withdraws at once, and delays the next announcement, with the time in the response', async () => {
    const id = await seed('203.0.113.0/24', { enabled: false })
    const start = Date.now() - 10 * 60_000
    for (let at = 0; at < 12; at++) await patch(id, at % 2 === 0, undefined, new Date(start + at * 1000))
    assert.equal((await reconcile()).waiting, 0)
    await patch(id, true, undefined, new Date(start + 12_000))
    const report = await reconcile()
    assert.deepEqual([report.waiting, onRouter()], [1, []])
    const until = new Date(start + 3_600_000).toISOString()
    const { state, reason, message } = (await stateIn(id))!
    assert.deepEqual([state, reason], ['announcing', 'damped'])
    assert.match(message!, new RegExp(until))
    await reconcile({ now: () => new Date(start + 3_600_001) })
    assert.deepEqual([(await get(id)).status, onRouter()], ['announced', ['203.0.113.0/24']])
    router.restart()
    await reconcile({ now: () => new Date(start + 12_001) })
    assert.deepEqual(onRouter(), ['203.0.113.0/24'], 'a restart of the router does not damp announced routes')
    await patch(id, false)
    await reconcile()
    assert.deepEqual(onRouter(), [])
  })

  it('delays the announcement after many pairs of toggles, each within one run', async () => {
    const id = await seed('203.0.113.0/24')
    await reconcile()
    let announced = 0
    for (let pair = 0; pair < 20; pair++) {
      await patch(id, false)
      let lists = 0
      // Enabled again after the withdrawal was sent, before the run has stored that the route is gone.
      const list = async () => {
        if (++lists === 2) await patch(id, true)
        return speaker.list()
      }
      await reconcile({ routers: [routerOf({ ...forward(speaker), list })] })
      announced += (await reconcile()).announced
    }
    assert.ok(announced <= 6, `${announced} of 20 were announced`)
    assert.equal((await stateIn(id))?.reason, 'damped')
  })
})

describe('the guard', () => {
  async function announceMany(count: number): Promise<number[]> {
    const ids: number[] = []
    for (let at = 0; at < count; at++) ids.push(await seed(prefixAt(at), { teamId: teams[at] }))
    await reconcile()
    return ids
  }

  it('stops too many withdrawals, reports it to the team, and still announces', async () => {
    const ids = await announceMany(10)
    await disable(ids.slice(0, 5))
    const late = await seed('203.0.113.0/24')
    const report = await reconcile()
    assert.deepEqual([report.withdrawn, report.held, onRouter().length], [0, 5, 11])
    assert.equal((await get(late)).status, 'announced')
    const { state, reason } = (await stateIn(ids[0]!))!
    assert.deepEqual([state, reason], ['withdrawing', 'withdrawal_held'])
    const [approval] = await open()
    assert.deepEqual(valuesOf(approval!).toSorted(), [0, 1, 2, 3, 4].map(prefixAt))
    assert.deepEqual([approval?.subject.name, approval?.reason], ['ams', 'too_many_withdrawals'])
  })

  it('keeps one approval while its content is the same, and withdraws exactly what was approved', async () => {
    const ids = await announceMany(10)
    await disable(ids.slice(0, 5))
    await reconcile()
    await reconcile()
    const [approval, ...others] = await all()
    assert.deepEqual(others, [])
    assert.equal(((await decide(approval!.id, 'approved')).body as Approval).state, 'approved')
    await disable([ids[5]!])
    await patch(ids[0]!, true)
    const report = await reconcile()
    assert.deepEqual([report.withdrawn, onRouter()], [5, [0, 6, 7, 8, 9].map(prefixAt)])
    assert.equal((await get(ids[1]!)).status, 'withdrawn')
    assert.equal((await get(ids[0]!)).status, 'announced')
  })

  it('applies an approval after the clock was set back', async () => {
    const ids = await announceMany(10)
    await disable(ids.slice(0, 5))
    await reconcile()
    // The changes were before the clock was set back by an hour.
    const { owner } = database.postgres
    for (const id of ids.slice(0, 5))
      await writeAudit(owner, {
        teamId: await teamOf(database.postgres, id),
        actor: 'operator',
        action: 'announcement.update',
        target: `announcement:${id}`,
        after: { enabled: false },
      })
    await sql`
      update announcement_regions set changes = array(select c + interval '1 hour' from unnest(changes) c)`.execute(
      owner,
    )
    await decide((await open())[0]!.id, 'approved')
    assert.equal((await reconcile()).withdrawn, 5)
  })

  it('does not apply an approval to a later toggle', async () => {
    const ids = await announceMany(10)
    await disable(ids.slice(0, 5))
    await reconcile()
    await decide((await open())[0]!.id, 'approved')
    await reconcile()
    for (const id of ids.slice(0, 5)) await patch(id, true)
    await reconcile()
    await disable(ids.slice(0, 5))
    const report = await reconcile()
    assert.deepEqual([report.withdrawn, report.held], [0, 5])
  })

  it('applies no approval that has ended, and asks again', async () => {
    const ids = await announceMany(10)
    await disable(ids.slice(0, 5))
    await reconcile()
    await decide((await open())[0]!.id, 'approved')
    await sql`update approvals set valid_until = now()`.execute(database.postgres.owner)
    const report = await reconcile()
    assert.deepEqual([report.withdrawn, report.held, (await open()).length], [0, 5, 1])
  })

  it('does not withdraw rejected routes or ask about them again, and follows a new toggle', async () => {
    const ids = await announceMany(10)
    await disable(ids.slice(0, 5))
    await reconcile()
    await decide((await open())[0]!.id, 'rejected')
    await reconcile()
    assert.equal(onRouter().length, 10)
    assert.deepEqual(await open(), [])
    assert.equal((await stateIn(ids[0]!))?.reason, 'withdrawal_rejected')
    await patch(ids[0]!, true)
    await disable([ids[0]!])
    await reconcile()
    assert.equal(onRouter().length, 9)
  })

  it('withdraws what was requested by name at once, however many routes', async () => {
    const ids = await announceMany(10)
    await disable(ids.slice(5))
    for (const id of ids.slice(0, 5)) await patch(id, false)
    const report = await reconcile()
    assert.deepEqual([report.withdrawn, report.held, onRouter()], [5, 5, [5, 6, 7, 8, 9].map(prefixAt)])
  })

  it('does not accept an older request as the reason for a withdrawal', async () => {
    const ids = await announceMany(10)
    for (const id of ids) await patch(id, false)
    for (const id of ids) await patch(id, true)
    await reconcile()
    await disable(ids)
    assert.deepEqual([(await reconcile()).held, onRouter().length], [10, 10])
  })

  it('announces held and rejected routes again after a restart of the router', async () => {
    const ids = await announceMany(10)
    await disable(ids.slice(0, 5))
    router.restart()
    await reconcile()
    assert.equal(onRouter().length, 10, 'no approval before the restart')
    router.restart()
    await reconcile()
    assert.deepEqual([onRouter().length, (await stateIn(ids[0]!))?.reason], [10, 'withdrawal_held'])
    await decide((await open())[0]!.id, 'rejected')
    router.restart()
    await reconcile()
    assert.deepEqual([onRouter().length, (await stateIn(ids[0]!))?.reason], [10, 'withdrawal_rejected'])
  })

  it('keeps a route without a row across a restart of the router', async () => {
    await seed('203.0.113.0/24')
    put('192.0.2.0/24')
    await reconcile()
    router.restart()
    await reconcile()
    assert.deepEqual(onRouter(), ['192.0.2.0/24', '203.0.113.0/24'])
    await decide((await open())[0]!.id, 'approved')
    router.restart()
    await reconcile()
    assert.deepEqual([onRouter(), await open()], [['203.0.113.0/24'], []])
  })

  it('stops a different origin or next hop of many routes, also across a restart', async () => {
    await announceMany(10)
    const nextHops = () => [...new Set([...router.table('pharos').values()].map(({ nextHop }) => nextHop))]
    const moved = { routers: [routerOf(speaker, { routes: { nextHop4: '192.0.2.9' } })] }
    assert.equal((await reconcile(moved)).held, 10)
    router.restart()
    await reconcile(moved)
    assert.deepEqual([onRouter().length, nextHops()], [10, ['0.0.0.0']])
    const [approval] = await open()
    assert.deepEqual([approval?.reason, approval?.items.length], ['too_many_changes', 10])
    await decide(approval!.id, 'approved')
    await reconcile(moved)
    assert.deepEqual([onRouter().length, nextHops()], [10, ['192.0.2.9']])
    assert.deepEqual(await open(), [])
  })

  it('stops different communities of many routes, also across a restart', async () => {
    await announceMany(10)
    const seen = () => [
      ...new Set([...router.table('pharos').values()].flatMap((route) => route.communities)),
    ]
    const tagged = { routers: [routerOf(speaker, { routes: { communities: ['64500:9'] } })] }
    assert.equal((await reconcile(tagged)).held, 10)
    router.restart()
    await reconcile(tagged)
    assert.deepEqual([onRouter().length, seen()], [10, []])
    const [approval] = await open()
    assert.equal(approval?.reason, 'too_many_changes')
    assert.match(approval?.detail ?? '', /origin, next hop or communities of more than 3 routes/)
    await decide(approval!.id, 'approved')
    await reconcile(tagged)
    router.restart()
    await reconcile(tagged)
    assert.deepEqual([onRouter().length, seen(), await open()], [10, ['64500:9'], []])
  })

  it('stops a reserved community of a single route', async () => {
    await announceMany(1)
    const tagged = { routers: [routerOf(speaker, { routes: { communities: ['65535:65282'] } })] }
    assert.equal((await reconcile(tagged)).held, 1)
    const [approval] = await open()
    assert.equal(approval?.reason, 'reserved_communities')
    assert.match(approval?.detail ?? '', /65535:65282 \(NO_ADVERTISE\)/)
  })

  it('stops a different next hop across a restart even if no earlier run has stored the next hop', async () => {
    await announceMany(10)
    await sql`delete from region_routers`.execute(database.postgres.owner)
    const moved = { routers: [routerOf(speaker, { routes: { nextHop4: '192.0.2.9' } })] }
    await reconcile(moved)
    router.restart()
    await reconcile(moved)
    const nextHops = new Set([...router.table('pharos').values()].map(({ nextHop }) => nextHop))
    assert.deepEqual([onRouter().length, [...nextHops]], [10, ['0.0.0.0']])
  })

  it('does not change an origin to one for which no checks passed', async () => {
    const [id] = await announceMany(1)
    await sql`update announcements set origin_asn = 64499 where id = ${id!}`.execute(database.postgres.owner)
    router.restart()
    await reconcile()
    assert.deepEqual(router.table('pharos').get(prefixAt(0))?.asPath, [64496])
    assert.match((await stateIn(id!))!.message!, /not the one for which the checks passed/)
  })

  it('replaces an approval whose withdrawals changed, and the old one can no longer be approved', async () => {
    const ids = await announceMany(10)
    await disable(ids.slice(0, 4))
    await reconcile()
    const [first] = await open()
    await disable([ids[4]!])
    await reconcile()
    const [second] = await open()
    assert.notEqual(first?.id, second?.id)
    assert.equal(second!.replaces, first!.id)
    assert.equal((await all()).find(({ id }) => id === first!.id)?.state, 'closed')
    await assert.rejects(
      decide(first!.id, 'approved'),
      (error) => error instanceof Failure && error.code === 'conflict',
    )
  })

  it('closes an approval when nothing waits any more', async () => {
    const ids = await announceMany(10)
    await disable(ids.slice(0, 5))
    await reconcile()
    for (const id of ids.slice(0, 5)) await patch(id, true)
    await reconcile()
    assert.deepEqual(
      (await all()).map(({ state }) => state),
      ['closed'],
    )
    assert.equal((await get(ids[0]!)).status, 'announced')
  })

  it('counts withdrawals over several runs, and after a crash between storing and sending', async () => {
    const ids = await announceMany(10)
    await disable(ids.slice(0, 2))
    await reconcile()
    await disable([ids[2]!])
    const crashing = { ...forward(speaker), withdraw: () => Promise.reject(new Error('killed')) }
    await assert.rejects(reconcile({ routers: [routerOf(crashing)] }))
    await disable([ids[3]!])
    const report = await reconcile()
    assert.deepEqual([report.withdrawn, report.held, onRouter().length], [0, 2, 8])
  })

  it('stops a route without a row until it is approved by name', async () => {
    await seed('203.0.113.0/24')
    put('192.0.2.0/24')
    put('198.51.100.0/24')
    await reconcile()
    const [approval] = await open()
    assert.deepEqual(
      [approval?.reason, approval?.items.length, onRouter().length],
      ['unexplained_routes', 2, 3],
    )
    await decide(approval!.id, 'approved')
    await seed('198.51.100.0/24')
    await reconcile()
    assert.deepEqual(onRouter(), ['198.51.100.0/24', '203.0.113.0/24'])
  })

  it('approves idempotently, audits it, and rejects the opposite decision', async () => {
    await seed('203.0.113.0/24')
    put('192.0.2.0/24')
    await reconcile()
    const [approval] = await open()
    await decide(approval!.id, 'approved')
    assert.equal(((await decide(approval!.id, 'approved')).body as Approval).decided_by, `user:${staff}`)
    await assert.rejects(
      decide(approval!.id, 'rejected'),
      (error) => error instanceof Failure && error.code === 'conflict',
    )
    await assert.rejects(
      decide(999_999, 'approved'),
      (error) => error instanceof Failure && error.code === 'not_found',
    )
    const entry = await rowOf(
      sql<object>`select count(*) as n, min(target) as target, min(actor) as actor from audit_entries`,
    )
    assert.deepEqual(entry, { n: 1, target: `approval:${approval!.id}`, actor: `user:${staff}` })
  })

  it('applies nothing of an outdated plan, whichever step took the time, and creates a new plan at the next run', async () => {
    const off = await seed('192.0.2.0/24')
    await reconcile()
    await patch(off, false)
    const id = await seed('203.0.113.0/24')
    // The clock is read at the start, by the guard, and before each call to the router.
    for (const [reads, announced] of [
      [1, false],
      [2, false],
      [3, true],
    ] as const) {
      let calls = 0
      const elapsedMs = () => (calls++ < reads ? 0 : planAgeMsMax + 1)
      await assert.rejects(reconcile({ elapsedMs }), /old/)
      assert.deepEqual(onRouter(), announced ? ['192.0.2.0/24', '203.0.113.0/24'] : ['192.0.2.0/24'])
      assert.deepEqual([(await get(id)).status, (await get(id)).last_check_result], ['announcing', false])
    }
    await reconcile()
    assert.deepEqual([onRouter(), (await get(id)).last_check_result], [['203.0.113.0/24'], true])
    assert.deepEqual(await open(), [])
  })

  it('leaves out an invalid row and reports it; the others are applied', async () => {
    const bad = await seed('192.0.2.0/24')
    const id = await seed('203.0.113.0/24')
    await seed('198.51.100.0/24')
    await reconcile()
    await patch(id, false)
    const late = await seed('10.0.0.0/24')
    const readRows = async (...args: Parameters<typeof readRegionRows>): Promise<PlanRow[]> =>
      (await readRegionRows(...args)).map((row) =>
        row.announcementId === bad ? { ...row, originAsn: 0 } : row,
      )
    const report = await reconcile({ readRows })
    assert.deepEqual([report.quarantined, report.withdrawn], [1, 1])
    assert.deepEqual(onRouter(), ['10.0.0.0/24', '192.0.2.0/24', '198.51.100.0/24'])
    assert.equal((await get(late)).status, 'announced')
    assert.deepEqual(
      [(await get(bad)).status, (await stateIn(bad))?.message],
      ['error', 'The stored origin is not an AS number. The routers are left unchanged.'],
    )
    assert.equal((await open())[0]?.reason, 'invalid_rows')
    await reconcile()
    assert.equal((await get(bad)).status, 'announced')
    assert.deepEqual(await open(), [])
  })
})

describe('during an outage', () => {
  it('reports nothing as announced on a router that does not respond, and converges when it is back', async () => {
    const seen = await seed('203.0.113.0/24')
    await reconcile()
    router.down = true
    const id = await seed('198.51.100.0/24')
    await assert.rejects(reconcile())
    const body = await get(id)
    assert.deepEqual([body.status, body.last_check_result], ['announcing', false])
    assert.match(body.region_states?.[0]?.message ?? '', /has not been read since/)
    const kept = await get(seen)
    assert.deepEqual([kept.status, kept.last_check_result], ['announcing', false])
    assert.match((await lastError())!, /disabled/)
    router.down = false
    await reconcile()
    assert.deepEqual(
      [(await get(id)).status, onRouter()],
      ['announced', ['198.51.100.0/24', '203.0.113.0/24']],
    )
    assert.equal(await lastError(), null)
  })

  it('reports nothing as announced when the router stops responding after a change', async () => {
    const id = await seed('203.0.113.0/24')
    const half = {
      ...forward(speaker),
      announce: async (routes: readonly Route[]) => {
        await speaker.announce(routes)
        router.down = true
      },
    }
    await assert.rejects(reconcile({ routers: [routerOf(half)] }))
    const body = await get(id)
    assert.deepEqual([body.status, body.last_check, body.last_check_result], ['announcing', null, false])
  })

  it('reports routes that the router refuses, and applies the others', async () => {
    const id = await seed('203.0.113.0/24')
    const other = await seed('198.51.100.0/24')
    router.refuses = (prefix) => prefix === '203.0.113.0/24'
    const report = await reconcile()
    assert.deepEqual([report.refused, onRouter()], [1, ['198.51.100.0/24']])
    const body = await get(id)
    assert.deepEqual(
      [body.status, body.last_check_result, (await get(other)).status],
      ['error', false, 'announced'],
    )
    router.refuses = () => false
    await reconcile()
    assert.equal((await get(id)).status, 'announced')
  })

  it('withdraws nothing if a query fails, at any step of the run', async () => {
    const ids = await Promise.all([0, 1, 2].map((at) => seed(prefixAt(at))))
    await reconcile()
    await patch(ids[0]!, false)
    await patch(ids[1]!, false, 'ams')
    const failing = { readRows: () => Promise.reject(new Error('query failed')) }
    await assert.rejects(reconcile(failing), /query failed/)
    assert.equal(await lastError(), 'query failed')
    const noMemory = { regionId: lease.regionId, epoch: lease.epoch, recordWithdrawals: async () => {} }
    const withoutMemory = { ...noMemory, readMemory: () => Promise.reject(new Error('connection lost')) }
    await assert.rejects(reconcileRegion(deps(), withoutMemory), /connection lost/)
    const unrecorded = {
      ...noMemory,
      readMemory: () => lease.readMemory(),
      recordWithdrawals: () => Promise.reject(new Error('not noted')),
    }
    await assert.rejects(reconcileRegion(deps(), unrecorded), /not noted/)
    assert.equal(onRouter().length, 3)
  })

  it('withdraws nothing if PostgreSQL is lost while it sends, and continues at the next run', async () => {
    const id = await seed('203.0.113.0/24')
    await reconcile()
    await patch(id, false)
    const late = await seed('198.51.100.0/24')
    const cutting = {
      ...forward(speaker),
      announce: async (routes: readonly Route[]) => {
        await speaker.announce(routes)
        await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()
          and pid <> pg_backend_pid() and state = 'idle in transaction'`.execute(database.postgres.owner)
      },
    }
    await assert.rejects(reconcile({ routers: [routerOf(cutting)] }))
    assert.deepEqual(onRouter(), ['198.51.100.0/24', '203.0.113.0/24'])
    assert.deepEqual([(await get(late)).status, (await get(id)).status], ['announcing', 'withdrawing'])
    await reconcile()
    assert.deepEqual([(await get(late)).status, (await get(id)).status], ['announced', 'withdrawn'])
    assert.deepEqual(onRouter(), ['198.51.100.0/24'])
  })

  it('sends nothing under a lease that another process has taken over', async () => {
    const id = await seed('203.0.113.0/24')
    await seed('198.51.100.0/24')
    await reconcile()
    await patch(id, false)
    await sql`update regions set epoch = epoch + 1 where slug = 'ams'`.execute(database.postgres.owner)
    await assert.rejects(reconcile(), /taken over/)
    assert.equal(onRouter().length, 2)
  })

  it('assigns a region to one reconciler at a time, and to the next when the first is gone', async () => {
    const second = new RegionLock(database.postgres, regions.ams!)
    assert.equal(await second.hold(), undefined)
    await lock.release()
    const taken = await second.hold()
    assert.equal(taken?.epoch, lease.epoch + 1)
    assert.equal(await lock.hold(), undefined)
    await second.release()
  })
})

async function inFra(work: (fra: RegionLease) => Promise<unknown>): Promise<void> {
  const fraLock = new RegionLock(database.postgres, regions.fra!)
  await work((await fraLock.hold())!)
  await fraLock.release()
}

/** Returns the speaker as a plain object, so that a test can replace a method. */
function forward(to: Speaker): Speaker {
  return {
    probe: () => to.probe(),
    list: () => to.list(),
    find: (prefixes) => to.find(prefixes),
    advertised: (...args) => to.advertised(...args),
    announce: (routes) => to.announce(routes),
    withdraw: (routes) => to.withdraw(routes),
    neighbors: () => to.neighbors(),
    watch: (events) => to.watch(events),
    close: () => to.close(),
  }
}

/** Returns the storage location of each row of announcements: every write changes it. */
async function allRows(): Promise<unknown[]> {
  const { rows } = await sql`
    select 'a' as of, ctid::text, xmin::text from announcements union all
    select 'ar', ctid::text, xmin::text from announcement_regions union all
    select 'p', ctid::text, xmin::text from approvals union all
    select 'w', ctid::text, xmin::text from region_withdrawals order by 1, 2`.execute(database.postgres.owner)
  return rows
}
