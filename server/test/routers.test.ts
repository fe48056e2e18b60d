// Several routers in one region, on a real database and two sandbox routers: status for staff, draining one, losing one.
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { sql } from 'kysely'
import { getAnnouncement } from '../src/byoip/announcement/list-announcements.ts'
import {
  disableWithoutRequest,
  operationOf,
  seedAnnouncement,
  seedRegions,
  seedTeam,
} from '../src/byoip/announcement/testing.ts'
import type { LastKnownRoutesFiles } from '../src/byoip/regions/last-known-routes.ts'
import { noLastKnownRoutes } from '../src/byoip/regions/testing.ts'
import { createReconcilers } from '../src/byoip/regions/reconcilers.ts'
import { listAdminRegions, setDrained } from '../src/byoip/regions/router.ts'
import { drain, undrain } from '../src/commands/drain.ts'
import { runCommand } from '../src/commands/testing.ts'
import { createTestDatabase, emptyAudit, emptyTables, type TestDatabase } from '../src/db/testing.ts'
import { createWaker, type Waker } from '../src/db/wake.ts'
import { createSandboxSpeaker, sandboxRegion } from '../src/drivers/sandbox/speaker.ts'
import { parsePrefix } from '../src/net/prefix.ts'
import type { Component } from '../src/runtime/component.ts'
import { Failure } from '../src/runtime/error.ts'
import { createLog } from '../src/runtime/log.ts'
import { createMetrics } from '../src/runtime/metrics.ts'
import { waitFor } from '../../lab/src/wait.ts'
import { openGate } from '../src/runtime/testing-gate.ts'

let database: TestDatabase
let regions: Record<string, number>
let team: number
let waker: Waker
const running: Component[] = []
const established = [
  { address: '192.0.2.254', asn: 64501, state: 'established', since: new Date(), families: [4, 6] },
] as const

before(async () => {
  database = await createTestDatabase()
  regions = await seedRegions(database.postgres, ['ams', 'fra'])
  team = await seedTeam(database.postgres, 'ours')
  waker = createWaker(database.postgres)
  await waker.start()
})
after(async () => {
  await waker.stop()
  await database[Symbol.asyncDispose]()
})
beforeEach(async () => {
  const { owner } = database.postgres
  await emptyTables(owner, ['announcements', 'approvals', 'region_withdrawals', 'region_routers'])
  await emptyAudit(owner)
  await sql`update regions set last_check = null, last_check_result = null, quorum = null, speakers = case slug
    when 'ams' then '[{"name":"r1","kind":"sandbox"},{"name":"r2","kind":"sandbox"}]'::jsonb
    else '[{"name":"fra","kind":"sandbox"}]'::jsonb end`.execute(owner)
  for (const name of ['r1', 'r2', 'fra']) {
    routerOf(name).neighbors = established
    routerOf(name).down = false
    routerOf(name).restart()
  }
})
afterEach(async () => {
  await Promise.all(running.splice(0).map((component) => component.stop?.()))
})

const routerOf = (name: string) => sandboxRegion(`routers-${name}`)
const onRouter = (name: string) => [...routerOf(name).table('pharos').keys()].sort()

/** With a long interval, so that only a notification can cause a run, unless given. */
async function startReconcilers(intervalMs = 3_600_000, lastKnownRoutes = noLastKnownRoutes) {
  const component = createReconcilers({
    postgres: database.postgres,
    waker,
    speakersOf: ({ speakers }) =>
      (speakers as { name: string }[]).map(({ name }) => ({
        name,
        speaker: createSandboxSpeaker({ region: `routers-${name}` }),
        routes: {},
      })),
    lastKnownRoutes,
    gate: openGate,
    report: async () => {},
    log: createLog({ logLevel: 'silent', logFormat: 'json' }),
    metrics: createMetrics(),
    intervalMs,
  })
  running.push(component)
  await component.start?.()
}

const deps = () => ({ db: database.postgres.owner, freshMs: 120_000, now: () => new Date() })
const setOf = (name: string, isDrained: boolean, slug = 'ams') =>
  setDrained(deps(), { actor: 'operator' }, { slug, name }, isDrained)
const regionOf = async (slug = 'ams') => {
  const { results } = await listAdminRegions(deps(), null, { ordering: 'slug', limit: 100, offset: 0 })
  return results.find((one) => one.slug === slug)!
}
const seed = (prefix: string) =>
  seedAnnouncement(database.postgres, {
    teamId: team,
    prefix,
    enabled: true,
    regions: [regions['ams']!, regions['fra']!],
  })
const statusOf = async (id: number) =>
  (await getAnnouncement({ postgres: database.postgres, now: () => new Date() }, operationOf(team), id)).body
    .status
const rowIn = async (id: number, region: string) => {
  const { rows } = await sql<{ state: string; reason: string | null }>`
    select state, reason from announcement_regions where announcement_id = ${id} and region_id = ${regions[region]}`.execute(
    database.postgres.owner,
  )
  return rows[0]!
}
const stateIn = async (id: number, region = 'ams') => (await rowIn(id, region)).state
const reasonIn = async (id: number, region = 'ams') => (await rowIn(id, region)).reason
const prefixes = ['198.51.100.0/24', '203.0.113.0/24']

async function startWithRoutes(intervalMs?: number, files?: LastKnownRoutesFiles): Promise<number[]> {
  const ids: number[] = []
  for (const prefix of prefixes) ids.push(await seed(prefix))
  await startReconcilers(intervalMs, files)
  await waitFor('everything is announced', async () => (await statusOf(ids[1]!)) === 'announced')
  await waitFor('the check is stored', async () => (await regionOf()).last_check_result === true)
  return ids
}

describe('a process that has lost the region to another one', () => {
  it('keeps the routes of a router until the other one has read it', async () => {
    const kept: string[][] = []
    const keep = (slug: string, names: string[]) => void (slug === 'ams' && kept.push(names.sort()))
    await startWithRoutes(undefined, {
      ...noLastKnownRoutes,
      save: async ({ region, routers }) =>
        keep(
          region.slug,
          routers.map(({ name }) => name),
        ),
      remove: async ({ slug }) => keep(slug, []),
    })
    const { last_check: before } = await regionOf()
    await wakeFully()
    await waitFor('no full run is left to do', async () => (await regionOf()).last_check !== before)
    await startReconcilers()
    routerOf('r2').down = true
    kept.length = 0
    await endLockSession()
    await waitFor('the other process has read a router', async () => (await regionOf()).error !== null)
    await wakeFully()
    await waitFor('the router that was read is forgotten', async () => kept.length > 0)
    assert.deepEqual(kept, [['r2']])
    routerOf('r2').down = false
    await waitFor('everything is forgotten', async () => kept.length > 1)
    assert.deepEqual(kept, [['r2'], []])
  })

  const wakeFully = () => sql`select pg_notify('pharos', 'routers')`.execute(database.postgres.owner)

  /** Its process finds it ended when it is woken; the other one takes the lock with its next heartbeat. */
  const endLockSession = () =>
    sql`select pg_terminate_backend(pid) from pg_locks
      where locktype = 'advisory' and granted and objsubid = 2 and objid = ${regions['ams']}::integer
        and database = (select oid from pg_database where datname = current_database())`.execute(
      database.postgres.owner,
    )
})

const isConflict = (pattern: RegExp) => (error: unknown) =>
  error instanceof Failure && error.code === 'conflict' && pattern.test(error.message)

describe('the regions for staff', () => {
  it('with each router, its neighbours and routes', async () => {
    await startWithRoutes()
    const { routers, ...region } = await regionOf()
    assert.deepEqual(
      [region.slug, region.quorum, region.open_approval, region.neighbors_ipv4, region.error],
      ['ams', null, null, true, null],
    )
    assert.deepEqual(
      routers.map(({ name, kind, drained, last_check_result, error, routes }) => [
        name,
        kind,
        drained,
        last_check_result,
        error,
        routes,
      ]),
      [
        ['r1', 'sandbox', null, true, null, 2],
        ['r2', 'sandbox', null, true, null, 2],
      ],
    )
    const [neighbor] = routers[0]!.neighbors
    assert.deepEqual(
      [neighbor!.address, neighbor!.asn, neighbor!.state, neighbor!.families],
      ['192.0.2.254', 64501, 'established', ['ipv4', 'ipv6']],
    )
    assert.ok(neighbor!.since)
  })

  it('with routers that no run has read yet, and in pages', async () => {
    const { results, count } = await listAdminRegions(deps(), null, {
      ordering: '-slug',
      limit: 1,
      offset: 1,
    })
    assert.deepEqual([results.map(({ slug }) => slug), count], [['ams'], 2])
    assert.deepEqual(
      results[0]!.routers.map(({ name, last_check_result, neighbors }) => [
        name,
        last_check_result,
        neighbors,
      ]),
      [
        ['r1', null, []],
        ['r2', null, []],
      ],
    )
  })

  it('with the failure of a router, also when it is the only one', async () => {
    await startWithRoutes(50)
    routerOf('r2').down = true
    routerOf('fra').down = true
    await waitFor('r2 is reported', async () => (await regionOf()).routers[1]!.last_check_result === false)
    await waitFor(
      'fra is reported',
      async () => (await regionOf('fra')).routers[0]!.last_check_result === false,
    )
    const [r1, r2] = (await regionOf()).routers
    assert.deepEqual([r1!.last_check_result, r1!.error], [true, null])
    assert.match(r2!.error!, /disabled/)
    assert.match((await regionOf('fra')).routers[0]!.error!, /disabled/)
  })
})

describe('draining a router', () => {
  it('withdraws all routes from the router, and none elsewhere; undraining announces them again', async () => {
    const ids = await startWithRoutes()
    const others = [routerOf('r2'), routerOf('fra')]
    for (const one of others) one.changes = 0
    const region = await setOf('r1', true)
    assert.ok(region.routers[0]!.drained)
    await waitFor('r1 is empty', () => onRouter('r1').length === 0)
    await waitFor('the run is stored', async () => (await regionOf()).routers[0]!.routes === 0)
    assert.deepEqual([onRouter('r2'), onRouter('fra')], [prefixes, prefixes])
    assert.deepEqual(
      others.map(({ changes }) => changes),
      [0, 0],
      'no other router was changed',
    )
    assert.equal(await statusOf(ids[0]!), 'announced')
    await setOf('r1', false)
    await waitFor('r1 has its routes again', () => onRouter('r1').length === 2)
  })

  it('changes nothing if repeated, and is audited once', async () => {
    await startWithRoutes()
    const first = await setOf('r1', true)
    const again = await setOf('r1', true)
    assert.equal(again.routers[0]!.drained, first.routers[0]!.drained)
    await setOf('r1', false)
    await setOf('r1', false)
    const { rows } = await sql`
      select actor, action, target, before, after from audit_entries order by id`.execute(
      database.postgres.owner,
    )
    assert.deepEqual(rows, [
      {
        actor: 'operator',
        action: 'router.drain',
        target: 'router:ams/r1',
        before: { drained: false },
        after: { drained: true },
      },
      {
        actor: 'operator',
        action: 'router.undrain',
        target: 'router:ams/r1',
        before: { drained: true },
        after: { drained: false },
      },
    ])
  })

  it('withdraws a route only once another router announces it', async () => {
    await seed('203.0.113.0/24')
    routerOf('r2').refuses = () => true
    await startReconcilers(50)
    await waitFor('r1 carries it', () => onRouter('r1').length === 1)
    await waitFor('both were checked', async () =>
      (await regionOf()).routers.every(({ last_check_result: isRead }) => isRead),
    )
    await setOf('r1', true)
    const drainedAt = new Date()
    await waitFor('a run after it', async () => new Date((await regionOf()).last_check!) > drainedAt)
    assert.deepEqual(onRouter('r1'), ['203.0.113.0/24'])
    routerOf('r2').refuses = () => false
    await waitFor('r2 announces it, and r1 no longer', () => onRouter('r1').length === 0)
    assert.deepEqual(onRouter('r2'), ['203.0.113.0/24'])
  })

  it('ends while withdrawals wait for a decision, which the other router keeps announcing', async () => {
    const more = ['192.0.2.0/24', '198.18.0.0/24', '198.18.1.0/24']
    const ids: number[] = []
    for (const prefix of more) ids.push(await seed(prefix))
    await startWithRoutes(50)
    await waitFor('r2 carries all', () => onRouter('r2').length === 5)
    // A route without a row, on both routers.
    const { owner } = database.postgres
    for (const name of ['r1', 'r2']) {
      const [route] = routerOf(name).table('pharos').values()
      routerOf(name)
        .table('pharos')
        .set('203.0.112.0/24', { ...route!, prefix: parsePrefix('203.0.112.0/24') })
    }
    await disableWithoutRequest(database.postgres, ids)
    await waitFor('they are held', async () => (await reasonIn(ids[0]!)) === 'withdrawal_held')
    await waitFor('the approval names all four', async () => (await regionOf()).open_approval !== null)
    const all = onRouter('r2')
    assert.equal(all.length, 6)
    await setOf('r1', true)
    await waitFor('r1 is empty', () => onRouter('r1').length === 0)
    await waitFor('the run is stored', async () => (await regionOf()).routers[0]!.routes === 0)
    assert.deepEqual(onRouter('r2'), all)
    assert.equal(await reasonIn(ids[0]!), 'withdrawal_held')
    const { rows } = await sql<{ state: string }>`
      select state from approvals p join regions r on r.id = p.region_id where r.slug = 'ams' order by p.id desc limit 1`.execute(
      owner,
    )
    assert.equal(rows[0]!.state, 'open')
    await setOf('r1', false)
    await waitFor('r1 has all again', () => onRouter('r1').length === 6)
  })

  it('is rejected for the last router, and while the others cannot announce the routes', async () => {
    await startWithRoutes(50)
    await assert.rejects(
      setOf('fra', true, 'fra'),
      isConflict(/^Router fra is the only one of region fra that is not drained/),
    )
    routerOf('r2').neighbors = [{ ...established[0], state: 'idle', families: [] }]
    await waitFor('r2 has no session', async () =>
      (await regionOf()).routers[1]!.neighbors.every(({ state }) => state !== 'established'),
    )
    await assert.rejects(setOf('r1', true), isConflict(/r2 has no established BGP session/))
    routerOf('r2').down = true
    await waitFor('r2 is down', async () => (await regionOf()).routers[1]!.last_check_result === false)
    await assert.rejects(setOf('r1', true), isConflict(/r2 cannot be read/))
    await setOf('r2', true)
    await assert.rejects(setOf('r1', true), isConflict(/only one of region ams/))
    assert.equal(onRouter('r1').length, 2)
  })

  it('is rejected if the quorum needs the router, and if the last check is outdated', async () => {
    await startWithRoutes()
    const { owner } = database.postgres
    await assert.rejects(
      setDrained(
        { ...deps(), now: () => new Date(Date.now() + 121_000) },
        { actor: 'operator' },
        { slug: 'ams', name: 'r1' },
        true,
      ),
      isConflict(/r2 cannot be read/),
    )
    await sql`update regions set quorum = 2 where slug = 'ams'`.execute(owner)
    await assert.rejects(setOf('r1', true), isConflict(/Lower its quorum/))
  })

  it('succeeds for only one of two routers that are drained concurrently', async () => {
    await startWithRoutes()
    const results = await Promise.allSettled([setOf('r1', true), setOf('r2', true)])
    assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  })

  it('returns not_found for other regions and routers', async () => {
    await assert.rejects(setOf('r1', true, 'nowhere'), /no such region/)
    await assert.rejects(setOf('r9', true), /no such router/)
  })

  it('is a command', async () => {
    await startWithRoutes()
    assert.match(
      await runCommand(database, drain, 'ams', 'r1'),
      /^region ams\n {2}r1 {2}drained since .*\n {2}r2 {2}in service\n$/,
    )
    await waitFor('r1 is empty', () => onRouter('r1').length === 0)
    assert.match(await runCommand(database, undrain, 'ams', 'r1'), /r1 {2}in service/)
    await waitFor('r1 has its routes', () => onRouter('r1').length === 2)
    await assert.rejects(runCommand(database, drain, 'ams'), /Name a region and one of its routers/)
  })
})

describe('a region that loses one of two routers', () => {
  it('stays announced with a quorum of one', async () => {
    await sql`update regions set quorum = 1 where slug = 'ams'`.execute(database.postgres.owner)
    const [id] = await startWithRoutes(50)
    routerOf('r2').down = true
    await waitFor('r2 is reported', async () => (await regionOf()).routers[1]!.last_check_result === false)
    const before = new Date()
    await waitFor('a run after it', async () => new Date((await regionOf()).routers[0]!.last_check!) > before)
    assert.equal(await statusOf(id!), 'announced')
    assert.equal((await regionOf()).last_check_result, true)
  })

  it('is unhealthy without the quorum, announces nothing new, and withdraws nothing', async () => {
    await startWithRoutes(50)
    routerOf('r2').down = true
    await waitFor('the region is reported', async () => (await regionOf()).last_check_result === false)
    const id = await seed('192.0.2.0/24')
    await waitFor('r1 carries it', () => onRouter('r1').length === 3)
    await waitFor('fra announces it', async () => (await stateIn(id, 'fra')) === 'announced')
    await waitFor('the run is stored', async () => (await reasonIn(id)) === 'router_unreadable')
    assert.equal(await stateIn(id), 'announcing')
    assert.deepEqual(onRouter('r1'), ['192.0.2.0/24', ...prefixes])
    routerOf('r2').down = false
    await waitFor('it is announced', async () => (await stateIn(id)) === 'announced')
  })
})
