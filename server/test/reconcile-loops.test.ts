// The reconciler role as a whole: loops that are notified through the database, on regions that are added and removed.
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { noLastKnownRoutes } from '../src/byoip/regions/testing.ts'
import { createReconcilers } from '../src/byoip/regions/reconcilers.ts'
import { decideApproval, openApprovals } from '../src/approval/testing.ts'
import { getAnnouncement } from '../src/byoip/announcement/list-announcements.ts'
import { patchAnnouncement } from '../src/byoip/announcement/patch-announcement.ts'
import type { Speaker } from '../src/byoip/regions/speaker.ts'
import {
  operationOf,
  disableWithoutRequest,
  seedAnnouncement,
  seedRegions,
  seedTeam,
} from '../src/byoip/announcement/testing.ts'
import { createTestDatabase, emptyTables, type TestDatabase } from '../src/db/testing.ts'
import { createWaker, type Waker } from '../src/db/wake.ts'
import { createSandboxSpeaker, sandboxRegion } from '../src/drivers/sandbox/speaker.ts'
import type { Component } from '../src/runtime/component.ts'
import { Failure } from '../src/runtime/error.ts'
import { createLog } from '../src/runtime/log.ts'
import { createMetrics } from '../src/runtime/metrics.ts'
import { openGate } from '../src/runtime/testing-gate.ts'

let database: TestDatabase
let regions: Record<string, number>
let team: number
let waker: Waker
const running: Component[] = []

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
  listing = undefined
  await emptyTables(database.postgres.owner, ['announcements', 'approvals', 'region_withdrawals'])
  for (const slug of ['ams', 'fra', 'lon']) {
    routerOf(slug).down = false
    routerOf(slug).restart()
  }
})
afterEach(async () => {
  await Promise.all(running.splice(0).map((component) => component.stop?.()))
})

const routerOf = (slug: string) => sandboxRegion(`loops-${slug}`)
const onRouter = (slug: string) => [...routerOf(slug).table('pharos').keys()].sort()

/**
 * While set, routers do not finish listing their routes, which takes long for large tables; `reached` resolves at the first
 * request.
 */
let listing: { readonly reached: () => void; readonly finished: Promise<void> } | undefined

function slowToList(speaker: Speaker): Speaker {
  const list = speaker.list.bind(speaker)
  return Object.assign(speaker, {
    list: async () => {
      listing?.reached()
      await listing?.finished
      return list()
    },
  })
}

/** The loops of one process, with a long interval, so that only a notification can cause a run. */
async function startReconcilers(
  intervalMs = 3_600_000,
  log = createLog({ logLevel: 'silent', logFormat: 'json' }),
) {
  const metrics = createMetrics()
  const component = createReconcilers({
    postgres: database.postgres,
    waker,
    speakersOf: ({ slug }) => [
      { name: slug, speaker: slowToList(createSandboxSpeaker({ region: `loops-${slug}` })), routes: {} },
    ],
    lastKnownRoutes: noLastKnownRoutes,
    gate: openGate,
    report: async () => {},
    log,
    metrics,
    intervalMs,
  })
  running.push(component)
  await component.start?.()
  return { component, metrics }
}

const seed = (prefix: string, rest = {}) =>
  seedAnnouncement(database.postgres, {
    teamId: team,
    prefix,
    enabled: true,
    regions: [regions.ams!],
    ...rest,
  })
const patch = (id: number, enabled: boolean) =>
  patchAnnouncement(
    { postgres: database.postgres, memberToggle: true, now: () => new Date() },
    operationOf(team),
    id,
    { enabled },
  )
const statusOf = async (id: number) =>
  (await getAnnouncement({ postgres: database.postgres, now: () => new Date() }, operationOf(team), id)).body
    .status

async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 60_000,
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!(await condition())) {
    if (performance.now() > deadline) assert.fail(`${what} did not happen within ${timeoutMs} ms`)
    await sleep(2)
  }
}
const hasStatus = (id: number, status: string) =>
  until(`status ${status}`, async () => (await statusOf(id)) === status)

describe('the reconcilers', () => {
  it('apply the desired state at the start, in every region', async () => {
    const id = await seed('203.0.113.0/24', { regions: [regions.ams, regions.fra] })
    const { metrics } = await startReconcilers()
    await hasStatus(id, 'announced')
    assert.deepEqual([onRouter('ams'), onRouter('fra')], [['203.0.113.0/24'], ['203.0.113.0/24']])
    await until('metrics', async () =>
      (await metrics.registry.metrics()).includes('pharos_region_routes{region="fra",state="observed"} 1'),
    )
  })

  it('are notified by a PATCH', async () => {
    const id = await seed('203.0.113.0/24', { enabled: false })
    await startReconcilers()
    await until('the first run', async () => (await isChecked('ams')) && (await isChecked('fra')))
    await patch(id, true)
    await hasStatus(id, 'announced')
    await patch(id, false)
    await hasStatus(id, 'withdrawn')
    assert.deepEqual(onRouter('ams'), [])
  })

  it('run for toggled rows alone when they are notified, and in full soon after', async () => {
    const id = await seed('203.0.113.0/24', { enabled: false })
    const lost = await seed('198.51.100.0/24', { regions: [regions.ams, regions.fra] })
    await startReconcilers()
    await hasStatus(lost, 'announced')
    const checked = await checkedAt('ams')
    // Changed without a notification: only a full run finds it.
    for (const slug of ['ams', 'fra']) routerOf(slug).table('pharos').clear()
    await patch(id, true)
    await until('the announcement', () => onRouter('ams').length > 0)
    assert.deepEqual([onRouter('ams'), onRouter('fra')], [['203.0.113.0/24'], []])
    await until('the full run', () => onRouter('ams').length === 2)
    await until('the check', async () => (await checkedAt('ams')) > checked)
    assert.deepEqual(onRouter('fra'), [], 'regions without toggled rows are not read')
  })

  it('do not delay a toggle until a scheduled full run has finished', async () => {
    const id = await seed('203.0.113.0/24')
    const checked = async () => (await isChecked('ams')) && (await isChecked('fra'))
    await sql`update regions set last_check_result = null`.execute(database.postgres.owner)
    await startReconcilers()
    await until('the first run', checked)
    await hasStatus(id, 'announced')
    const [reached, finished] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    listing = { reached: reached.resolve, finished: finished.promise }
    await patch(id, false)
    await hasStatus(id, 'withdrawn')
    const before = await checkedAt('ams')
    // The full run after that change is reading.
    await reached.promise
    await patch(id, true)
    await until('the announcement', () => onRouter('ams').length === 1)
    listing = undefined
    finished.resolve()
    await until('the full run', async () => (await checkedAt('ams')) > before)
    assert.equal(await statusOf(id), 'announced')
  })

  it('start a full run at once if more rows were toggled than may be withdrawn', async () => {
    const ids = await Promise.all([0, 1, 2, 3, 4].map((at) => seed(`10.0.${at}.0/24`)))
    const { metrics } = await startReconcilers()
    for (const id of ids) await hasStatus(id, 'announced')
    await disableWithoutRequest(database.postgres, ids)
    await sql`select pg_notify('pharos', 'announcements')`.execute(database.postgres.owner)
    await until('the approval', async () =>
      (await metrics.registry.metrics()).includes('pharos_region_routes{region="ams",state="held"}'),
    )
    await until(
      'the withdrawal reported as held',
      async () => (await reasonOf(ids[4]!)) === 'withdrawal_held',
    )
    assert.ok(onRouter('ams').length >= 2)
  })

  it('are notified of a decision about an approval', async () => {
    const ids = await Promise.all([0, 1, 2, 3, 4].map((at) => seed(`10.0.${at}.0/24`)))
    await startReconcilers()
    for (const id of ids) await hasStatus(id, 'announced')
    await sql`update announcements set enabled = false`.execute(database.postgres.owner)
    await sql`update announcement_regions set state = 'withdrawing'`.execute(database.postgres.owner)
    await sql`select pg_notify('pharos', 'announcements')`.execute(database.postgres.owner)
    const open = () => openApprovals(database.postgres.owner)
    await until('the approval', async () => (await open()).length === 1)
    assert.equal(onRouter('ams').length, 5)
    await decideApproval(database.postgres.owner, (await open())[0]!.id, 'approved')
    await until('the withdrawal', () => onRouter('ams').length === 0)
    await hasStatus(ids[0]!, 'withdrawn')
  })

  it('announce again at once the routes that a restarted router has lost', async () => {
    const id = await seed('203.0.113.0/24')
    await startReconcilers()
    await hasStatus(id, 'announced')
    routerOf('ams').restart()
    await until('the route', () => onRouter('ams').length === 1)
  })

  it('continue in the other regions while one router is down, and converge when it is back', async () => {
    const id = await seed('203.0.113.0/24', { regions: [regions.ams, regions.fra] })
    routerOf('ams').down = true
    await startReconcilers()
    await until('fra', () => onRouter('fra').length === 1)
    await hasStatus(id, 'partially_announced')
    routerOf('ams').down = false
    await hasStatus(id, 'announced')
  })

  it('share the regions with another process, and take over when it ends', async () => {
    const id = await seed('203.0.113.0/24')
    const first = await startReconcilers()
    await hasStatus(id, 'announced')
    const epoch = await epochOf('ams')
    await startReconcilers(20)
    await sleep(100)
    assert.equal(await epochOf('ams'), epoch)
    await first.component.stop?.()
    await patch(id, false)
    await hasStatus(id, 'withdrawn')
    assert.ok((await epochOf('ams')) > epoch)
  })

  it('include a new region, and one with changed speakers', async () => {
    await startReconcilers(20)
    const { lon } = await seedRegions(database.postgres, ['lon'])
    const id = await seed('203.0.113.0/24', { regions: [lon] })
    await hasStatus(id, 'announced')
    const epoch = await epochOf('lon')
    await sql`update regions set speakers = '[{"kind":"sandbox","latency_ms":1}]' where slug = 'lon'`.execute(
      database.postgres.owner,
    )
    await until('the new speaker', async () => (await epochOf('lon')) > epoch)
    await emptyTables(database.postgres.owner, ['announcements'])
    await sql`delete from approvals where region_id = ${lon}`.execute(database.postgres.owner)
  })

  it('leave everything announced when they stop', async () => {
    const id = await seed('203.0.113.0/24')
    const { component } = await startReconcilers()
    await hasStatus(id, 'announced')
    await component.stop?.()
    assert.deepEqual(onRouter('ams'), ['203.0.113.0/24'])
  })

  it('survive the loss of every connection to the database', async () => {
    const id = await seed('203.0.113.0/24')
    await startReconcilers(20)
    await hasStatus(id, 'announced')
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`.execute(database.postgres.owner)
    const late = await untilAccepted(() => seed('198.51.100.0/24'))
    await until('the late one', () => onRouter('ams').includes('198.51.100.0/24'))
    await hasStatus(late, 'announced')
    assert.equal(await statusOf(id), 'announced')
  })
})

async function untilAccepted<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Failure && error.code === 'unavailable')) throw error
      await sleep(5)
    }
  }
}

async function epochOf(slug: string): Promise<number> {
  const { rows } = await sql<{ epoch: number }>`select epoch from regions where slug = ${slug}`.execute(
    database.postgres.owner,
  )
  return rows[0]!.epoch
}

async function checkedAt(slug: string): Promise<Date> {
  const { rows } = await sql<{ at: Date }>`select last_check as at from regions where slug = ${slug}`.execute(
    database.postgres.owner,
  )
  return rows[0]!.at
}

async function reasonOf(id: number): Promise<string> {
  const { rows } = await sql<{ reason: string | null }>`
    select reason from announcement_regions where announcement_id = ${id}`.execute(database.postgres.owner)
  return rows[0]!.reason ?? ''
}

async function isChecked(slug: string): Promise<boolean> {
  const { rows } = await sql<{ checked: boolean }>`
    select coalesce(last_check_result, false) as checked from regions where slug = ${slug}`.execute(
    database.postgres.owner,
  )
  return rows[0]!.checked
}
