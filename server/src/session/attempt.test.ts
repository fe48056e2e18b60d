import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { ClientLimiter } from '../runtime/client-limiter.ts'
import { RateLimiter } from '../runtime/rate-limit.ts'
import { createKeyRing } from '../runtime/secrets.ts'
import { beginAttempt, clearFailures, type SignInAttempt } from './attempt.ts'

let database: TestDatabase
const ring = createKeyRing(['k'.repeat(40)])
before(async () => {
  database = await createTestDatabase()
})
after(() => database[Symbol.asyncDispose]())

const elsewhere = '198.51.100.1'
const rate = { perSecond: 1, burst: 1000 }
const begin = (email: string, address = elsewhere) => {
  const deps = {
    db: database.postgres.front,
    ring,
    attemptsOfClient: new ClientLimiter(rate),
    attemptsOfAccount: new RateLimiter(rate),
  }
  return beginAttempt(deps, email, address)
}
type Refusal = { code: string; retryAfterSeconds: number }
const outcomeOf = (attempt: Promise<SignInAttempt>): Promise<SignInAttempt | Refusal> =>
  attempt.catch((error: Refusal) => error)
const isRefused = (outcome: SignInAttempt | Refusal): outcome is Refusal =>
  'code' in outcome && outcome.code === 'rate_limited'
const failTimes = async (times: number, email: string, address = elsewhere) => {
  for (let n = 0; n < times; n++) await begin(email, address)
}
/** Shifts the latest attempt back in time. */
const passed = (seconds: number) =>
  sql`update sign_in_failures set latest = latest - make_interval(secs => ${seconds})`.execute(
    database.postgres.owner,
  )

/** Creates a user who signed in from the address the given number of days ago. */
async function addUser(name: string, address: string, daysAgo = 0): Promise<string> {
  const { owner } = database.postgres
  const email = `${name}@red.example`
  await sql`insert into teams (slug, name) values ('red', 'Red') on conflict do nothing`.execute(owner)
  await sql`insert into users (email, password_hash, username) values (${email}, 'x', ${name})`.execute(owner)
  await sql`
    insert into sessions (user_id, team_id, address, created, expires)
    select u.id, t.id, ${address}::inet, now() - make_interval(days => ${daysAgo}), now() from users u, teams t
    where u.email = ${email}`.execute(owner)
  return email
}

describe('failed attempts', () => {
  it('are refused after five, with the time to wait, also for an account that does not exist', async () => {
    await failTimes(5, 'nobody@nowhere.example')
    const sixth = await outcomeOf(begin('Nobody@Nowhere.example'))
    assert.ok(isRefused(sixth))
    assert.equal(sixth.retryAfterSeconds, 1)
    await passed(1)
    await begin('nobody@nowhere.example')
    const seventh = await outcomeOf(begin('nobody@nowhere.example'))
    assert.ok(isRefused(seventh) && seventh.retryAfterSeconds === 2)
  })

  it('are not delayed further by refused attempts', async () => {
    await failTimes(5, 'patient@red.example')
    for (const seconds of [1, 2, 4, 8]) {
      await passed(seconds)
      await begin('patient@red.example')
    }
    for (let n = 0; n < 20; n++) assert.ok(isRefused(await outcomeOf(begin('patient@red.example'))))
    await passed(16)
    assert.ok(!isRefused(await outcomeOf(begin('patient@red.example'))))
  })

  it('expire after a day', async () => {
    await failTimes(5, 'forgotten@red.example')
    await passed(24 * 3_600)
    await failTimes(5, 'forgotten@red.example')
    assert.ok(isRefused(await outcomeOf(begin('forgotten@red.example'))))
  })

  it('are admitted five times, also when many arrive at once', async () => {
    const startMs = performance.now()
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, () => outcomeOf(begin('crowd@red.example'))),
    )
    // On a busy machine the delays after the fifth attempt, of 1, 2, 4 seconds and so on, may end during the test.
    const delays = Math.floor(Math.log2(1 + (performance.now() - startMs) / 1000))
    const admitted = outcomes.filter((outcome) => !isRefused(outcome)).length
    assert.ok(admitted >= 5 && admitted <= 5 + delays, `${admitted} admitted, ${delays} delays over`)
  })

  it('store neither the e-mail address nor the network address', async () => {
    await begin('secretive@red.example')
    const rows = await database.postgres.owner.selectFrom('sign_in_failures').selectAll().execute()
    assert.doesNotMatch(JSON.stringify(rows), /secretive|198\.51\.100/)
  })
})

describe('a successful attempt', () => {
  it('deletes the failures before it', async () => {
    await failTimes(4, 'clumsy@red.example')
    await (await begin('clumsy@red.example')).succeeded()
    await failTimes(5, 'clumsy@red.example')
    assert.ok(isRefused(await outcomeOf(begin('clumsy@red.example'))))
  })
})

describe('an undecided attempt', () => {
  it('is neither counted as a failure nor deletes earlier failures', async () => {
    await failTimes(4, 'half@red.example')
    for (let n = 0; n < 10; n++) await (await begin('half@red.example')).undecided()
    await begin('half@red.example')
    assert.ok(isRefused(await outcomeOf(begin('half@red.example'))))
  })

  it('does not restart the delay', async () => {
    await failTimes(5, 'halting@red.example')
    await passed(1)
    await (await begin('halting@red.example')).undecided()
    assert.ok(!isRefused(await outcomeOf(begin('halting@red.example'))))
  })

  it('does not remove a failure that came after it', async () => {
    const first = await begin('crossed@red.example')
    await failTimes(4, 'crossed@red.example')
    await first.undecided()
    await begin('crossed@red.example')
    assert.ok(isRefused(await outcomeOf(begin('crossed@red.example'))))
  })
})

describe('the origin of an attempt', () => {
  it('is counted separately if the account signed in from it recently: others do not lock the user out', async () => {
    const email = await addUser('victim', '192.0.2.7')
    await failTimes(5, email)
    assert.ok(isRefused(await outcomeOf(begin(email, '203.0.113.9'))), 'all other origins share one limit')
    assert.ok(!isRefused(await outcomeOf(begin(email, '192.0.2.7'))))
  })

  it('is limited also if it is a known network', async () => {
    const email = await addUser('usual', '192.0.2.8')
    await failTimes(5, email, '192.0.2.8')
    assert.ok(isRefused(await outcomeOf(begin(email, '192.0.2.8'))))
    assert.ok(!isRefused(await outcomeOf(begin(email))))
  })

  it('is unknown for another account, and after 90 days', async () => {
    await addUser('neighbour', '192.0.2.9')
    const email = await addUser('traveller', '192.0.2.10', 91)
    await failTimes(3, email, '192.0.2.9')
    await failTimes(2, email, '192.0.2.10')
    assert.ok(isRefused(await outcomeOf(begin(email))))
  })

  it('is the /64 of an IPv6 address, and one IPv4 address over a dual-stack socket', async () => {
    const six = await addUser('six', '2001:db8:1:2::7')
    await failTimes(5, six)
    assert.ok(!isRefused(await outcomeOf(begin(six, '2001:db8:1:2:ffff::1'))))
    assert.ok(isRefused(await outcomeOf(begin(six, '2001:db8:1:3::7'))))
    const mapped = await addUser('mapped', '::ffff:192.0.2.11')
    await failTimes(5, mapped)
    assert.ok(!isRefused(await outcomeOf(begin(mapped, '::ffff:192.0.2.11'))))
    assert.ok(isRefused(await outcomeOf(begin(mapped, '::ffff:192.0.2.12'))))
  })

  it('is irrelevant once all failures of the account were deleted', async () => {
    const email = await addUser('reset', '192.0.2.12')
    await failTimes(5, email)
    await failTimes(5, email, '192.0.2.12')
    await database.postgres.owner
      .transaction()
      .execute((trx) => clearFailures(trx, ring, email.toUpperCase()))
    assert.ok(!isRefused(await outcomeOf(begin(email))))
    assert.ok(!isRefused(await outcomeOf(begin(email, '192.0.2.12'))))
  })
})

describe('before the database is queried', () => {
  it('attempts are limited per address over all accounts, and per account', async () => {
    const two = { perSecond: 1, burst: 2 }
    const deps = {
      db: database.postgres.front,
      ring,
      attemptsOfClient: new ClientLimiter(two),
      attemptsOfAccount: new RateLimiter(two),
    }
    await beginAttempt(deps, 'one@red.example', elsewhere)
    await beginAttempt(deps, 'two@red.example', elsewhere)
    assert.ok(isRefused(await outcomeOf(beginAttempt(deps, 'three@red.example', elsewhere))))
    await beginAttempt(deps, 'subscriber-a@red.example', '2001:db8::1')
    await beginAttempt(deps, 'subscriber-b@red.example', '2001:db8::2')
    assert.ok(isRefused(await outcomeOf(beginAttempt(deps, 'subscriber-c@red.example', '2001:db8::3'))))
    await beginAttempt(deps, 'one@red.example', '203.0.113.1')
    assert.ok(isRefused(await outcomeOf(beginAttempt(deps, 'one@red.example', '203.0.113.2'))))
  })
})
