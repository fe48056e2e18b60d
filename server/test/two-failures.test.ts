// Combinations of two failures, on a real gobgpd with a BIRD peer: a restart of the router while a withdrawal needs
// approval or is rejected, while a prefix is damped, while its attributes are about to change, and while the database
// or the reconciler is unavailable. The peer never loses a prefix that was not disabled.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { sql } from 'kysely'
import { createLab, type Lab } from '../../lab/src/network.ts'
import { skipWithout } from '../../lab/src/program.ts'
import { waitFor } from '../../lab/src/wait.ts'
import { patchAnnouncement } from '../src/byoip/announcement/patch-announcement.ts'
import {
  disableWithoutRequest,
  operationOf,
  seedAnnouncement,
  seedRegions,
  seedTeam,
} from '../src/byoip/announcement/testing.ts'
import { decideApproval } from '../src/approval/testing.ts'
import { createLastKnownRoutesFiles } from '../src/byoip/regions/last-known-routes.ts'
import type { RouteSettings } from '../src/byoip/regions/plan.ts'
import { createReconcilers } from '../src/byoip/regions/reconcilers.ts'
import { openPostgres } from '../src/db/postgres.ts'
import { createTestDatabase, emptyTables, type TestDatabase } from '../src/db/testing.ts'
import { createWaker } from '../src/db/wake.ts'
import { createGobgpSpeaker } from '../src/drivers/gobgp/speaker.ts'
import { createLog } from '../src/runtime/log.ts'
import { createMetrics } from '../src/runtime/metrics.ts'
import { createKeyRing } from '../src/runtime/secrets.ts'
import { createRandom, testSeed } from './support/random.ts'
import { TcpProxy } from './support/tcp-proxy.ts'
import { scaled } from '../src/runtime/testing-scale.ts'
import { openGate } from '../src/runtime/testing-gate.ts'

const kills = scaled(8)
const owner = '64500:1:1'
const prefixes = Array.from({ length: 50 }, (_, at) => `10.1.${at}.0/24`)
const log = createLog({ logLevel: process.env['PHAROS_LOG_LEVEL'] ?? 'silent', logFormat: 'json' } as never)
const ring = createKeyRing(['k'.repeat(32)])

let lab: Lab
let database: TestDatabase
let region: number
let team: number
let ids: number[]
let folder: string
let stack: AsyncDisposableStack

describe('two failures at once', { skip: skipWithout('gobgpd', 'gobgp', 'bird', 'birdc') }, () => {
  before(async () => {
    database = await createTestDatabase()
    region = (await seedRegions(database.postgres, ['ams'])).ams!
    team = await seedTeam(database.postgres, 'ours')
  })
  after(() => database[Symbol.asyncDispose]())

  beforeEach(async () => {
    lab = await createLab({ regions: ['ams'], deferralSeconds: 12 })
    folder = mkdtempSync(join(tmpdir(), 'pharos-plans-'))
    stack = new AsyncDisposableStack()
    await emptyTables(db(), ['announcements', 'approvals', 'region_withdrawals', 'region_routers'])
    ids = []
    for (const prefix of prefixes)
      ids.push(
        await seedAnnouncement(database.postgres, { teamId: team, prefix, enabled: true, regions: [region] }),
      )
  })
  afterEach(async () => {
    await stack.disposeAsync()
    await lab.stop()
    rmSync(folder, { recursive: true })
  })

  it('a restart applies no withdrawal that is held, and none that was rejected', async () => {
    await startReconcilers()
    await allAnnounced()
    await disableWithoutRequest(database.postgres, ids.slice(0, 47))
    await wake('announcements')
    const approval = await openApproval()
    await assertNoLoss('held')
    assert.equal(await openApproval(), approval, 'the approval is still open')
    await decideApproval(db(), approval, 'rejected')
    await assertNoLoss('rejected')
  })

  it('a restart before the approval is opened applies no withdrawal either', async () => {
    const running = await startReconcilers()
    await allAnnounced()
    await running.stop()
    await disableWithoutRequest(database.postgres, ids.slice(0, 47))
    await startReconcilers()
    await assertNoLoss('no approval yet')
  })

  it('a restart damps no announced prefix', async () => {
    const running = await startReconcilers()
    await allAnnounced()
    await running.stop()
    const start = Date.now() - 600_000
    for (let at = 0; at < 14; at++) await patch(ids[0]!, at % 2 === 1, new Date(start + at * 1000))
    await startReconcilers()
    await waitFor('it is announced', async () => (await stateOf(ids[0]!)) === 'announced')
    await assertNoLoss('damped')
  })

  it('a restart applies no change of the next hop that is held', async () => {
    const running = await startReconcilers()
    await allAnnounced()
    await running.stop()
    await startReconcilers({ routes: { nextHop4: '192.0.2.9' } })
    await openApproval()
    await assertNoLoss('changes held')
    const { apiAddress: address } = lab.region('ams')
    const speaker = createGobgpSpeaker({ address, owner, timeoutMs: 60_000 })
    const nextHops = new Set((await speaker.list()).map(({ nextHop }) => nextHop))
    await speaker.close()
    assert.deepEqual([...nextHops], ['0.0.0.0'])
  })

  it('a restart loses no prefix while the database refuses connections, is silent, or was never reachable', async () => {
    const proxy = await useProxy()
    // The first run has announced everything, and is refused while it stores its check: no run has succeeded.
    const blocked = await db().startTransaction().execute()
    await sql`lock table region_routers in share row exclusive mode`.execute(blocked)
    const running = await startReconcilers({ databaseUrl: proxy.databaseUrl })
    await allAnnounced()
    proxy.refuse()
    await blocked.rollback().execute()
    await assertNoLoss('refused')
    proxy.open()
    await checkedAgain()
    proxy.silence()
    await assertNoLoss('silent')
    proxy.open()
    await checkedAgain()
    await running.stop()
    proxy.refuse()
    await assertNoLoss('never there', () => startReconcilers({ databaseUrl: proxy.databaseUrl }))
    await patch(ids[0]!, false)
    proxy.open()
    using seen = lab.watchBirdRoutes('ams')
    await seen.saw('removed', prefixes[0]!)
    assert.deepEqual(seen.lost, [prefixes[0]], 'nothing is withdrawn from memory')
  })

  it('a restart loses no prefix while the process that took over has not read the region yet', async () => {
    const proxies = [await useProxy(), await useProxy()] as const
    await startReconcilers({ databaseUrl: proxies[0].databaseUrl })
    await allAnnounced()
    await startReconcilers({ databaseUrl: proxies[1].databaseUrl })
    const before = await epochOf(region)
    const blocked = await db().startTransaction().execute()
    await sql`lock table announcement_regions in access exclusive mode`.execute(blocked)
    proxies[0].refuse()
    await waitFor('the other process takes over', async () => (await epochOf(region)) > before)
    proxies[0].open()
    await waitFor('the first process finds the region taken', async () => {
      const { rows } = await sql`
        select from pg_stat_activity where datname = current_database() and state = 'idle'
          and query like '%pg_try_advisory_lock%'`.execute(db())
      return rows.length > 0
    })
    for (const proxy of proxies) proxy.refuse()
    await assertNoLoss('taken over, unread')
    await blocked.rollback().execute()
  })

  it('twenty toggles of three prefixes all reach the peer, and damp none', async () => {
    await sql`delete from announcements where id = any(${ids.slice(10)}::integer[])`.execute(db())
    await startReconcilers()
    await waitFor('all is announced', async () => (await lab.birdRoutes('ams')).length === 10)
    for (let at = 0; at < 20; at++) {
      using seen = lab.watchBirdRoutes('ams')
      const place = at % 3
      const off = Math.floor(at / 3) % 2 === 0
      await patch(ids[place]!, !off)
      await seen.saw(off ? 'removed' : 'announced', prefixes[place]!)
    }
    assert.equal(await findApproval(), undefined)
  })

  it(
    `${kills} restarts during approvals, damping, database outages and lost leaders lose no prefix`,
    { timeout: kills * 600_000 },
    async () => {
      const random = createRandom(testSeed)
      const proxies = [await useProxy(), await useProxy()]
      const started = await Promise.all(proxies.map(({ databaseUrl }) => startReconcilers({ databaseUrl })))
      assert.equal(started.length, 2)
      await allAnnounced()
      const withdrawn = ids.length - 1
      for (let kill = 1; kill <= kills; kill++) {
        const scene = random.pick(['approval', 'reject', 'damping', 'outage', 'leader', 'calm'] as const)
        if (scene === 'approval' || scene === 'reject') {
          await disableWithoutRequest(database.postgres, ids.slice(0, 20))
          await wake('announcements')
          const approval = await openApproval()
          if (scene === 'reject') await decideApproval(db(), approval, 'rejected')
        }
        // Toggled by its owner until it is damped: the only prefix that may be lost.
        if (scene === 'damping') for (let at = 0; at < 14; at++) await patch(ids[withdrawn]!, at % 2 === 1)
        const silent = random.chance(0.5)
        const away = scene === 'outage' ? proxies : scene === 'leader' ? [random.pick(proxies)] : []
        for (const proxy of away) {
          if (silent) proxy.silence()
          else proxy.refuse()
        }
        await assertNoLoss(
          `kill ${kill}, ${scene}${away.length > 0 && silent ? ', silent' : ''}, seed ${testSeed}`,
          undefined,
          [prefixes[withdrawn]!],
        )
        for (const proxy of away) proxy.open()
        await sql`update announcements set enabled = true where id = any(${ids}::integer[])`.execute(db())
        await sql`update announcement_regions set state = 'announcing', reason = null where state = 'withdrawing'`.execute(
          db(),
        )
        await sql`update announcement_regions set changes = '{}'`.execute(db())
        await sql`update approvals set state = 'closed', decided = coalesce(decided, now()) where state <> 'closed'`.execute(
          db(),
        )
        await wake('approvals')
        await allAnnounced()
      }
    },
  )
})

const db = () => database.postgres.owner
const wake = (what: string) => sql`select pg_notify('pharos', ${what})`.execute(db())
const patch = (id: number, enabled: boolean, now = new Date()) =>
  patchAnnouncement(
    { postgres: database.postgres, memberToggle: true, now: () => now },
    operationOf(team),
    id,
    { enabled },
  )

async function useProxy(): Promise<TcpProxy> {
  return stack.use(await TcpProxy.create(database.databaseUrl))
}

/** The reconcilers of one process, with separate connections and files. */
async function startReconcilers({
  databaseUrl = database.databaseUrl,
  routes = {},
}: { databaseUrl?: string; routes?: RouteSettings } = {}): Promise<{ stop(): Promise<void> }> {
  const postgres = await openPostgres({ databaseUrl, dataDir: '' })
  const waker = createWaker(postgres)
  await waker.start()
  const component = createReconcilers({
    postgres,
    waker,
    speakersOf: ({ slug }) => {
      const speaker = createGobgpSpeaker({ address: lab.region('ams').apiAddress, owner })
      return [{ name: slug, speaker, routes }]
    },
    lastKnownRoutes: createLastKnownRoutesFiles(folder, ring),
    gate: openGate,
    report: async () => {},
    log,
    metrics: createMetrics(),
    intervalMs: 30_000,
  })
  await component.start?.()
  let stopped: Promise<void> | undefined
  const stop = () =>
    (stopped ??= (async () => {
      await component.stop?.()
      await waker.stop()
      await postgres.stop()
    })())
  stack.defer(stop)
  return { stop }
}

/** Kills gobgpd, and asserts that its peer has lost no prefix after the graceful restart. */
async function assertNoLoss(
  when: string,
  meanwhile: () => Promise<unknown> = async () => {},
  except: readonly string[] = [],
): Promise<void> {
  using seen = lab.watchBirdRoutes('ams')
  await lab.killGobgpd('ams')
  await meanwhile()
  await seen.sawRestarts(1).catch((error: Error) => {
    throw new Error(`${error.message}\n${gobgpdLog()}`, { cause: error })
  })
  assert.deepEqual(
    seen.lost.filter((prefix) => !except.includes(prefix)),
    [],
    when,
  )
  const held = new Set((await lab.birdRoutes('ams')).map(({ prefix }) => prefix))
  const missing = prefixes.filter((prefix) => !held.has(prefix) && !except.includes(prefix))
  assert.deepEqual(missing, [], when)
}

/** Returns the end of its log, across restarts: it shows whether it deferred its routes, and when it sent the End-of-RIB. */
const gobgpdLog = (): string => readFileSync(join(lab.folder, 'ams/gobgpd.log'), 'utf8').slice(-8_000)

async function allAnnounced(): Promise<void> {
  await waitFor('all is announced', async () => {
    const { rows } = await sql<{ n: number }>`
        select count(*) n from announcement_regions where state = 'announced'`.execute(db())
    return rows[0]!.n === prefixes.length && (await lab.birdRoutes('ams')).length === prefixes.length
  })
}

const epochOf = async (id: number): Promise<number> =>
  (await sql<{ epoch: number }>`select epoch from regions where id = ${id}`.execute(db())).rows[0]!.epoch

async function checkedAgain(): Promise<void> {
  const { rows } = await sql<{ now: Date }>`select now()`.execute(db())
  const after = rows[0]!.now
  await waitFor('the region is checked again', async () => {
    const { rows } = await sql`select from regions where id = ${region} and last_check > ${after}`.execute(
      db(),
    )
    return rows.length > 0
  })
}

const findApproval = async (): Promise<number | undefined> =>
  (await sql<{ id: number }>`select id from approvals where state = 'open'`.execute(db())).rows[0]?.id

const openApproval = () => waitFor('an approval is open', findApproval)

const stateOf = async (id: number): Promise<string | undefined> =>
  (
    await sql<{ state: string }>`
      select state from announcement_regions where announcement_id = ${id}`.execute(db())
  ).rows[0]?.state
