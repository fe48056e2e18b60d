// PostgreSQL is unavailable: the process stays alive, reports that it is not ready, answers every call with a 503 that
// names the dependency and the time to retry, before clients time out, does not queue unsaved changes in memory, and
// recovers without a restart. Four kinds of outage are tested.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { createTestApi, testPassword, type TestApi } from './api.ts'
import { addApiToken, openSession } from './support/credentials.ts'
import { SocketProxy } from './support/socket-proxy.ts'
import { createFixtures, type Fixtures } from './support/fixtures.ts'

/**
 * Every call ends after 10 s, whatever the database does; TCP alone would take minutes. The rest is a margin for a busy machine.
 */
const answeredWithinMs = 30_000
/** Timeout of the recovery after the database is back. */
const recoveredWithinMs = 60_000

type Call = {
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly url: string
  readonly authorization?: string
  readonly payload?: object
}

/** One call of each kind: reading, changing, signing in, refreshing, delivering; with both kinds of credential. */
async function createCalls(api: TestApi, fixtures: Fixtures): Promise<Record<string, Call>> {
  const { people, red, sources } = fixtures
  const session = await openSession(api, people.admin.userId, red.teamId)
  const token = await addApiToken(api, red.teamId, { scopes: ['ipam:read', 'ipam:write', 'lighthouse:read'] })
  const [bearer, program] = [`Bearer ${session.access}`, `Token ${token}`]
  const announcements = '/v3/ipam/announcements'
  const events = '/v3/lighthouse/security/events/related'
  return {
    list: { method: 'GET', url: announcements, authorization: bearer },
    get: { method: 'GET', url: `${announcements}/${red.announcements.off}`, authorization: program },
    regions: { method: 'GET', url: '/v3/ipam/regions', authorization: bearer },
    events: { method: 'GET', url: events, authorization: program },
    event: { method: 'GET', url: `${events}/${red.eventIds[0]}`, authorization: bearer },
    whoAmI: { method: 'GET', url: '/v3/session/token', authorization: bearer },
    patch: {
      method: 'PATCH',
      url: `${announcements}/${red.announcements.off}`,
      authorization: bearer,
      payload: { enabled: true, region: 'ams' },
    },
    signIn: {
      method: 'POST',
      url: '/v3/session/token',
      payload: { email: people.member.email, password: testPassword },
    },
    refresh: { method: 'POST', url: '/v3/session/refresh', payload: { refresh: session.refresh } },
    deliver: {
      method: 'POST',
      url: '/v3/ingest/events/detector',
      authorization: `Token ${sources.detector}`,
      payload: { some: 'attack' },
    },
  }
}

async function send(api: TestApi, { authorization, ...call }: Call) {
  const start = performance.now()
  const response = await api.server.inject({ ...call, headers: authorization ? { authorization } : {} })
  return { response, ms: performance.now() - start }
}

async function assertUnavailable(api: TestApi, name: string, call: Call): Promise<void> {
  const { response, ms } = await send(api, call)
  const said = `${name} after ${Math.round(ms)} ms: ${response.statusCode} ${response.body}`
  assert.equal(response.statusCode, 503, said)
  assert.ok(ms < answeredWithinMs, said)
  assert.match(String(response.headers['content-type']), /^application\/problem\+json/)
  const problem = response.json()
  assert.equal(problem.code, 'unavailable', said)
  assert.deepEqual(problem.degraded, ['postgresql'], said)
  assert.ok(Number(response.headers['retry-after']) >= 1, said)
}

/** Sends all calls in parallel, more than there are connections. */
async function assertAllUnavailable(api: TestApi, calls: Record<string, Call>): Promise<void> {
  const all = Object.entries(calls)
  const more = Array.from({ length: 30 }, () => ['list', calls['list']!] as const)
  await Promise.all([...all, ...more].map(([name, call]) => assertUnavailable(api, name, call)))
}

async function assertAliveNotReady(api: TestApi): Promise<void> {
  assert.equal((await api.server.inject('/healthz')).statusCode, 200)
  const start = performance.now()
  const ready = await api.server.inject('/readyz')
  assert.equal(ready.statusCode, 503, ready.body)
  assert.match(ready.body, /postgresql/)
  assert.ok(Number(ready.headers['retry-after']) >= 1)
  assert.ok(performance.now() - start < answeredWithinMs, 'readyz takes too long')
}

/** Sends calls of all kinds in parallel until all succeed; every failure until then is a 503. */
async function assertRecovers(api: TestApi, calls: Record<string, Call>): Promise<void> {
  const deadline = performance.now() + recoveredWithinMs
  const all = Object.values(calls).flatMap((call) => [call, call, call])
  for (;;) {
    const responses = (await Promise.all(all.map((call) => send(api, call)))).map(({ response }) => response)
    const failed = responses.filter(({ statusCode }) => statusCode >= 300)
    if (failed.length === 0) break
    assert.deepEqual([...new Set(failed.map(({ statusCode }) => statusCode))], [503], failed[0]!.body)
    assert.ok(performance.now() < deadline, failed[0]!.body)
    await sleep(50)
  }
  assert.equal((await api.server.inject('/readyz')).statusCode, 200)
}

const enabledOf = async (api: TestApi, fixtures: Fixtures): Promise<boolean> => {
  const { rows } = await sql<{ enabled: boolean }>`
    select enabled from announcements where id = ${fixtures.red.announcements.off}`.execute(
    api.database.postgres.owner,
  )
  return rows[0]!.enabled
}

describe('while PostgreSQL', () => {
  let proxy: SocketProxy
  let api: TestApi
  let fixtures: Fixtures
  let calls: Record<string, Call>

  before(async () => {
    proxy = new SocketProxy()
    api = await createTestApi({}, { through: (url) => proxy.through(url) })
    fixtures = await createFixtures(api)
    calls = await createCalls(api, fixtures)
    await assertRecovers(api, calls)
    await sql`update announcements set enabled = false where id = ${fixtures.red.announcements.off}`.execute(
      api.database.postgres.owner,
    )
  })
  after(async () => {
    // Closing the API first would wait for connections that are silent forever.
    await proxy[Symbol.asyncDispose]()
    await api[Symbol.asyncDispose]()
  })

  it('is stopped, calls fail with 503, nothing is stored later, and the API recovers when it is back', async () => {
    proxy.shut()
    await assertAliveNotReady(api)
    await assertAllUnavailable(api, calls)
    await sleep(1_000)
    await assertAllUnavailable(api, calls)
    proxy.open()
    await assertRecovers(api, { list: calls['list']!, whoAmI: calls['whoAmI']! })
    assert.equal(await enabledOf(api, fixtures), false, 'the PATCH was answered 503')
    await assertRecovers(api, calls)
    assert.equal(await enabledOf(api, fixtures), true)
  })

  it('hangs, no call waits forever, and the API recovers when it is back', async () => {
    proxy.freeze()
    await Promise.all([assertAliveNotReady(api), assertAllUnavailable(api, calls)])
    proxy.open()
    await assertRecovers(api, calls)
  })

  it('fails over to another host, the API closes its old connections and recovers', async () => {
    proxy.freeze()
    await sleep(500)
    proxy.replace()
    await assertRecovers(api, calls)
  })
})

describe('the embedded PostgreSQL', () => {
  it('is restarted after it is killed, and the API recovers without a restart of its process', async () => {
    await using api = await createTestApi({}, { durable: true })
    const fixtures = await createFixtures(api)
    const calls = await createCalls(api, fixtures)
    for (let times = 0; times < 3; times++) {
      await assertRecovers(api, calls)
      process.kill(postmasterOf(api), 'SIGKILL')
      const during = await Promise.all(Object.values(calls).map((call) => send(api, call)))
      for (const { response, ms } of during) {
        assert.ok([200, 202, 503].includes(response.statusCode), response.body)
        assert.ok(ms < answeredWithinMs, `${ms} ms`)
      }
    }
    await assertRecovers(api, calls)
  })
})

const postmasterOf = ({ database }: TestApi): number =>
  Number(readFileSync(join(database.dataDir!, 'postmaster.pid'), 'utf8').split('\n')[0])
