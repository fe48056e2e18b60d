import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { addTeam, addUser, createTestApi, testPassword, type TestApi, type TestTeam } from '../../test/api.ts'
import { openSession } from '../../test/support/credentials.ts'
import { addSecondFactor, codeOf, passStep } from '../../test/support/second-factor.ts'
import { createKeyRing, open } from '../runtime/secrets.ts'
import { sealFactorSecret, consumeCode } from './second-factor-check.ts'
import { extendDelays } from './testing-backoff.ts'

let api: TestApi
let team: TestTeam
let people = 0

before(async () => {
  api = await createTestApi({ PHAROS_PROVIDER_NAME: 'the network service provider' })
  team = await addTeam(api, 'red')
})
after(() => api[Symbol.asyncDispose]())

const post = (url: string, payload: object, access?: string) =>
  api.server.inject({
    method: 'POST',
    url,
    payload,
    ...(access === undefined ? {} : { headers: { authorization: `Bearer ${access}` } }),
  })
const get = (url: string, access: string) =>
  api.server.inject({ url, headers: { authorization: `Bearer ${access}` } })
const signIn = (email: string, rest: { otp?: string; password?: string } = {}) =>
  post('/v3/session/token', { email, password: testPassword, ...rest })

/** Creates a new user, so that no test counts the attempts of another. */
async function addPerson(teams: readonly TestTeam[] = [team]) {
  const person = await addUser(api, `person-${people++}`, teams)
  return { ...person, ...(await openSession(api, person.userId, teams[0]!.teamId)) }
}

async function addPersonWithFactor() {
  const person = await addPerson()
  return { ...person, ...(await addSecondFactor(api, person.userId)) }
}

const start = (access: string, current_password = testPassword) =>
  post('/v3/session/totp', { current_password }, access)
const confirm = (access: string, otp: string) => post('/v3/session/totp/confirm', { otp }, access)

const statusesOf = (answers: readonly { statusCode: number }[]) =>
  answers.map(({ statusCode }) => statusCode).toSorted()

async function auditOf(userId: number): Promise<string[]> {
  const { rows } = await sql<{ action: string }>`
    select action from audit_entries where target = ${`user:${userId}`} order by id`.execute(
    api.database.postgres.owner,
  )
  return rows.map(({ action }) => action)
}

async function mailsTo(email: string): Promise<string[]> {
  const rows = await api.database.postgres.owner
    .selectFrom('mails')
    .select(['template', 'content_sealed'])
    .where('recipient', '=', email)
    .orderBy('id')
    .execute()
  return rows.map(({ template, content_sealed }) => {
    const content = JSON.parse(open(api.config.secret, 'mail', content_sealed!, template).toString())
    return `${template} ${content.change}`
  })
}

describe('setting up a second factor', () => {
  it('affects sign-in only after its first code is confirmed, and shows ten recovery codes', async () => {
    const { email, userId, access } = await addPerson()
    const started = await start(access)
    assert.equal(started.statusCode, 200)
    const { secret, uri, expires } = started.json()
    assert.match(secret, /^[A-Z2-7]{32}$/)
    assert.ok(
      uri.startsWith(`otpauth://totp/127.0.0.1:${encodeURIComponent(email)}?issuer=127.0.0.1&secret=`),
      uri,
    )
    const minutes = (Date.parse(expires) - Date.now()) / 60_000
    assert.ok(minutes > 9 && minutes <= 10.1)
    assert.equal((await signIn(email)).statusCode, 200)
    assert.deepEqual((await get('/v3/session/totp', access)).json(), {
      enabled: null,
      recovery_codes_left: 0,
    })

    const confirmed = await confirm(access, codeOf(secret))
    assert.equal(confirmed.statusCode, 200)
    const { recovery_codes, enabled, access: next } = confirmed.json()
    assert.equal(new Set(recovery_codes).size, 10)
    assert.deepEqual((await get('/v3/session/totp', next)).json(), { enabled, recovery_codes_left: 10 })
    assert.equal((await signIn(email)).json().code, 'otp_required')
    assert.deepEqual(await auditOf(userId), ['totp.start', 'totp.enable'])
    assert.deepEqual(await mailsTo(email), ['second-factor-changed on'])
    const again = await start(next)
    assert.equal(again.json().code, 'conflict')
  })

  it('requires the current password', async () => {
    const { access, userId } = await addPerson()
    assert.equal((await start(access, 'not this one')).json().code, 'wrong_password')
    assert.deepEqual(await auditOf(userId), [])
  })

  it('accepts only codes of the latest secret', async () => {
    const { access } = await addPerson()
    const first = (await start(access)).json()
    const second = (await start(access)).json()
    const wrong = await confirm(access, codeOf(first.secret))
    assert.equal(wrong.statusCode, 422)
    assert.deepEqual(wrong.json().errors[0].loc, ['body', 'otp'])
    assert.equal((await confirm(access, codeOf(second.secret))).statusCode, 200)
  })

  it('expires after ten minutes, and cannot be confirmed before it was started', async () => {
    const { access, userId } = await addPerson()
    assert.equal((await confirm(access, '123456')).json().code, 'conflict')
    const { secret } = (await start(access)).json()
    await sql`update second_factors set pending_until = now() where user_id = ${userId}`.execute(
      api.database.postgres.owner,
    )
    assert.equal((await confirm(access, codeOf(secret))).json().code, 'conflict')
    assert.equal((await start(access)).statusCode, 200)
  })

  it('succeeds once when it is confirmed in many tabs at once', async () => {
    const { access } = await addPerson()
    const { secret } = (await start(access)).json()
    const answers = await Promise.all(Array.from({ length: 8 }, () => confirm(access, codeOf(secret))))
    const [confirmed, ...others] = answers.toSorted((a, b) => a.statusCode - b.statusCode)
    assert.equal(confirmed!.statusCode, 200)
    // The first one revokes the session of the others.
    for (const { statusCode } of others) assert.ok([401, 409].includes(statusCode), String(statusCode))
    const { recovery_codes, access: next } = confirmed!.json()
    assert.deepEqual((await get('/v3/session/totp', next)).json().recovery_codes_left, recovery_codes.length)
  })

  it('stores neither the secret nor a recovery code as plain text', async () => {
    const { access, userId } = await addPerson()
    const { secret } = (await start(access)).json()
    const { recovery_codes } = (await confirm(access, codeOf(secret))).json()
    const { rows } = await sql<{ text: string }>`
      select (select string_agg(f::text, '') from second_factors f where user_id = ${userId})
        || (select string_agg(c::text, '') from recovery_codes c where user_id = ${userId})
        || (select string_agg(a::text, '') from audit_entries a where target = ${`user:${userId}`}) as text`.execute(
      api.database.postgres.owner,
    )
    assert.ok(rows[0]!.text.length > 500)
    for (const kept of [
      secret,
      ...recovery_codes,
      ...recovery_codes.map((code: string) => code.replace('-', '')),
    ])
      assert.ok(!rows[0]!.text.includes(kept))
  })
})

describe('signing in with a second factor', () => {
  it('requires a code, which works once; the session records that a code was used', async () => {
    const { email, secret, userId } = await addPersonWithFactor()
    assert.equal((await signIn(email)).json().code, 'otp_required')
    const otp = codeOf(secret)
    const signedIn = await signIn(email, { otp })
    assert.equal(signedIn.statusCode, 200)
    const again = await signIn(email, { otp })
    assert.equal(again.statusCode, 401)
    assert.equal(again.json().code, 'otp_required')
    assert.match(again.json().detail, /wrong or was used already/)
    assert.deepEqual(await auditOf(userId), ['totp.refuse'])
    const sessionId = signedIn.json().refresh.slice(4, 40)
    const { rows } = await sql<{ second_factor: boolean }>`
      select second_factor from sessions where id = ${sessionId}`.execute(api.database.postgres.owner)
    assert.deepEqual(rows, [{ second_factor: true }])
  })

  it('does not reveal the factor without the right password', async () => {
    const { email, secret } = await addPersonWithFactor()
    const withoutFactor = await addPerson()
    const strip = (problem: Record<string, unknown>) => ({ ...problem, request_id: '' })
    const answers = [
      await signIn(email, { password: 'wrong' }),
      await signIn(email, { password: 'wrong', otp: codeOf(secret) }),
      await signIn(email, { password: 'wrong', otp: '000000' }),
      await signIn(withoutFactor.email, { password: 'wrong', otp: '000000' }),
      await signIn('nobody@red.example', { otp: '000000' }),
    ]
    for (const answer of answers) {
      assert.equal(answer.json().code, 'invalid_credentials')
      assert.deepEqual(strip(answer.json()), strip(answers[0]!.json()))
    }
    assert.equal((await signIn(email, { otp: codeOf(secret) })).statusCode, 200, 'the code was not used up')
  })

  it('ignores a code for an account without a factor', async () => {
    const { email } = await addPerson()
    assert.equal((await signIn(email, { otp: '000000' })).statusCode, 200)
  })

  it('accepts one of many concurrent requests with the same code', async () => {
    const { email, secret } = await addPersonWithFactor()
    const otp = codeOf(secret)
    const answers = await Promise.all(Array.from({ length: 5 }, () => signIn(email, { otp })))
    assert.deepEqual(statusesOf(answers), [200, 401, 401, 401, 401])
  })

  it('accepts each recovery code once, in any spelling', async () => {
    const { email, access, recoveryCodes } = await addPersonWithFactor()
    const [first, second] = recoveryCodes as [string, string]
    assert.equal((await signIn(email, { otp: first.toUpperCase() })).statusCode, 200)
    assert.equal((await signIn(email, { otp: first })).statusCode, 401)
    assert.equal((await signIn(email, { otp: second.replace('-', ' ') })).statusCode, 200)
    assert.equal((await get('/v3/session/totp', access)).json().recovery_codes_left, 8)
  })

  it('counts wrong codes as failed sign-ins of the account', async () => {
    const { email, secret } = await addPersonWithFactor()
    const attempt = async () => (await signIn(email, { otp: 'xxxxxx' })).json().code as string
    for (let times = 0; times < 5; times++) assert.equal(await attempt(), 'otp_required')
    await extendDelays(api.database.postgres.owner)
    assert.equal(await attempt(), 'rate_limited')
    assert.equal((await signIn(email, { otp: codeOf(secret) })).json().code, 'rate_limited')
  })

  it('is not counted as a failure while the code is missing', async () => {
    const { email, secret } = await addPersonWithFactor()
    for (let times = 0; times < 8; times++) assert.equal((await signIn(email)).json().code, 'otp_required')
    assert.equal((await signIn(email, { otp: codeOf(secret) })).statusCode, 200)
  })
})

describe('a code', () => {
  const consume = (userId: number, otp: string, ring = api.config.secret) =>
    consumeCode({ db: api.database.postgres.front, ring }, userId, otp).catch(
      (error: { code?: string }) => error.code,
    )

  it('may be wrong ten times in 15 minutes, also for concurrent requests', async () => {
    const { userId, secret } = await addPersonWithFactor()
    const tried = await Promise.all(Array.from({ length: 30 }, () => consume(userId, 'xxxxxx')))
    assert.deepEqual(tried.toSorted(), [
      ...Array<string>(20).fill('rate_limited'),
      ...Array<string>(10).fill('wrong'),
    ])
    assert.equal(await consume(userId, codeOf(secret)), 'rate_limited')
    await sql`update second_factors set wrong_since = now() - interval '15 minutes' where user_id = ${userId}`.execute(
      api.database.postgres.owner,
    )
    assert.equal(await consume(userId, codeOf(secret)), 'totp')
  })

  it('that is right does not count as an attempt', async () => {
    const { userId, secret, recoveryCodes } = await addPersonWithFactor()
    for (let times = 0; times < 9; times++) assert.equal(await consume(userId, 'xxxxxx'), 'wrong')
    for (const code of recoveryCodes) assert.equal(await consume(userId, code), 'recovery code')
    for (let times = 0; times < 3; times++) {
      await passStep(api, userId)
      assert.equal(await consume(userId, codeOf(secret)), 'totp')
    }
    assert.equal(await consume(userId, 'xxxxxx'), 'wrong')
    assert.equal(await consume(userId, 'xxxxxx'), 'rate_limited')
  })

  it('is accepted once for concurrent requests', async () => {
    const { userId, secret, recoveryCodes } = await addPersonWithFactor()
    for (const [code, verdict] of [
      [codeOf(secret), 'totp'],
      [recoveryCodes[0]!, 'recovery code'],
    ] as const) {
      const verdicts = await Promise.all(Array.from({ length: 9 }, () => consume(userId, code)))
      assert.deepEqual(verdicts.toSorted(), [verdict, ...Array<string>(8).fill('wrong')].toSorted())
      await sql`update second_factors set wrong_codes = 0`.execute(api.database.postgres.owner)
    }
  })

  it('is valid for its user only', async () => {
    const [one, other] = [await addPersonWithFactor(), await addPersonWithFactor()]
    for (const code of [codeOf(one.secret), one.recoveryCodes[0]!])
      assert.equal(await consume(other.userId, code), 'wrong')
  })

  it('is verified by a process with a newer key, as long as the older one is in its ring', async () => {
    const { userId, secret } = await addPersonWithFactor()
    const [oldKey, newKey] = ['o'.repeat(40), 'n'.repeat(40)]
    const sealed = sealFactorSecret(createKeyRing([oldKey]), userId, secret)
    await sql`update second_factors set secret_sealed = ${sealed} where user_id = ${userId}`.execute(
      api.database.postgres.owner,
    )
    assert.equal(await consume(userId, codeOf(secret), createKeyRing([newKey, oldKey])), 'totp')
  })

  it('of a factor that was never confirmed is invalid', async () => {
    const { userId, access } = await addPerson()
    const { secret } = (await start(access)).json()
    assert.equal(await consume(userId, codeOf(secret)), 'wrong')
    assert.equal(await consume((await addPerson()).userId, codeOf(secret)), 'wrong')
  })
})

describe('disabling the second factor', () => {
  const disable = (access: string, otp: string, current_password = testPassword) =>
    post('/v3/session/totp/disable', { current_password, otp }, access)

  it('requires the password and a code; then the password alone signs in', async () => {
    const { email, userId, access, secret, recoveryCodes } = await addPersonWithFactor()
    assert.equal((await disable(access, codeOf(secret), 'not this one')).json().code, 'wrong_password')
    const wrong = await disable(access, 'xxxxxx')
    assert.deepEqual(wrong.json().errors[0].type, 'wrong_code')
    const disabled = await disable(access, recoveryCodes[3]!)
    assert.equal(disabled.statusCode, 200)
    const { access: next } = disabled.json()
    assert.equal((await signIn(email)).statusCode, 200)
    assert.deepEqual((await get('/v3/session/totp', next)).json(), {
      enabled: null,
      recovery_codes_left: 0,
    })
    assert.equal((await disable(next, recoveryCodes[4]!)).json().code, 'conflict')
    assert.deepEqual(await auditOf(userId), ['totp.disable'])
    assert.deepEqual(await mailsTo(email), ['second-factor-changed off'])
    assert.equal((await start(next)).statusCode, 200)
  })
})

describe('new recovery codes', () => {
  it('are ten, and invalidate the old ones', async () => {
    const { email, userId, access, secret, recoveryCodes } = await addPersonWithFactor()
    const body = { current_password: testPassword, otp: codeOf(secret) }
    const renewed = await post('/v3/session/totp/recovery-codes', body, access)
    assert.equal(renewed.statusCode, 200)
    const { recovery_codes, access: next } = renewed.json()
    assert.equal(new Set([...recovery_codes, ...recoveryCodes]).size, 20)
    assert.equal((await signIn(email, { otp: recoveryCodes[0]! })).statusCode, 401)
    assert.equal((await signIn(email, { otp: recovery_codes[0] })).statusCode, 200)
    const again = await post('/v3/session/totp/recovery-codes', body, next)
    assert.equal(again.json().errors[0].type, 'wrong_code', 'the code was used')
    assert.deepEqual(await auditOf(userId), ['recovery_codes.renew', 'totp.refuse'])
    assert.deepEqual(await mailsTo(email), ['second-factor-changed recovery codes'])
  })
})

describe('a change of the second factor', () => {
  type Person = Awaited<ReturnType<typeof addPersonWithFactor>>
  const withCode = ({ secret }: Person) => ({ current_password: testPassword, otp: codeOf(secret) })
  const changes = {
    'enabling it': async (person: Person) => {
      await sql`delete from second_factors where user_id = ${person.userId}`.execute(
        api.database.postgres.owner,
      )
      await sql`update users set totp_enabled = null where id = ${person.userId}`.execute(
        api.database.postgres.owner,
      )
      const { secret } = (await start(person.access)).json()
      return confirm(person.access, codeOf(secret))
    },
    'disabling it': (person: Person) => post('/v3/session/totp/disable', withCode(person), person.access),
    'new recovery codes': (person: Person) =>
      post('/v3/session/totp/recovery-codes', withCode(person), person.access),
  }

  for (const [what, change] of Object.entries(changes)) {
    it(`revokes every session, including the caller's, and opens a new one: ${what}`, async () => {
      const person = await addPersonWithFactor()
      const other = await openSession(api, person.userId, team.teamId)
      const changed = await change(person)
      assert.equal(changed.statusCode, 200, changed.body)
      const { access, refresh, user } = changed.json()
      assert.equal(user.email, person.email)
      for (const stolen of [person, other]) {
        const refused = await post('/v3/session/refresh', { refresh: stolen.refresh })
        assert.equal(refused.json().code, 'token_not_valid')
      }
      const { rows } = await sql<{ reason: string }>`
        select revoked_reason as reason from sessions where user_id = ${person.userId} and revoked is not null`.execute(
        api.database.postgres.owner,
      )
      assert.deepEqual(rows, [{ reason: 'second factor' }, { reason: 'second factor' }])
      assert.equal((await get('/v3/session/token', access)).statusCode, 200)
      assert.equal((await post('/v3/session/refresh', { refresh })).statusCode, 200)
    })
  }

  it('sets the new refresh token as the cookie of the portal', async () => {
    const person = await addPersonWithFactor()
    const changed = await api.server.inject({
      method: 'POST',
      url: '/v3/session/totp/disable',
      payload: withCode(person),
      headers: { authorization: `Bearer ${person.access}`, 'pharos-refresh': 'cookie' },
    })
    assert.equal(changed.json().refresh, 'cookie')
    const cookie = changed.cookies.find(({ name }) => name === 'pharos-refresh')!
    assert.equal((await post('/v3/session/refresh', { refresh: cookie.value })).statusCode, 200)
    assert.equal(cookie.httpOnly, true)
  })
})
