// Two processes with one scrubber: the first is paused between reading and applying, and loses its lock. Meanwhile the customer changes
// the list and the second takes over. In the end the scrubber has the newest list, and the first has sent nothing that is older than what
// the second has applied.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { SandboxScrubber } from '../src/drivers/sandbox-scrubber/scrubber.ts'
import { TargetLock, type Lease } from '../src/reconcile/lease.ts'
import { scaled } from '../src/runtime/testing-scale.ts'
import { reconcileScrubber } from '../src/shield/reconcile.ts'
import { listScrubbers, scrubberTarget } from '../src/shield/scrubber.store.ts'
import { fingerprintOf, type Scrubber } from '../src/shield/scrubber.ts'
import { compileLists } from '../src/shield/compile.ts'
import { listDesired } from '../src/shield/reconcile.store.ts'
import { findStored } from '../src/shield/shield-rule.ts'
import { applyPlatform, preparePlatform } from '../src/platform/engine/apply.ts'
import { documentOf } from '../src/platform/engine/document.ts'
import { platformKinds } from '../src/platform/kinds/index.ts'
import { createKeyRing } from '../src/runtime/secrets.ts'
import { waitFor } from '../../lab/src/wait.ts'
import { addTeam, addUser, createTestApi, type TestApi, type TestTeam } from './api.ts'

const rounds = scaled(24, 3)
const [kept, cleared] = ['198.18.0.0/24', '198.18.1.0/24'] as const

let api: TestApi
let team: TestTeam
let access = ''
let scrubber: SandboxScrubber

before(async () => {
  api = await createTestApi()
  team = await addTeam(api, 'red')
  access = (await api.signIn((await addUser(api, 'admin', [team], { admin: true })).email)).access
  const { owner } = api.database.postgres
  await owner
    .insertInto('scrubbers')
    .values({ name: 'edge', driver: JSON.stringify({ kind: 'sandbox' }) })
    .execute()
  for (const prefix of [kept, cleared])
    await owner.insertInto('prefixes').values({ team_id: team.teamId, prefix }).execute()
  scrubber = new SandboxScrubber({ name: 'edge', rulesMax: 10_000, latencyMs: 0 })
})
after(() => api[Symbol.asyncDispose]())

/** The points at which the first process is paused. */
const places = ['after the list', 'before the application', 'before the removal'] as const
type Place = (typeof places)[number]

type Pause = {
  readonly place: Place
  readonly reached: PromiseWithResolvers<void>
  readonly resume: Promise<void>
}

async function pauseAt(place: Place, pause: Pause): Promise<void> {
  if (pause.place !== place) return
  pause.reached.resolve()
  await pause.resume
}

/** The scrubber as the first process calls it. */
const pausing = (pause: Pause): Scrubber => ({
  can: scrubber.can,
  probe: () => scrubber.probe(),
  list: async () => {
    const lists = await scrubber.list()
    await pauseAt('after the list', pause)
    return lists
  },
  apply: async (lists) => {
    await pauseAt('before the application', pause)
    await scrubber.apply(lists)
  },
  remove: async (prefixes) => {
    await pauseAt('before the removal', pause)
    await scrubber.remove(prefixes)
  },
  hits: () => scrubber.hits(),
  watch: (onUp) => scrubber.watch(onUp),
  close: () => scrubber.close(),
})

async function put(prefix: string, ports: readonly number[]): Promise<void> {
  const rules = ports.map((port) => ({ action: 'deny', protocol: 'udp', source_port: String(port) }))
  const answer = await api.server.inject({
    method: 'PUT',
    url: '/v3/lighthouse/security/shield/rules',
    headers: { authorization: `Bearer ${access}` },
    payload: { prefix, rules, force: true },
  })
  assert.ok(answer.statusCode < 300, answer.body)
}

const reconcile = (lease: Lease, of: Scrubber) =>
  reconcileScrubber({ db: api.database.postgres.owner, elapsedMs: () => performance.now() }, lease, {
    name: 'edge',
    prefixes: [],
    scrubber: of,
  })

/** Ends the session of the process that has the lock. */
async function terminateHolder(): Promise<void> {
  await sql`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted
    and objid = (hashtext('shield:edge')::bigint & 4294967295)::oid
    and database = (select oid from pg_database where datname = current_database())`.execute(
    api.database.postgres.owner,
  )
}

/** The second process: it polls for the lock, as its loop does. */
async function takeOver(lock: TargetLock): Promise<Lease> {
  for (;;) {
    const lease = await lock.hold()
    if (lease) return lease
    await sleep(2)
  }
}

/** Resolves once a takeover waits for the process that is sending. */
async function takeoverWaits(): Promise<void> {
  await waitFor('a takeover', async () => {
    const { rows } = await sql`select from pg_stat_activity where datname = current_database()
      and wait_event_type = 'Lock' and query like 'update scrubbers%'`.execute(api.database.postgres.owner)
    return rows.length > 0
  })
}

/** The lists of the database as a scrubber reports them. */
async function desiredNow(): Promise<string[]> {
  const rows = await listDesired(api.database.postgres.owner, [])
  const lists = rows.map(({ prefix, rules }) => ({
    prefix,
    rules: rules.map((rule) => ({ id: rule.id, ...findStored(rule, prefix)! })),
  }))
  return compileLists(lists, scrubber.can, [])
    .lists.filter(({ rules }) => rules.length > 0)
    .map((list) => `${list.prefix} ${fingerprintOf(list, scrubber.can.ordering)}`)
    .sort()
}

const installedNow = async (): Promise<string[]> =>
  (await scrubber.list()).map(({ prefix, fingerprint }) => `${prefix} ${fingerprint}`).sort()

async function round(place: Place): Promise<string> {
  const [row] = await listScrubbers(api.database.postgres.owner)
  const first = new TargetLock(api.database.postgres, scrubberTarget(row!))
  const second = new TargetLock(api.database.postgres, scrubberTarget(row!))
  await put(kept, [123])
  await put(cleared, [123])
  const lease = (await first.hold())!
  await reconcile(lease, scrubber)
  assert.deepEqual(await installedNow(), await desiredNow())
  // The first plans to replace one list and to remove the other.
  await put(kept, [123, 53])
  await put(cleared, [])
  const resume = Promise.withResolvers<void>()
  const pause: Pause = { place, reached: Promise.withResolvers(), resume: resume.promise }
  const paused = reconcile(lease, pausing(pause)).then(
    () => 'finished',
    (error: Error) => error.name,
  )
  await pause.reached.promise
  await terminateHolder()
  // Both lists change again. The second waits if the first is applying now.
  await put(kept, [123, 53, 389])
  await put(cleared, [389])
  const meanwhile = takeOver(second).then((taken) => reconcile(taken, scrubber))
  // A process that is paused before the fence delays no other; within it, a takeover waits.
  await (place === 'after the list' ? meanwhile : Promise.race([meanwhile, takeoverWaits()]))
  resume.resolve()
  const outcome = await paused
  await meanwhile
  assert.deepEqual(await installedNow(), await desiredNow(), place)
  await Promise.all([first.release(), second.release()])
  return outcome
}

it('a process that was paused and lost its lock applies no older list', { timeout: 600_000 }, async (t) => {
  const outcomes = new Map<string, number>()
  for (let at = 0; at < rounds; at++) {
    const place = places[at % places.length]!
    const key = `${place}: ${await round(place)}`
    outcomes.set(key, (outcomes.get(key) ?? 0) + 1)
  }
  t.diagnostic([...outcomes].map(([key, count]) => `${key} ${count}`).join(', '))
})

it('a change of the platform file to the scrubber does not end the lease', async () => {
  const { postgres } = api.database
  const [row] = await listScrubbers(postgres.owner)
  const lock = new TargetLock(postgres, scrubberTarget(row!))
  const lease = (await lock.hold())!
  const document = documentOf('request', {
    scrubbers: [{ name: 'edge', driver: { kind: 'sandbox' }, rules_max: 500 }],
  })
  const deps = {
    ring: createKeyRing(['a-secret-of-at-least-thirty-two-bytes']),
    readText: () => assert.fail('no file is read'),
  }
  const options = { prune: false, enforce: true }
  const prepared = await preparePlatform(platformKinds, postgres.owner, document, deps, options)
  assert.equal(prepared.plan.changes.length, 1)
  await applyPlatform(platformKinds, postgres.owner, prepared, new Date())
  assert.equal((await listScrubbers(postgres.owner))[0]!.rulesMax, 500)
  await reconcile(lease, scrubber)
  await lock.release()
})
