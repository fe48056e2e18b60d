// R4: two reconcilers of one region; the first is paused between reading and sending, and loses its lock. Meanwhile
// prefixes are toggled and the second takes over. In the end the router has the desired routes, and at no time was a
// prefix withdrawn while it was desired, or a change sent by a replaced reconciler. The first is paused in full runs
// and quick runs alternately.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { patchAnnouncement } from '../src/byoip/announcement/patch-announcement.ts'
import { quickRun, type KnownRegion } from '../src/byoip/regions/quick-run.ts'
import { reconcileRegion } from '../src/byoip/regions/reconcile.ts'
import { readMovingRows, readRegionRows } from '../src/byoip/regions/plan-row.store.ts'
import { routerOf } from '../src/byoip/regions/testing.ts'
import { RegionLock, type RegionLease } from '../src/byoip/regions/region-lock.store.ts'
import type { Speaker } from '../src/byoip/regions/speaker.ts'
import { operationOf, seedAnnouncement, seedRegions, seedTeam } from '../src/byoip/announcement/testing.ts'
import { createTestDatabase, emptyTables, type TestDatabase } from '../src/db/testing.ts'
import { createSandboxSpeaker, sandboxRegion } from '../src/drivers/sandbox/speaker.ts'
import { scaled } from '../src/runtime/testing-scale.ts'
import { openGate } from '../src/runtime/testing-gate.ts'

const rounds = scaled(50)
const prefixes = [0, 1, 2, 3].map((at) => `10.0.${at}.0/24`)
const router = sandboxRegion('fencing')
const plain = createSandboxSpeaker({ region: 'fencing' })

let database: TestDatabase
let region: number
let team: number
let ids: number[]

before(async () => {
  database = await createTestDatabase()
  region = (await seedRegions(database.postgres, ['ams'])).ams!
  team = await seedTeam(database.postgres, 'ours')
})
after(() => database[Symbol.asyncDispose]())

/** The points at which the first reconciler is paused. */
const places = [
  'after the list',
  'after the note',
  'before the announcement',
  'before the withdrawal',
] as const
type Place = (typeof places)[number]

type Pause = {
  readonly place: Place
  readonly reached: PromiseWithResolvers<void>
  readonly resume: Promise<void>
}

async function pauseAt(place: Place, pause: Pause | undefined): Promise<void> {
  if (pause?.place !== place) return
  pause.reached.resolve()
  await pause.resume
}

const violations: string[] = []

/** Records every withdrawal of a route that is desired at the moment of the call, and every call of a replaced reconciler. */
function watched(lease: RegionLease, pause?: Pause): Speaker {
  return {
    probe: () => plain.probe(),
    list: async () => {
      const routes = await plain.list()
      await pauseAt('after the list', pause)
      return routes
    },
    find: async (prefixes) => {
      const routes = await plain.find(prefixes)
      await pauseAt('after the list', pause)
      return routes
    },
    advertised: (...args) => plain.advertised(...args),
    announce: async (routes) => {
      await pauseAt('before the announcement', pause)
      if ((await epochNow()) !== lease.epoch) violations.push('announced after it was replaced')
      await plain.announce(routes)
    },
    withdraw: async (routes) => {
      await pauseAt('before the withdrawal', pause)
      if ((await epochNow()) !== lease.epoch) violations.push('withdrew after it was replaced')
      const desired = await desiredNow()
      violations.push(
        ...routes.map(({ prefix }) => prefix as string).filter((prefix) => desired.includes(prefix)),
      )
      await plain.withdraw(routes)
    },
    neighbors: () => plain.neighbors(),
    watch: (events) => plain.watch(events),
    close: () => plain.close(),
  }
}

async function desiredNow(): Promise<string[]> {
  const { rows } = await sql<{ prefix: string }>`
    select a.prefix from announcements a join announcement_regions ar on ar.announcement_id = a.id
    where a.enabled and ar.configured and not a.suspended order by a.prefix`.execute(database.postgres.owner)
  return rows.map(({ prefix }) => prefix)
}

async function epochNow(): Promise<number> {
  const { rows } = await sql<{ epoch: number }>`select epoch from regions where id = ${region}`.execute(
    database.postgres.owner,
  )
  return rows[0]!.epoch
}

const common = (speaker: Speaker) => ({
  db: database.postgres.owner,
  routers: [routerOf(speaker)],
  quorum: null,
  gate: openGate,
  now: () => new Date(),
  elapsedMs: () => performance.now(),
})

const reconcile = (lease: RegionLease, speaker = watched(lease)) =>
  reconcileRegion({ ...common(speaker), readRows: readRegionRows }, lease)

const quick = (lease: RegionLease, known: KnownRegion, speaker: Speaker) =>
  quickRun({ ...common(speaker), readMoving: readMovingRows }, lease, known)

const pausing = (lease: RegionLease, pause: Pause): RegionLease => ({
  regionId: lease.regionId,
  epoch: lease.epoch,
  readMemory: () => lease.readMemory(),
  recordWithdrawals: async (count) => {
    await lease.recordWithdrawals(count)
    await pauseAt('after the note', pause)
  },
})

const toggle = (at: number, enabled: boolean) =>
  patchAnnouncement(
    { postgres: database.postgres, memberToggle: true, now: () => new Date() },
    operationOf(team),
    ids[at]!,
    { enabled },
  )

async function terminateHolder(): Promise<void> {
  await sql`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid = ${region}::oid
    and database = (select oid from pg_database where datname = current_database())`.execute(
    database.postgres.owner,
  )
}

/** The second reconciler: it polls for the lock of the region, as its loop does. */
async function takeOver(lock: RegionLock): Promise<RegionLease> {
  for (;;) {
    const lease = await lock.hold()
    if (lease) return lease
    await sleep(2)
  }
}

async function start(): Promise<void> {
  const { owner } = database.postgres
  await emptyTables(owner, ['announcements', 'approvals', 'region_withdrawals'], { restart: true })
  router.restart()
  ids = []
  for (const prefix of prefixes) {
    ids.push(
      await seedAnnouncement(database.postgres, { teamId: team, prefix, enabled: true, regions: [region] }),
    )
  }
}

async function round(place: Place, isQuick: boolean): Promise<string> {
  await start()
  const first = new RegionLock(database.postgres, region)
  const second = new RegionLock(database.postgres, region)
  const lease = (await first.hold())!
  const known = await reconcile(lease)
  // The first plans to withdraw 0 and 1, and to announce 2, which the router has lost: a quick run includes it because it was
  // toggled.
  await Promise.all([toggle(0, false), toggle(1, false), toggle(2, false)])
  await toggle(2, true)
  await plain.withdraw([{ prefix: prefixes[2] as never }])
  const resume = Promise.withResolvers<void>()
  const pause: Pause = { place, reached: Promise.withResolvers(), resume: resume.promise }
  const [pausable, speaker] = [pausing(lease, pause), watched(lease, pause)]
  const paused = (isQuick ? quick(pausable, known, speaker) : reconcile(pausable, speaker)).then(
    () => 'finished',
    (error: Error) => error.name,
  )
  await pause.reached.promise
  await terminateHolder()
  // 0 is desired again and 2 is not: the plan of the first is outdated. Some of this waits until the first has sent.
  const meanwhile = Promise.all([
    toggle(0, true),
    toggle(2, false),
    takeOver(second).then((taken) => reconcile(taken).then(() => taken)),
  ])
  await Promise.race([meanwhile, sleep(15)])
  resume.resolve()
  const outcome = await paused
  const [, , taken] = await meanwhile
  // Every change notifies the loop; the last notification comes after everything is stored. Changes that the first process recorded
  // but did not send count as sent for the guard, for ten minutes.
  await sql`update region_withdrawals set at = at - interval '10 minutes'`.execute(database.postgres.owner)
  await reconcile(taken)
  assert.deepEqual([...router.table('pharos').keys()].sort(), await desiredNow(), place)
  assert.deepEqual(await desiredNow(), [prefixes[0], prefixes[3]])
  await Promise.all([first.release(), second.release()])
  return outcome
}

it(
  'a reconciler that was paused and lost its lock sends nothing outdated',
  { timeout: 600_000 },
  async (t) => {
    const outcomes = new Map<string, number>()
    for (let at = 0; at < rounds; at++) {
      const place = places[at % places.length]!
      const isQuick = at % (2 * places.length) >= places.length
      const key = `${isQuick ? 'quick, ' : ''}${place}: ${await round(place, isQuick)}`
      outcomes.set(key, (outcomes.get(key) ?? 0) + 1)
      assert.deepEqual(violations, [], place)
    }
    t.diagnostic([...outcomes].map(([key, count]) => `${key} ${count}`).join(', '))
  },
)
