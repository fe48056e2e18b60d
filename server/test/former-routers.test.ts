// Routers that a region no longer has, on a real database and sandbox routers: they are emptied make-before-break, states and `pharos status`
// name them until they were read empty twice, and the guard and the budget keep their meaning.
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { sql } from 'kysely'
import type { FormerRouter } from '@pharos/contract/byoip/former-router'
import { patchAnnouncement } from '../src/byoip/announcement/patch-announcement.ts'
import {
  disableWithoutRequest,
  operationOf,
  seedAnnouncement,
  seedRegions,
  seedTeam,
  seedUser,
} from '../src/byoip/announcement/testing.ts'
import { giveUpFormerRouter, readFormerRouters } from '../src/byoip/regions/former-router.ts'
import { decideApproval, openApprovals, valuesOf } from '../src/approval/testing.ts'
import type { RegionRecord } from '../src/byoip/regions/reconcile.store.ts'
import { setDrained } from '../src/byoip/regions/router.ts'
import { createReconcilers } from '../src/byoip/regions/reconcilers.ts'
import { noLastKnownRoutes } from '../src/byoip/regions/testing.ts'
import { regionCommand } from '../src/commands/region.ts'
import { runCommand } from '../src/commands/testing.ts'
import { createTestDatabase, emptyAudit, emptyTables, type TestDatabase } from '../src/db/testing.ts'
import { createWaker, type Waker } from '../src/db/wake.ts'
import { createSandboxSpeaker, sandboxRegion } from '../src/drivers/sandbox/speaker.ts'
import { parsePrefix, type Prefix } from '../src/net/prefix.ts'
import { applyPlatform, preparePlatform } from '../src/platform/engine/apply.ts'
import { documentOf } from '../src/platform/engine/document.ts'
import { platformKinds } from '../src/platform/kinds/index.ts'
import { readStatus } from '../src/status/status.ts'
import type { Component } from '../src/runtime/component.ts'
import { createLog } from '../src/runtime/log.ts'
import { createMetrics } from '../src/runtime/metrics.ts'
import { createKeyRing } from '../src/runtime/secrets.ts'
import { openGate } from '../src/runtime/testing-gate.ts'
import { waitFor } from '../../lab/src/wait.ts'
import { statusConfig } from './support/status-config.ts'

let database: TestDatabase
let regions: Record<string, number>
let team: number
let user: number
let waker: Waker
const running: Component[] = []

before(async () => {
  database = await createTestDatabase()
  regions = await seedRegions(database.postgres, ['ams'])
  team = await seedTeam(database.postgres, 'ours')
  user = await seedUser(database.postgres, 'ada@example.net')
  waker = createWaker(database.postgres)
  await waker.start()
})
after(async () => {
  await waker.stop()
  await database[Symbol.asyncDispose]()
})
beforeEach(async () => {
  await emptyTables(owner(), [
    'announcements',
    'approvals',
    'region_withdrawals',
    'region_routers',
    'former_speakers',
  ])
  await emptyAudit(owner())
  await sql`update regions set last_check = null, last_check_result = null, quorum = null,
    speakers = '[{"name":"r1","kind":"sandbox"},{"name":"r2","kind":"sandbox"}]'::jsonb`.execute(owner())
  for (const name of ['r1', 'r2', 'r3']) {
    routerOf(name).down = false
    routerOf(name).keeps = () => false
    routerOf(name).restart()
  }
})
afterEach(async () => {
  await Promise.all(running.splice(0).map((component) => component.stop?.()))
})

const owner = () => database.postgres.owner
const routerOf = (name: string) => sandboxRegion(`former-${name}`)
const onRouter = (name: string) => [...routerOf(name).table('pharos').keys()].sort()
const prefixAt = (at: number): Prefix => parsePrefix(`10.0.${at}.0/24`)

/** Routers by their name up to a hyphen: `r1-alias` is another name of `r1`. */
function speakersOf({ speakers, formers = [] }: RegionRecord) {
  const one = (name: string) => ({
    name,
    speaker: createSandboxSpeaker({ region: `former-${name.split('-')[0]}` }),
    routes: {},
  })
  const former = formers.map(({ id, name }) => ({ ...one(name), name: `${name} (former ${id})`, former: id }))
  return [...(speakers as { name: string }[]).map(({ name }) => one(name)), ...former]
}

/** With a long interval, so that only a notification or an earlier run can cause a run, unless given. */
async function startReconcilers(intervalMs = 3_600_000): Promise<void> {
  const component = createReconcilers({
    postgres: database.postgres,
    waker,
    speakersOf,
    lastKnownRoutes: noLastKnownRoutes,
    gate: openGate,
    report: async () => {},
    log: createLog({ logLevel: 'silent', logFormat: 'json' }),
    metrics: createMetrics(),
    intervalMs,
  })
  running.push(component)
  await component.start?.()
}

const fileOf = (names: readonly string[]) => ({
  locations: [{ key: 'here', name: 'Here', country: 'NL', timezone: 'Europe/Amsterdam' }],
  regions: [
    {
      slug: 'ams',
      name: 'AMS',
      location: 'here',
      speakers: names.map((name) => ({ name, kind: 'sandbox' })),
    },
  ],
})

/** Applies a file in which the region has these routers, and returns the notices of its plan. */
async function apply(names: readonly string[]): Promise<readonly string[]> {
  const deps = { ring: createKeyRing(['a-secret-of-at-least-thirty-two-bytes']), readText: () => '' }
  const document = documentOf('test', fileOf(names))
  const prepared = await preparePlatform(platformKinds, owner(), document, deps, {
    prune: false,
    enforce: false,
  })
  await applyPlatform(platformKinds, owner(), prepared, new Date())
  return prepared.plan.notices
}

async function startWithRoutes(count: number, intervalMs?: number): Promise<number[]> {
  const ids: number[] = []
  for (let at = 0; at < count; at++) {
    const seed = { teamId: team, prefix: prefixAt(at), enabled: true, regions: [regions['ams']!] }
    ids.push(await seedAnnouncement(database.postgres, seed))
  }
  await startReconcilers(intervalMs)
  await waitFor('everything is announced', async () =>
    (await statesOf(ids)).every((one) => one === 'announced'),
  )
  return ids
}

const drainOrUndrain = (verb: 'drain' | 'undrain', name: string) =>
  setDrained(
    { db: owner(), freshMs: 60_000, now: () => new Date() },
    { actor: 'operator' },
    { slug: 'ams', name },
    verb === 'drain',
  )
const stateOf = async (id: number): Promise<string> => (await statesOf([id]))[0]!
/** The state in the region, with its reason. */
async function statesOf(ids: readonly number[]): Promise<string[]> {
  const { rows } = await sql<{ state: string }>`
    select concat_ws(' ', state, reason) as state from announcement_regions
    where announcement_id = any(${ids}::integer[]) order by announcement_id`.execute(owner())
  return rows.map(({ state }) => state)
}
const formers = () => readFormerRouters(owner())
const isEmptied = () => waitFor('no router is former', async () => (await formers()).length === 0)
const problems = async () =>
  (await readStatus(owner(), statusConfig)).problems.filter(({ code }) => code === 'former_router')
const disable = (id: number) => {
  const deps = { postgres: database.postgres, memberToggle: true, now: () => new Date() }
  return patchAnnouncement(deps, operationOf(team, { actor: { userId: user, roles: ['admin'] } }), id, {
    enabled: false,
  })
}
const countedWithdrawals = async () =>
  (await sql`select from region_withdrawals`.execute(owner())).rows.length

describe('a router that is left out of the platform file', () => {
  it('is named by the plan, and emptied once the others carry each route, without a change of any state', async () => {
    const ids = await startWithRoutes(3)
    const lost: string[] = []
    const table = routerOf('r1').table('pharos')
    const remove = table.delete.bind(table)
    table.delete = (prefix) => {
      if (!onRouter('r3').includes(prefix)) lost.push(prefix)
      return remove(prefix)
    }
    const notices = await apply(['r3', 'r2'])
    assert.equal(notices.length, 1)
    assert.match(notices[0]!, /^region ams: r1 \(sandbox ams\/r1\) becomes a former router/)
    await isEmptied()
    assert.deepEqual([onRouter('r1'), onRouter('r3')], [[], onRouter('r2')])
    assert.deepEqual([lost, onRouter('r2').length], [[], 3])
    assert.deepEqual(await statesOf(ids), ['announced', 'announced', 'announced'])
    assert.equal(await countedWithdrawals(), 0)
    assert.deepEqual(await problems(), [])
  })

  it('keeps its routes while no other router announces them', async () => {
    await startWithRoutes(2, 200)
    routerOf('r3').down = true
    await apply(['r3'])
    await waitFor('it was read', async () => (await formers())[0]?.last_check !== undefined)
    await waitFor('the new router is reported', async () => {
      const { rows } = await sql<{
        failed: boolean
      }>`select last_check_result is false as failed from regions`.execute(owner())
      return rows[0]!.failed
    })
    assert.deepEqual(onRouter('r1'), [prefixAt(0), prefixAt(1)])
    routerOf('r3').down = false
    await isEmptied()
    assert.deepEqual([onRouter('r1'), onRouter('r2'), onRouter('r3').length], [[], [], 2])
  })

  it('keeps its routes while the only router that is left is drained, and the region names that', async () => {
    const ids = await startWithRoutes(2, 200)
    const isChecked = async () => {
      const { rows } = await sql<{
        result: boolean | null
      }>`select g.last_check_result and count(*) > 1 and every(r.last_check_result is true) as result
        from regions g join region_routers r on r.region_id = g.id group by g.id`.execute(owner())
      return rows[0]?.result === true
    }
    await waitFor('the region and its routers were checked', isChecked)
    await drainOrUndrain('drain', 'r1')
    await waitFor('r1 is empty', async () => onRouter('r1').length === 0)
    const isNamed = (notices: readonly string[]) =>
      notices.some((one) => one.startsWith('region ams: every router is drained'))
    assert.equal(isNamed(await apply(['r1', 'r2'])), false, 'r2 announces them')
    assert.equal(isNamed(await apply(['r1'])), true)
    await waitFor('the region names it', async () => {
      const { problems } = await readStatus(owner(), statusConfig)
      return problems.some(
        ({ code, subject, message }) =>
          code === 'region_failed' && subject === 'ams' && message.startsWith('every router is drained'),
      )
    })
    await waitFor('the former router was read', async () => (await formers())[0]?.last_check !== null)
    assert.deepEqual(onRouter('r2'), [prefixAt(0), prefixAt(1)])
    await drainOrUndrain('undrain', 'r1')
    await isEmptied()
    assert.deepEqual([onRouter('r1').length, onRouter('r2')], [2, []])
    await waitFor('all are announced', async () => (await statesOf(ids)).every((one) => one === 'announced'))
    await waitFor('the region is as desired', isChecked)
  })

  it('is emptied of a prefix that is disabled while it does not answer, and the prefix is `withdrawing` until then', async () => {
    const [first, second] = await startWithRoutes(2, 200)
    routerOf('r1').down = true
    await apply(['r3', 'r2'])
    await waitFor('the new router carries all', async () => onRouter('r3').length === 2)
    await disable(first!)
    await waitFor(
      'the others have withdrawn it',
      async () => onRouter('r2').length + onRouter('r3').length === 2,
    )
    await waitFor('the state names it', async () => (await stateOf(first!)) === 'withdrawing former_router')
    await waitFor('the failure is stored', async () => (await formers())[0]!.error !== null)
    const [problem] = await problems()
    assert.equal(problem?.subject, 'ams/r1')
    assert.match(
      problem!.message,
      /^the former router sandbox ams\/r1 may have 2 routes; .*pharos region gone \d+$/,
    )
    assert.equal(await stateOf(second!), 'announced')
    routerOf('r1').down = false
    await isEmptied()
    assert.deepEqual(onRouter('r1'), [])
    await waitFor('it is withdrawn', async () => (await stateOf(first!)) === 'withdrawn')
    assert.equal(await countedWithdrawals(), 0)
  })

  it('keeps a prefix `withdrawing` while it does not let it go, and counts its withdrawal once', async () => {
    const [first] = await startWithRoutes(1, 200)
    routerOf('r1').keeps = () => true
    await apply(['r2'])
    await disableWithoutRequest(database.postgres, [first!])
    await sql`select pg_notify('pharos', 'announcements')`.execute(owner())
    await waitFor('the state names it', async () => (await stateOf(first!)) === 'withdrawing former_router')
    await waitFor('it was read', async () => (await formers())[0]!.last_check !== null)
    const { last_check: before } = (await formers())[0]!
    await waitFor(
      'two more runs',
      async () => Date.parse((await formers())[0]!.last_check!) > Date.parse(before!) + 400,
    )
    assert.deepEqual([(await formers())[0]!.routes, await countedWithdrawals()], [1, 1])
    routerOf('r1').keeps = () => false
    await isEmptied()
    await waitFor('it is withdrawn', async () => (await stateOf(first!)) === 'withdrawn')
  })

  it('opens no door beside the guard: a mass withdrawal is held, and the routes stay announced', async () => {
    const ids = await startWithRoutes(10)
    routerOf('r1').down = true
    routerOf('r2').down = true
    await disableWithoutRequest(database.postgres, ids)
    await apply(['r3'])
    await waitFor('an approval is open', async () => {
      const { rows } = await sql`select from approvals where state = 'open'`.execute(owner())
      return rows.length === 1
    })
    routerOf('r1').down = false
    routerOf('r2').down = false
    await sql`notify pharos, 'routers'`.execute(owner())
    await waitFor('the new router carries all', async () => onRouter('r3').length === 10)
    assert.deepEqual(new Set(await statesOf(ids)), new Set(['withdrawing withdrawal_held']))
  })

  it('keeps a route without a row until staff approve its withdrawal', async () => {
    await startWithRoutes(1, 200)
    const stray = {
      prefix: prefixAt(9),
      asPath: [],
      nextHop: '0.0.0.0',
      communities: [],
      largeCommunities: [],
    }
    routerOf('r1').table('pharos').set(stray.prefix, stray)
    await apply(['r3', 'r2'])
    await waitFor('an approval is open', async () => (await openApprovals(owner())).length > 0)
    await waitFor('the rest is emptied', async () => onRouter('r1').length === 1)
    const [approval] = await openApprovals(owner())
    assert.deepEqual([valuesOf(approval!), onRouter('r1')], [[stray.prefix], [stray.prefix]])
    await decideApproval(owner(), approval!.id, 'approved')
    await isEmptied()
    assert.deepEqual(onRouter('r1'), [])
  })

  it('is a router of the region again if the file names it again', async () => {
    await startWithRoutes(2, 200)
    await apply(['r2'])
    await apply(['r1', 'r2'])
    assert.deepEqual(await formers(), [])
    await waitFor('both carry all', async () => onRouter('r1').length + onRouter('r2').length === 4)
  })

  it('is not emptied if it is a router in use under another name', async () => {
    await startWithRoutes(2, 200)
    await apply(['r1-alias', 'r2'])
    await waitFor('it was read', async () => (await formers())[0]!.last_check !== null)
    assert.match((await formers())[0]!.error!, /router ID and the owner of a router in use/)
    assert.equal(onRouter('r1').length, 2)
    assert.equal((await problems()).length, 1)
  })

  it('is given up by staff if its hardware is gone, with an audit entry', async () => {
    const [first] = await startWithRoutes(1, 200)
    routerOf('r1').down = true
    await apply(['r2'])
    await disable(first!)
    await waitFor('the state names it', async () => (await stateOf(first!)) === 'withdrawing former_router')
    const [{ id, routes }] = (await formers()) as [Awaited<ReturnType<typeof formers>>[number]]
    const staff = operationOf(team, { actor: { isStaff: true, userId: user } })
    const { body } = await giveUpFormerRouter({ db: owner() }, staff, id)
    assert.deepEqual([routes, (body as FormerRouter).routes], [1, 0])
    await waitFor('it is withdrawn', async () => (await stateOf(first!)) === 'withdrawn')
    await assert.rejects(giveUpFormerRouter({ db: owner() }, staff, id), { code: 'not_found' })
    const { rows } = await sql<{ before: object }>`
      select before from audit_entries where action = 'former_router.gone' and target = ${`former_router:${id}`}`.execute(
      owner(),
    )
    const expected = { region: 'ams', name: 'r1', router: 'sandbox ams/r1', routes: 1 }
    assert.deepEqual(rows, [{ before: expected }])
  })

  it('is given up by a command', async () => {
    await startWithRoutes(1, 200)
    routerOf('r1').down = true
    await apply(['r2'])
    const [{ id }] = (await formers()) as [Awaited<ReturnType<typeof formers>>[number]]
    const out = await runCommand(database, regionCommand, 'gone', String(id))
    assert.equal(out, 'The former router ams/r1 (sandbox ams/r1) is given up.\n')
    assert.deepEqual(await formers(), [])
  })

  it('keeps its region until it is empty', async () => {
    await startWithRoutes(1)
    const deps = { ring: createKeyRing(['a-secret-of-at-least-thirty-two-bytes']), readText: () => '' }
    await Promise.all(running.splice(0).map((component) => component.stop?.()))
    await apply(['r2'])
    await emptyTables(owner(), ['announcements'])
    const without = documentOf('test', { regions: [] })
    const options = { prune: true, enforce: false }
    const planned = async () => (await preparePlatform(platformKinds, owner(), without, deps, options)).plan
    assert.match(
      (await planned()).notices.join('\n'),
      /region ams .* is kept: its former routers are not empty yet \(1\)/,
    )
    await sql`delete from former_speakers`.execute(owner())
    assert.match(
      (await planned()).notices.join('\n'),
      /region ams .* is kept: its routers still have routes \(1\)/,
    )
    await sql`update region_routers set routes = 0`.execute(owner())
    const { changes } = await planned()
    assert.deepEqual(
      changes.map(({ action, kind }) => `${action} ${kind}`),
      ['delete region'],
    )
  })
})
