// Tabs of one browser that do everything at once that touches the session they share: refreshing it, switching its team,
// changing the password, turning the second factor on and off. A password that is changed ends every access token of the
// user, so that a tab is told 401 now and then; it refreshes and goes on. What must never happen is that the refresh fails.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import { addTeam, addUser, createTestApi, testPassword, type TestApi, type TestTeam } from './api.ts'
import { openSession } from './support/credentials.ts'
import { createRandom, scale, testSeed, type Random } from './support/random.ts'
import { codeOf } from './support/second-factor.ts'

const rounds = scale(12, 500)

let api: TestApi
let teams: readonly TestTeam[]
let people = 0

before(async () => {
  api = await createTestApi({ PHAROS_PASSWORD_HASHES_WAITING: '1000' })
  teams = [await addTeam(api, 'red'), await addTeam(api, 'blue')]
})
after(() => api[Symbol.asyncDispose]())

type Tokens = { readonly access: string; readonly refresh: string }

/** What the tabs share: the tokens that were stored last, and what the user knows. */
type Browser = {
  readonly sessionId: string
  stored: Tokens
  password: string
  secret: string | undefined
  recoveryCodes: string[]
}

async function openBrowser(): Promise<Browser> {
  const { userId } = await addUser(api, `person-${people++}`, teams)
  const { sessionId, access, refresh } = await openSession(api, userId, teams[0]!.teamId)
  return {
    sessionId,
    stored: { access, refresh },
    password: testPassword,
    secret: undefined,
    recoveryCodes: [],
  }
}

const post = (url: string, payload: object, access?: string) =>
  api.server.inject({
    method: 'POST',
    url,
    payload,
    ...(access === undefined ? {} : { headers: { authorization: `Bearer ${access}` } }),
  })

async function refresh(mine: Tokens): Promise<Tokens> {
  const response = await post('/v3/session/refresh', { refresh: mine.refresh })
  assert.equal(response.statusCode, 200, `a false sign-out: ${response.body}`)
  return response.json()
}

/** A tab, which keeps what it was answered for the others, unless they are further. */
class Tab {
  readonly #browser: Browser
  mine: Tokens

  constructor(browser: Browser) {
    this.#browser = browser
    this.mine = browser.stored
  }

  adopt(tokens: Tokens): void {
    if (this.#browser.stored === this.mine) this.#browser.stored = tokens
    this.mine = this.#browser.stored
  }

  async refresh(): Promise<void> {
    this.adopt(await refresh(this.mine))
  }

  /** Calls as the web application does: told that the access token is over, it refreshes and calls again. */
  async call(url: string, body: () => object) {
    for (;;) {
      const response = await post(url, body(), this.mine.access)
      if (response.statusCode !== 401) return response
      assert.equal(response.json().code, 'unauthenticated', response.body)
      await this.refresh()
    }
  }
}

async function switchTeam(_browser: Browser, tab: Tab, random: Random): Promise<void> {
  const { teamId } = random.pick(teams)
  const response = await tab.call('/v3/session/token', () => ({ team_id: teamId }))
  assert.equal(response.statusCode, 200, response.body)
  tab.adopt(response.json())
}

async function changePassword(browser: Browser, tab: Tab, random: Random): Promise<void> {
  const next = `a-password-for-tests-${random.below(1_000_000)}`
  const response = await tab.call('/v3/session/change-password', () => ({
    current_password: browser.password,
    new_password: next,
  }))
  // Another tab may have been faster.
  if (response.statusCode !== 200) return assert.ok([403, 422].includes(response.statusCode), response.body)
  browser.password = next
  tab.adopt(response.json())
}

async function changeFactor(browser: Browser, tab: Tab): Promise<void> {
  const code = browser.recoveryCodes.pop()
  if (code !== undefined) {
    const off = await tab.call('/v3/session/totp/disable', () => ({
      current_password: browser.password,
      otp: code,
    }))
    return assert.ok([204, 403, 409, 422].includes(off.statusCode), off.body)
  }
  const started = await tab.call('/v3/session/totp', () => ({ current_password: browser.password }))
  if (started.statusCode !== 200) return assert.ok([403, 409].includes(started.statusCode), started.body)
  const { secret } = started.json()
  const confirmed = await tab.call('/v3/session/totp/confirm', () => ({ otp: codeOf(secret) }))
  if (confirmed.statusCode === 200) browser.recoveryCodes = confirmed.json().recovery_codes.slice(0, 3)
  else assert.ok([409, 422, 429].includes(confirmed.statusCode), confirmed.body)
}

const counts = { refreshed: 0, switched: 0, passwords: 0, factors: 0 }

async function useTab(browser: Browser, random: Random): Promise<void> {
  const tab = new Tab(browser)
  for (let times = 1 + random.below(3); times > 0; times--) {
    const [dice, lost] = [random.below(100), random.chance(0.2)]
    if (dice < 10) await changePassword(browser, tab, random).then(() => counts.passwords++)
    else if (dice < 25) await changeFactor(browser, tab).then(() => counts.factors++)
    else if (dice < 40) await switchTeam(browser, tab, random).then(() => counts.switched++)
    else if (lost) await refresh(tab.mine)
    else await tab.refresh().then(() => counts.refreshed++)
  }
}

/** Lets time pass for one session. */
async function pass(sessionId: string, ms: number): Promise<void> {
  await sql`update sessions set rotations =
      array(select r - make_interval(secs => ${ms / 1000}) from unnest(rotations) r order by r)
    where id = ${sessionId}`.execute(api.database.postgres.owner)
}

async function assertInOrder({ sessionId, stored }: Browser): Promise<void> {
  await refresh(stored)
  const { rows } = await sql`
    select action from audit_entries where target = ${`session:${sessionId}`} and action = 'session.reuse'`.execute(
    api.database.postgres.owner,
  )
  assert.deepEqual(rows, [])
}

describe('tabs of one browser that change the account at once', () => {
  it(`are never signed out, in ${rounds} rounds`, async (t) => {
    for (let round = 0; round < rounds; round++) {
      const random = createRandom(testSeed + round)
      const browser = await openBrowser()
      for (let burst = 0; burst < 3; burst++) {
        await Promise.all(Array.from({ length: 2 + random.below(6) }, () => useTab(browser, random)))
        await pass(browser.sessionId, random.pick([0, 1_000, 29_000, 600_000]))
      }
      await assertInOrder(browser).catch((cause: unknown) => {
        throw new Error(`round ${round} with PHAROS_TEST_SEED=${testSeed}: ${String(cause)}`, { cause })
      })
    }
    t.diagnostic(JSON.stringify(counts))
    for (const [what, count] of Object.entries(counts)) assert.ok(count > 0, `nobody ${what}`)
  })

  for (const [what, change] of Object.entries({
    'switches the team': switchTeam,
    'changes the password': changePassword,
  })) {
    it(`are not signed out when they wake long after a lost answer, and the first of them ${what}`, async () => {
      const browser = await openBrowser()
      const [first, other] = [new Tab(browser), new Tab(browser)]
      await refresh(first.mine) // the lost answer
      await pass(browser.sessionId, 600_000)
      await change(browser, first, createRandom(1))
      await first.refresh()
      await first.refresh()
      await other.refresh()
      await assertInOrder(browser)
    })
  }

  it('all go on when they meet at the same row: refreshes, a switch, a new password', async () => {
    const browser = await openBrowser()
    const { access, refresh: token } = browser.stored
    const held = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    const holding = api.database.postgres.owner.transaction().execute(async (trx) => {
      await sql`select from sessions where id = ${browser.sessionId} for update`.execute(trx)
      held.resolve()
      await release.promise
    })
    await held.promise
    const calls = [
      ...Array.from({ length: 4 }, () => post('/v3/session/refresh', { refresh: token })),
      post('/v3/session/token', { team_id: teams[1]!.teamId }, access),
      post(
        '/v3/session/change-password',
        { current_password: testPassword, new_password: 'another-password-for-tests' },
        access,
      ),
    ]
    try {
      await untilWaiting(calls.length)
    } finally {
      release.resolve()
    }
    await holding
    const answers = await Promise.all(calls)
    assert.deepEqual(
      answers.map(({ statusCode, body }) => (statusCode === 200 ? 200 : body)),
      Array(calls.length).fill(200),
    )
    for (const answer of answers) assert.equal((await refresh(answer.json())).refresh.slice(0, 4), 'phr_')
    await assertInOrder(browser)
  })
})

describe('what ends and changes the sessions of one user', () => {
  it(`at once does not wait for each other in a circle, in ${rounds} rounds`, async () => {
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
      // Which of them comes too late is a matter of luck; that one cannot be answered at all is not.
      for (const { statusCode, body } of answers) assert.ok(statusCode < 500, body)
    }
  })
})

/** Until so many connections of this database wait for a lock that another one holds. */
async function untilWaiting(count: number): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ count: number }>`
      select count(*)::integer as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(api.database.postgres.owner)
    if (rows[0]!.count >= count) return
    await setTimeout(10)
  }
}
