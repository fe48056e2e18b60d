// Tabs of one browser that concurrently refresh and change the session they share: refreshing it, switching its team, changing the
// password, enabling and disabling the second factor. As in the portal, one tab at a time requests tokens (Web Locks), and all
// share the newest refresh token (a cookie). A change of the password or of the second factor revokes the session and opens
// another, so that a tab sometimes receives 401; it refreshes and continues. The refresh must never fail.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import { addTeam, addUser, createTestApi, testPassword, type TestApi, type TestTeam } from './api.ts'
import { openSession } from './support/credentials.ts'
import { createRandom, testSeed, type Random } from './support/random.ts'
import { codeOf } from './support/second-factor.ts'
import { scaled } from '../src/runtime/testing-scale.ts'

const rounds = scaled(12)
const roundsMax = rounds + 50

let api: TestApi
let teams: readonly TestTeam[]
let people = 0

before(async () => {
  api = await createTestApi({ PHAROS_PASSWORD_HASHES_WAITING: '1000' })
  teams = [await addTeam(api, 'red'), await addTeam(api, 'blue')]
})
after(() => api[Symbol.asyncDispose]())

type Tokens = { readonly access: string; readonly refresh: string }

/** State shared by the tabs: the newest tokens, and the user. */
class Browser {
  stored: Tokens
  password = testPassword
  recoveryCodes: string[] = []
  readonly userId: number
  #last: Promise<unknown> = Promise.resolve()

  constructor(userId: number, stored: Tokens) {
    this.userId = userId
    this.stored = stored
  }

  /** Runs the work after that of all other tabs before it, like a Web Lock. */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => {})
    return result
  }
}

async function openBrowser(): Promise<Browser> {
  const { userId } = await addUser(api, `person-${people++}`, teams)
  const { access, refresh } = await openSession(api, userId, teams[0]!.teamId)
  return new Browser(userId, { access, refresh })
}

const send = (method: 'GET' | 'POST', url: string, payload?: object, access?: string) =>
  api.server.inject({
    method,
    url,
    ...(payload === undefined ? {} : { payload }),
    ...(access === undefined ? {} : { headers: { authorization: `Bearer ${access}` } }),
  })
const post = (url: string, payload: object, access?: string) => send('POST', url, payload, access)

async function refresh(mine: Tokens): Promise<Tokens> {
  const response = await post('/v3/session/refresh', { refresh: mine.refresh })
  assert.equal(response.statusCode, 200, `a false sign-out: ${response.body}`)
  return response.json()
}

/** A call that returns tokens. If the access token is not valid, it refreshes and calls again. */
async function callForTokens(browser: Browser, url: string, body: () => object) {
  for (;;) {
    const response = await post(url, body(), browser.stored.access)
    if (response.statusCode !== 401) return response
    assert.equal(response.json().code, 'unauthenticated', response.body)
    browser.stored = await refresh(browser.stored)
  }
}

async function switchTeam(browser: Browser, random: Random): Promise<void> {
  const { teamId } = random.pick(teams)
  const response = await callForTokens(browser, '/v3/session/token', () => ({ team_id: teamId }))
  assert.equal(response.statusCode, 200, response.body)
  browser.stored = response.json()
}

async function changePassword(browser: Browser, random: Random): Promise<void> {
  const next = `a-password-for-tests-${random.below(1_000_000)}`
  const response = await callForTokens(browser, '/v3/session/change-password', () => ({
    current_password: browser.password,
    new_password: next,
  }))
  assert.equal(response.statusCode, 200, response.body)
  browser.password = next
  browser.stored = response.json()
}

async function changeFactor(browser: Browser): Promise<void> {
  const code = browser.recoveryCodes.pop()
  if (code !== undefined) {
    const proof = { current_password: browser.password, otp: code }
    const off = await callForTokens(browser, '/v3/session/totp/disable', () => proof)
    assert.equal(off.statusCode, 200, off.body)
    browser.stored = off.json()
    browser.recoveryCodes = []
    return
  }
  const password = { current_password: browser.password }
  const started = await callForTokens(browser, '/v3/session/totp', () => password)
  assert.equal(started.statusCode, 200, started.body)
  const otp = codeOf(started.json().secret)
  const confirmed = await callForTokens(browser, '/v3/session/totp/confirm', () => ({ otp }))
  assert.equal(confirmed.statusCode, 200, confirmed.body)
  browser.stored = confirmed.json()
  browser.recoveryCodes = confirmed.json().recovery_codes
}

const counts = { refreshed: 0, switched: 0, passwords: 0, factors: 0, refused: 0 }

/** A tab reads with the access token that it has, which another tab may have revoked. */
async function read(browser: Browser, access: string): Promise<void> {
  const response = await send('GET', '/v3/session/token', undefined, access)
  if (response.statusCode === 200) return
  assert.equal(response.json().code, 'unauthenticated', response.body)
  counts.refused++
  await browser.exclusively(async () => {
    if (browser.stored.access === access) browser.stored = await refresh(browser.stored)
    const again = await send('GET', '/v3/session/token', undefined, browser.stored.access)
    assert.equal(again.statusCode, 200, again.body)
  })
}

async function useTab(browser: Browser, random: Random): Promise<void> {
  for (let times = 1 + random.below(3); times > 0; times--) {
    const { access } = browser.stored
    const [dice, lost] = [random.below(100), random.chance(0.2)]
    const change = browser.exclusively(async () => {
      if (dice < 10) await changePassword(browser, random).then(() => counts.passwords++)
      else if (dice < 25) await changeFactor(browser).then(() => counts.factors++)
      else if (dice < 40) await switchTeam(browser, random).then(() => counts.switched++)
      else if (lost) await refresh(browser.stored)
      else browser.stored = await refresh(browser.stored).finally(() => counts.refreshed++)
    })
    await Promise.all([change, read(browser, access)])
    await read(browser, access)
  }
}

/** Moves the timestamps of the sessions of a user into the past. */
async function pass(userId: number, ms: number): Promise<void> {
  const passed = sql`make_interval(secs => ${ms / 1000})`
  await sql`update sessions set
      rotations = array(select r - ${passed} from unnest(rotations) r order by r),
      renewed_until = array(select u - ${passed} from unnest(renewed_until) with ordinality t(u, n) order by n)
    where user_id = ${userId}`.execute(api.database.postgres.owner)
}

async function assertInOrder({ userId, stored }: Browser): Promise<void> {
  await refresh(stored)
  const { rows } = await sql`
    select action from audit_entries where actor = ${`user:${userId}`} and action = 'session.reuse'`.execute(
    api.database.postgres.owner,
  )
  assert.deepEqual(rows, [])
  const open = await sql`select from sessions where user_id = ${userId} and revoked is null`.execute(
    api.database.postgres.owner,
  )
  assert.equal(open.rows.length, 1)
}

describe('tabs of one browser that change the account concurrently', () => {
  it(`are never signed out, in ${rounds} rounds or until each change was made`, async (t) => {
    const isEnough = (round: number) => round >= rounds && Object.values(counts).every((count) => count > 0)
    for (let round = 0; !isEnough(round); round++) {
      assert.ok(round < roundsMax, JSON.stringify(counts))
      const random = createRandom(testSeed + round)
      const browser = await openBrowser()
      const burst = async () => {
        await Promise.all(Array.from({ length: 2 + random.below(6) }, () => useTab(browser, random)))
        // Three of the longest pauses are less than the 10 minutes allowed for a lost response.
        await pass(browser.userId, random.pick([0, 1_000, 29_000, 180_000]))
      }
      await burst()
        .then(burst)
        .then(burst)
        .then(() => assertInOrder(browser))
        .catch((cause: unknown) => {
          throw new Error(`round ${round} with PHAROS_TEST_SEED=${testSeed}: ${String(cause)}`, { cause })
        })
    }
    t.diagnostic(JSON.stringify(counts))
  })

  it('are not signed out when they wake long after a lost response, and the first of them switches the team', async () => {
    const browser = await openBrowser()
    const before = browser.stored
    await refresh(before) // // the lost response
    await pass(browser.userId, 300_000)
    await switchTeam(browser, createRandom(1))
    browser.stored = await refresh(await refresh(browser.stored))
    await refresh(before)
    await assertInOrder(browser)
  })

  it('leave one session, the new one, when a password change runs concurrently with refreshes and a switch', async () => {
    const browser = await openBrowser()
    const { access, refresh: token } = browser.stored
    const held = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    const holding = api.database.postgres.owner.transaction().execute(async (trx) => {
      await sql`select from sessions where user_id = ${browser.userId} for update`.execute(trx)
      held.resolve()
      await release.promise
    })
    await held.promise
    const change = post(
      '/v3/session/change-password',
      { current_password: testPassword, new_password: 'another-password-for-tests' },
      access,
    )
    const others = [
      ...Array.from({ length: 4 }, () => post('/v3/session/refresh', { refresh: token })),
      post('/v3/session/token', { team_id: teams[1]!.teamId }, access),
    ]
    try {
      // A call that ends early does not wait for the lock: without the race the test would wait for it until its time limit.
      const early = Promise.race([change, ...others]).then(({ statusCode, body }) =>
        assert.fail(`a call ended before the lock was released: ${statusCode} ${body}`),
      )
      const waiting = untilWaiting(1 + others.length)
      await Promise.race([waiting, early])
    } finally {
      release.resolve()
    }
    await holding
    const changed = await change
    assert.equal(changed.statusCode, 200, changed.body)
    for (const answer of await Promise.all(others)) {
      // Late ones get an error; early ones have tokens of the revoked session.
      assert.ok([200, 401, 404].includes(answer.statusCode), answer.body)
      if (answer.statusCode !== 200) continue
      const after = await post('/v3/session/refresh', { refresh: answer.json().refresh })
      assert.equal(after.json().code, 'token_not_valid')
    }
    browser.stored = changed.json()
    await assertInOrder(browser)
  })
})

describe('concurrent calls that revoke and change the sessions of one user', () => {
  it(`do not deadlock, in ${rounds} rounds`, async () => {
    for (let round = 0; round < rounds; round++) {
      const { userId } = await addUser(api, `person-${people++}`, teams)
      const [one, two, three, four] = await Promise.all(
        Array.from({ length: 4 }, () => openSession(api, userId, teams[0]!.teamId)),
      )
      const answers = await Promise.all([
        post('/v3/session/logout', { all: true }, one!.access),
        post('/v3/session/token', { team_id: teams[1]!.teamId }, two!.access),
        post('/v3/session/logout', { refresh: two!.refresh }),
        post(
          '/v3/session/change-password',
          { current_password: testPassword, new_password: 'another-password-for-tests' },
          three!.access,
        ),
        post('/v3/session/totp', { current_password: testPassword }, four!.access),
        post('/v3/session/token', { team_id: teams[1]!.teamId }, four!.access),
        ...[one, three, four].map((session) => post('/v3/session/refresh', { refresh: session!.refresh })),
      ])
      // It is random which call comes too late, but each gets a response.
      for (const { statusCode, body } of answers) assert.ok(statusCode < 500, body)
    }
  })
})

/** Waits until that many connections of this database wait for a lock of another. */
async function untilWaiting(count: number): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ count: number }>`
      select count(*)::integer as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(api.database.postgres.owner)
    if (rows[0]!.count >= count) return
    await setTimeout(10)
  }
}
