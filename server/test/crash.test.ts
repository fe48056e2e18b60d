// Server processes are killed (SIGKILL) at random moments while clients change announcements and a detector sends deliveries.
// Clients repeat with the same Idempotency-Key until they are acknowledged. Afterwards the audit entries of each announcement form
// an unbroken chain from its first to its present state, which contains every acknowledged change exactly once and in the order of
// the returned versions; every delivery is stored once and has become its event; and no prefix that was not changed was ever
// withdrawn, checked in the database and, if gobgpd is installed, on the router.
// 30 kills with a PostgreSQL that keeps running in the long run, and some that kill it too.
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { skipWithout } from '../../lab/src/program.ts'
import { compareCounts } from '../src/events/testing.ts'
import { sourceSecretMac } from '../src/events/ingest/delivery.ts'
import { fixture } from '../src/events/sources/fixtures.ts'
import { seedAnnouncement, seedRegions, seedTeam } from '../src/byoip/announcement/testing.ts'
import { openPostgres, type Postgres } from '../src/db/postgres.ts'
import { createTestDatabase } from '../src/db/testing.ts'
import { createKeyRing, mac, type KeyRing } from '../src/runtime/secrets.ts'
import { createApiToken, formatApiToken } from '../src/session/api-token-format.ts'
import { untilAcknowledged, type Acknowledged, type Request } from './support/persistent-client.ts'
import { createRandom, testSeed, type Random } from './support/random.ts'
import { startRouter, watchRouter } from './support/router.ts'
import { ServerProcess } from './support/server-process.ts'
import { isLongRun, scaled } from '../src/runtime/testing-scale.ts'

const regionSlugs = ['ams', 'fra', 'lon'] as const
const writersCount = 3
const toggledCount = 2
const stableCount = 30

type Patch = { readonly enabled: boolean; readonly region?: string }
type Write = {
  readonly writer: number
  readonly announcementId: number
  readonly patch: Patch
  readonly answer: Acknowledged
}

/** The credentials and announcements of the test: toggled ones, and ones that must not change. */
type Scene = {
  readonly tokens: readonly { readonly actor: string; readonly authorization: string }[]
  readonly toggled: readonly number[]
  readonly stable: readonly string[]
  readonly detector: string
}

async function seed(postgres: Postgres, ring: KeyRing, router: object): Promise<Scene> {
  const db = postgres.owner
  const regions = await seedRegions(postgres, regionSlugs)
  await sql`update regions set speakers = ${JSON.stringify([{ name: 'r1', ...router }])}::jsonb where slug = 'ams'`.execute(
    db,
  )
  const teamId = await seedTeam(postgres, 'ours')
  const add = (prefix: string, rest: object) => seedAnnouncement(postgres, { teamId, prefix, ...rest })
  const stable = Array.from({ length: stableCount }, (_, at) => `100.64.${at}.0/24`)
  for (const prefix of stable) await add(prefix, { enabled: true, regions: [regions['ams'], regions['fra']] })
  const toggled: number[] = []
  for (let at = 0; at < toggledCount; at++)
    toggled.push(await add(`203.0.113.${at * 32}/27`, { enabled: true, regions: [regions['ams']] }))
  await recordWithdrawals(postgres)
  const detector = 'the secret of the detector'
  await db
    .insertInto('sources')
    .values({
      key: 'detector',
      kind: 'fastnetmon',
      name: 'detector',
      secret_mac: sourceSecretMac(ring, detector),
      settings: '{}',
    })
    .execute()
  const tokens = await Promise.all(
    Array.from({ length: writersCount }, () => addToken(postgres, ring, teamId)),
  )
  return { tokens, toggled, stable, detector: `Token ${detector}` }
}

async function addToken(
  { owner }: Postgres,
  ring: KeyRing,
  teamId: number,
): Promise<Scene['tokens'][number]> {
  const token = createApiToken()
  const secret_mac = mac(ring, 'api-token', token.secret)
  await owner
    .insertInto('api_tokens')
    .values({
      id: token.id,
      team_id: teamId,
      name: 'writer',
      secret_mac,
      scopes: ['ipam:read', 'ipam:write'],
    })
    .execute()
  return { actor: `token:${token.id}`, authorization: `Token ${formatApiToken(token)}` }
}

/** Records every state of a stable announcement that is or leads to "not announced", from the first announcement on. */
async function recordWithdrawals({ owner }: Postgres): Promise<void> {
  await sql`create table test_withdrawals (prefix cidr, state text)`.execute(owner)
  await sql`
    create function test_note_withdrawal() returns trigger language plpgsql security definer as $$
    begin
      if new.state in ('withdrawing', 'withdrawn') then
        insert into test_withdrawals
          select prefix, new.state from announcements where id = new.announcement_id and prefix <<= '100.64.0.0/10';
      end if;
      return null;
    end $$`.execute(owner)
  await sql`create trigger test_note after update on announcement_regions
    for each row execute function test_note_withdrawal()`.execute(owner)
}

/** Returns a patch that differs from the last one, so that a change applied twice is detected. */
function nextPatch(random: Random, last: Patch | undefined): Patch {
  for (;;) {
    const region = random.chance(0.7) ? { region: random.pick(regionSlugs) } : {}
    const patch = { enabled: random.chance(0.6), ...region }
    if (JSON.stringify(patch) !== JSON.stringify(last)) return patch
  }
}

/** A start takes seconds of processor time. */
const serversCount = isLongRun ? 3 : 2

/** Between two requests of a client: servers that start share the cores with it. */
const pauseMs = isLongRun ? 10 : 50

type Load = {
  readonly writes: Write[]
  readonly deliveries: Map<string, number>
  /** Resolves when this number of further requests has been acknowledged. Rejects if a client has failed. */
  untilServed(count: number): Promise<void>
  stop(): Promise<void>
  /** Stops waiting for acknowledgements. */
  abort(): void
}

/** Starts clients; when stopped, each first waits for the acknowledgement of its last request. */
function startLoad(scene: Scene, urls: readonly string[]): Load {
  const writes: Write[] = []
  const deliveries = new Map<string, number>()
  const stopping = new AbortController()
  const aborting = new AbortController()
  const send = (request: Request, random: Random) => untilAcknowledged(urls, request, random, aborting.signal)
  const write = async (writer: number) => {
    const random = createRandom(testSeed + writer)
    const last = new Map<number, Patch>()
    while (!stopping.signal.aborted) {
      const announcementId = random.pick(scene.toggled)
      const patch = nextPatch(random, last.get(announcementId))
      last.set(announcementId, patch)
      const path = `/v3/ipam/announcements/${announcementId}`
      const { authorization } = scene.tokens[writer]!
      const request = { method: 'PATCH', path, key: randomUUID(), authorization, body: patch } as const
      writes.push({ writer, announcementId, patch, answer: await send(request, random) })
      await sleep(random.below(pauseMs))
    }
  }
  const deliver = async () => {
    const random = createRandom(testSeed - 1)
    const ban = fixture('fastnetmon-ban')
    while (!stopping.signal.aborted) {
      const key = randomUUID()
      const details = { ...(ban['attack_details'] as object), attack_uuid: key }
      const body = {
        ...ban,
        ip: `100.64.${random.below(stableCount)}.${random.below(256)}`,
        attack_details: details,
      }
      const path = '/v3/ingest/events/detector'
      const request = { method: 'POST', path, key, authorization: scene.detector, body } as const
      deliveries.set(key, (await send(request, random)).attempts)
      await sleep(random.below(2 * pauseMs))
    }
  }
  const clients = Promise.all([...scene.tokens.map((_, writer) => write(writer)), deliver()])
  // The promise is awaited later: until then a rejection must not end the process.
  let failed = false
  clients.catch(() => (failed = true))
  const served = () => writes.length + deliveries.size
  return {
    writes,
    deliveries,
    async untilServed(count) {
      for (const until = served() + count; served() < until; await sleep(5)) if (failed) await clients
    },
    async stop() {
      stopping.abort()
      await clients
    },
    abort: () => aborting.abort(),
  }
}

type State = { enabled: boolean; regions: string[] }
type Link = { actor: string; before: State; after: State }

/** Returns the changes of an announcement in order, from the audit log. */
async function chainOf({ owner }: Postgres, announcementId: number): Promise<Link[]> {
  const { rows } = await sql<Link>`
    select actor, before, after - 'desired' as after from audit_entries
    where action = 'announcement.update' and target = ${`announcement:${announcementId}`} order by id`.execute(
    owner,
  )
  return rows
}

const stateOf = ({ enabled, regions }: State): State => ({ enabled, regions })

/** The state of the toggled announcements before their first change. */
const seeded: State = { enabled: true, regions: ['ams'] }

/** Returns whether the state is a result of the patch. */
function isResultOf({ enabled, regions }: State, patch: Patch): boolean {
  if (patch.region === undefined) return enabled === patch.enabled
  return patch.enabled ? enabled && regions.includes(patch.region) : !regions.includes(patch.region)
}

/** Asserts that each audited change was requested by its author, in the order of the requests, once. */
function assertRequested(links: readonly Link[], patches: readonly Patch[]): void {
  let at = 0
  for (const { after } of links) {
    while (at < patches.length && !isResultOf(after, patches[at]!)) at++
    assert.ok(at < patches.length, `${JSON.stringify(after)} was not requested, or was applied twice`)
    at++
  }
}

/**
 * Asserts that the acknowledged responses match the audit log: in the order of their versions, the states follow the
 * chain, one version has one state, and no version is newer than the stored one.
 */
function assertResponses(writes: readonly Write[], states: readonly State[], version: number): void {
  const responses = writes.map(({ patch, answer }) => {
    const state = stateOf(answer.body as State)
    assert.ok(isResultOf(state, patch), `${JSON.stringify(patch)} returned ${JSON.stringify(state)}`)
    return { version: Number(/^"(\d+)\./.exec(answer.etag ?? '')?.[1]), state: JSON.stringify(state) }
  })
  responses.sort((a, b) => a.version - b.version)
  const chain = states.map((state) => JSON.stringify(state))
  let at = 0
  for (const [index, one] of responses.entries()) {
    const before = responses[index - 1]
    if (before?.version === one.version) assert.equal(one.state, before.state, 'two states for one version')
    while (at < chain.length && chain[at] !== one.state) at++
    assert.ok(at < chain.length, `acknowledged as version ${one.version}, but missing: ${one.state}`)
  }
  assert.ok(
    (responses.at(-1)?.version ?? 0) <= version,
    'acknowledged a version that is newer than the stored one',
  )
}

async function assertWrites(postgres: Postgres, scene: Scene, writes: readonly Write[]): Promise<void> {
  for (const id of scene.toggled) {
    const chain = await chainOf(postgres, id)
    for (const [at, link] of chain.slice(1).entries())
      assert.deepEqual(link.before, chain[at]!.after, 'a change between two others was lost')
    const states = [chain[0]?.before ?? seeded, ...chain.map(({ after }) => after)]
    const { rows } = await sql<State & { version: number }>`
      select a.version, a.enabled, array(select r.slug from announcement_regions ar join regions r on r.id = ar.region_id
        where ar.announcement_id = a.id and ar.configured order by r.slug collate "C") as regions
      from announcements a where a.id = ${id}`.execute(postgres.owner)
    assert.deepEqual(stateOf(rows[0]!), states.at(-1), 'the last change is the stored state')
    assertResponses(
      writes.filter(({ announcementId }) => announcementId === id),
      states,
      rows[0]!.version,
    )
    for (const [writer, { actor }] of scene.tokens.entries()) {
      const patches = writes.filter((one) => one.writer === writer && one.announcementId === id)
      assertRequested(
        chain.filter((link) => link.actor === actor),
        patches.map(({ patch }) => patch),
      )
    }
  }
}

async function assertDeliveries({ owner }: Postgres, keys: ReadonlySet<string>): Promise<void> {
  for (const deadline = performance.now() + 300_000; ; await sleep(100)) {
    const { rows } = await sql<{ left: number }>`
      select count(*) as left from deliveries where state = 'new'`.execute(owner)
    if (rows[0]!.left === 0) break
    assert.ok(performance.now() < deadline, `${rows[0]!.left} deliveries have not been processed`)
  }
  const stored = await sql<{ key: string; state: string }>`
    select delivery_id as key, state from deliveries order by delivery_id`.execute(owner)
  assert.deepEqual(
    stored.rows.map(({ key }) => key),
    [...keys].toSorted(),
    'each delivery is stored once',
  )
  assert.deepEqual([...new Set(stored.rows.map(({ state }) => state))], ['done'])
  const events = await sql<{ key: string }>`
    select source_event_id as key from events order by source_event_id collate "C"`.execute(owner)
  assert.deepEqual(
    events.rows.map(({ key }) => key),
    [...keys].toSorted(),
    'each delivery has become its event',
  )
  const { rows } = await sql<{ n: number }>`select count(*) as n from team_events`.execute(owner)
  assert.equal(rows[0]!.n, keys.size, 'each event belongs to the team')
  const { kept, counted } = await compareCounts(owner)
  assert.deepEqual(kept, counted)
}

async function assertNothingWithdrawn({ owner }: Postgres): Promise<void> {
  const { rows } = await sql`select * from test_withdrawals`.execute(owner)
  assert.deepEqual(rows, [])
}

/** Waits until the stable announcements are announced everywhere; the router has them, but no neighbor to announce them to. */
async function untilStable({ owner }: Postgres): Promise<void> {
  for (const deadline = performance.now() + 300_000; ; await sleep(100)) {
    const { rows } = await sql<{ n: number }>`
      select count(*) as n from announcement_regions ar join announcements a on a.id = ar.announcement_id
      where a.prefix <<= '100.64.0.0/10' and (ar.state = 'announced' or ar.reason = 'no_neighbor')`.execute(
      owner,
    )
    if (rows[0]!.n === stableCount * 2) return
    assert.ok(performance.now() < deadline, `${rows[0]!.n} are announced`)
  }
}

/**
 * Starts a server, waits for a few requests, and kills it while it processes others, repeatedly. However slow the machine is, each start
 * serves requests: otherwise a server could be killed before the first one, again and again.
 */
async function killRepeatedly(
  server: ServerProcess,
  load: Load,
  random: Random,
  isEnough: () => boolean,
): Promise<void> {
  while (!isEnough()) {
    await server.start()
    await load.untilServed(1 + random.below(8))
    await sleep(random.below(20))
    await server.kill('SIGKILL')
  }
}

const serverSettings = (secret: string): Record<string, string> => ({
  PHAROS_SECRET: secret,
  PHAROS_RATE_LIMIT_PER_SECOND: '100000',
  PHAROS_RATE_LIMIT_BURST: '1000000',
  PHAROS_DELIVERY_LIMIT_PER_SECOND: '100000',
  PHAROS_RECONCILE_INTERVAL_SECONDS: '1',
})

const newFolder = () => mkdtempSync(join(tmpdir(), 'pharos-crash-'))

describe('a crash', () => {
  const kills = scaled(30)
  const ownerCommunity = '64500:1:1'

  for (const routed of [skipWithout('gobgpd', 'gobgp') === false]) {
    const what = routed ? 'on a real router' : 'in the sandbox, since gobgpd is not installed'
    it(`of a server, ${kills} times, loses and duplicates nothing and withdraws nothing ${what}`, async (t) => {
      const folder = newFolder()
      await using database = await createTestDatabase({ durable: true })
      const secret = randomBytes(32).toString('hex')
      const router = routed ? await startRouter(folder) : undefined
      const speaker = router
        ? { kind: 'gobgp', address: router.apiAddress, owner: ownerCommunity, insecure: true }
        : { kind: 'sandbox' }
      const scene = await seed(database.postgres, createKeyRing([secret]), speaker)
      const settings = { ...serverSettings(secret), DATABASE_URL: database.databaseUrl }
      const servers: ServerProcess[] = []
      for (let at = 0; at < serversCount; at++) servers.push(await ServerProcess.create({ folder, settings }))
      let begun: Load | undefined
      try {
        // A first start that ends cleanly writes the compile cache, if the run has no cache yet.
        await servers[0]!.start()
        await untilStable(database.postgres)
        await servers[0]!.kill('SIGTERM')
        const stopWatching = router && watchRouter(router.apiAddress, ownerCommunity, scene.stable)
        const load = startLoad(
          scene,
          servers.map(({ url }) => url),
        )
        begun = load
        let killed = 0
        const repeats = () => load.writes.filter(({ answer }) => answer.attempts > 1).length
        // A slow machine needs more kills to hit as many requests.
        const isEnough = () => killed++ >= kills && load.writes.length > kills && repeats() > kills / 10
        await Promise.all(
          servers.map((server, at) => killRepeatedly(server, load, createRandom(testSeed + at), isEnough)),
        )
        await servers[0]!.start()
        await load.stop()
        await assertWrites(database.postgres, scene, load.writes)
        await assertDeliveries(database.postgres, new Set(load.deliveries.keys()))
        await untilStable(database.postgres)
        await assertNothingWithdrawn(database.postgres)
        const seen = await stopWatching?.()
        if (seen) assert.deepEqual([...seen.missing], [], 'a prefix was missing on the router')
        t.diagnostic(
          `${load.writes.length} changes and ${load.deliveries.size} deliveries acknowledged,` +
            `${repeats()} changes only after a repeat; ${seen?.polls ?? 0} polls of the router`,
        )
      } catch (error) {
        throw explained(error, servers)
      } finally {
        begun?.abort()
        await Promise.all(servers.map((server) => server.kill()))
        await router?.stop()
        rmSync(folder, { recursive: true, force: true })
      }
    })
  }

  const deepKills = scaled(4)
  it(`that kills the embedded PostgreSQL too, ${deepKills} times, loses and duplicates nothing`, async () => {
    const folder = newFolder()
    const dataDir = join(folder, 'data')
    const secret = randomBytes(32).toString('hex')
    const settings = { ...serverSettings(secret), PHAROS_DATA_DIR: dataDir }
    const server = await ServerProcess.create({ folder, settings })
    const random = createRandom(testSeed)
    let begun: Load | undefined
    try {
      await server.start()
      const scene = await withDatabase(dataDir, (postgres) =>
        seed(postgres, createKeyRing([secret]), { kind: 'sandbox' }),
      )
      const load = (begun = startLoad(scene, [server.url]))
      for (let killed = 0; killed < deepKills || load.writes.length <= deepKills; killed++) {
        await sleep(300 + random.below(1_000))
        await load.untilServed(1)
        await server.kill('SIGKILL')
        await server.start()
      }
      await load.stop()
      await withDatabase(dataDir, async (postgres) => {
        await assertWrites(postgres, scene, load.writes)
        await assertDeliveries(postgres, new Set(load.deliveries.keys()))
        await assertNothingWithdrawn(postgres)
      })
    } catch (error) {
      throw explained(error, [server])
    } finally {
      begun?.abort()
      await server.kill('SIGTERM')
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

/** Adds the seed for a repeated run and the logs of the servers. */
function explained(cause: unknown, servers: readonly ServerProcess[]): Error {
  const words = servers.map(({ url, lastOutput }) => `${url}:\n${lastOutput}`).join('\n')
  return new Error(`PHAROS_TEST_SEED=${testSeed}; ${String(cause)}\n${words}`, { cause })
}

/** Runs `work` on the embedded PostgreSQL of a running server. */
async function withDatabase<T>(dataDir: string, work: (postgres: Postgres) => Promise<T>): Promise<T> {
  await using postgres = await openPostgres({ dataDir })
  return await work(postgres)
}
