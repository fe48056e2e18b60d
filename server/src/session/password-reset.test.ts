import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { addTeam, createTestApi, testPassword, type TestApi, type TestTeam } from '../../test/api.ts'
import { createCountedDeps } from '../../test/support/counted-account.ts'
import { openSession } from '../../test/support/credentials.ts'
import { mailsTo, templatesTo, tokenMailedTo } from '../../test/support/mails.ts'
import { addPerson, auditOfPerson, createClient, type Client } from '../../test/support/test-user.ts'
import { addSecondFactor, codeOf } from '../../test/support/second-factor.ts'
import { changePassword } from './account.ts'
import { requestPasswordReset, resetPassword } from './password-reset.ts'
import { signIn } from './sign-in.ts'
import { extendDelays } from './testing-backoff.ts'

let api: TestApi
let team: TestTeam
let client: Client
before(async () => {
  api = await createTestApi({ PHAROS_PUBLIC_URL: 'https://pharos.example' })
  team = await addTeam(api, 'red')
  client = createClient(api)
})
after(() => api[Symbol.asyncDispose]())

const next = 'blue kettle rainy tram'
const source = { requestId: 'r', address: '127.0.0.1' }
const reset = (token: string, new_password = next) =>
  client.post('/password-reset/confirm', { token, new_password })

/** Requests a reset and returns the token that was sent. */
async function asked(email: string): Promise<string> {
  const deps = createCountedDeps(api)
  requestPasswordReset(deps, source, { email })
  await deps.tasks.settled()
  return tokenMailedTo(api, email, 'password-reset')
}

async function addAsking(flags = {}): Promise<{ userId: number; email: string; token: string }> {
  const person = await addPerson(api, team, flags)
  return { ...person, token: await asked(person.email) }
}

describe('requesting a password reset', () => {
  it('gets the same answer whether or not there is an account, before any query', async () => {
    const { email } = await addPerson(api, team)
    const [known, unknown] = [
      await client.post('/password-reset', { email }),
      await client.post('/password-reset', { email: 'nobody@nowhere.example' }),
    ]
    assert.equal(known.status, 202)
    assert.deepEqual(known, unknown)
    const deps = createCountedDeps(api)
    let looked = false
    const db = new Proxy(deps.db, {
      get(target, name) {
        looked = true
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    requestPasswordReset({ ...deps, db }, source, { email })
    assert.equal(looked, false)
    await deps.tasks.settled()
    assert.equal(looked, true)
    assert.equal(deps.hashes(), 0)
  })

  it('sends a link that is valid for an hour, and nothing if there is no account', async () => {
    const { email } = await addAsking()
    const [mail] = await mailsTo(api, email)
    assert.equal(mail?.template, 'password-reset')
    assert.match(mail.content.link, /^https:\/\/pharos\.example\/reset-password#phm_password-reset\./)
    assert.equal(mail.content.minutes, 60)
    await assert.rejects(asked('nobody@nowhere.example'), /no password-reset mail to/)
  })
})

describe('resetting the password', () => {
  it('sets the password, creates no session, and revokes every session', async () => {
    const { userId, email } = await addPerson(api, team)
    const before = await client.open(email)
    const { status, body } = await reset(await asked(email))
    assert.equal(status, 200)
    assert.deepEqual(body, { email })
    assert.equal((await client.signIn(email)).code, 'invalid_credentials')
    assert.equal((await client.post('/refresh', { refresh: before.refresh })).code, 'token_not_valid')
    assert.equal((await client.signIn(email, next)).status, 200)
    assert.deepEqual(await auditOfPerson(api, userId), ['password.reset'])
    assert.equal((await templatesTo(api, email)).at(-1), 'password-changed')
  })

  it('confirms the address: its owner has read the mail', async () => {
    const { email, token } = await addAsking({ unconfirmed: true })
    await reset(token)
    assert.equal((await client.signIn(email, next)).status, 200)
  })

  it('keeps the second factor enabled', async () => {
    const { userId, email, token } = await addAsking()
    await addSecondFactor(api, userId)
    assert.equal((await reset(token)).status, 200)
    assert.equal((await client.signIn(email, next)).code, 'otp_required')
  })

  it('ends the delay after failed sign-ins', async () => {
    const { email, token } = await addAsking()
    for (let n = 0; n < 5; n++) await client.signIn(email, 'not the one')
    await extendDelays(api.database.postgres.owner)
    assert.equal((await client.signIn(email)).code, 'rate_limited')
    await reset(token)
    assert.equal((await client.signIn(email, next)).status, 200)
  })

  it('happens once, also if the link is used twice at once', async () => {
    const { userId, email, token } = await addAsking()
    const answers = await Promise.all([reset(token, 'the first of two new ones'), reset(token)])
    assert.deepEqual(answers.map(({ code }) => code ?? 'done').toSorted(), ['done', 'invalid_token'])
    assert.equal((await reset(token)).code, 'invalid_token')
    assert.deepEqual(await auditOfPerson(api, userId), ['password.reset'])
    const won = answers[0]!.status === 200 ? 'the first of two new ones' : next
    assert.equal((await client.signIn(email, won)).status, 200)
  })

  it('invalidates the other links that were sent', async () => {
    const { email, token } = await addAsking()
    const second = await asked(email)
    assert.equal((await reset(second)).status, 200)
    assert.equal((await reset(token)).code, 'invalid_token')
  })

  it('is rejected for a weak password, and the link stays valid', async () => {
    const { email, token } = await addAsking()
    for (const bad of ['elevenchars', 'Password1234', email]) {
      const { body } = await reset(token, bad)
      assert.deepEqual(body.errors[0].loc, ['body', 'new_password'])
    }
    assert.equal((await reset(token)).status, 200)
  })

  it('requires a token of its own purpose that has not expired', async () => {
    const { userId, token } = await addAsking()
    assert.equal((await client.post('/confirm-email', { token })).code, 'invalid_token')
    await sql`update mail_tokens set expires = now() where user_id = ${userId}`.execute(
      api.database.postgres.owner,
    )
    for (const one of [token, 'nonsense', token.replace('password-reset', 'confirm-email')])
      assert.equal((await reset(one)).code, 'invalid_token')
  })
})

describe('the number of hashes', () => {
  it('is one for a sign-in, whether or not the account exists, and zero while it is rate limited', async () => {
    const { email } = await addPerson(api, team)
    const deps = createCountedDeps(api)
    const clientSource = { ...source, userAgent: '' }
    const attempt = (address: string, password: string) =>
      signIn(deps, clientSource, { email: address, password }).then(
        () => 'signed in',
        (error: { code: string }) => error.code,
      )
    for (const [address, password] of [
      [email, 'not the one'],
      ['nobody@nowhere.example', testPassword],
      [email, testPassword],
    ] as const) {
      const before = deps.hashes()
      await attempt(address, password)
      assert.equal(deps.hashes() - before, 1)
    }
    for (let n = 0; n < 5; n++) await attempt('nobody@nowhere.example', 'not the one')
    await extendDelays(api.database.postgres.owner)
    const before = deps.hashes()
    assert.equal(await attempt('nobody@nowhere.example', 'not the one'), 'rate_limited')
    assert.equal(deps.hashes(), before)
  })

  it('is zero before the token is valid and the password allowed', async () => {
    const { token } = await addAsking()
    const deps = createCountedDeps(api)
    const body = { token: 'nonsense', new_password: next }
    await assert.rejects(resetPassword(deps, source, body), { code: 'invalid_token' })
    const forged = { token: token.slice(0, -2) + 'AA', new_password: next }
    await assert.rejects(resetPassword(deps, source, forged), { code: 'invalid_token' })
    await assert.rejects(resetPassword(deps, source, { token, new_password: 'Password1234' }), {
      code: 'invalid',
    })
    assert.equal(deps.hashes(), 0)
    await resetPassword(deps, source, { token, new_password: next })
    assert.equal(deps.hashes(), 1)
  })

  it('is zero for a change whose limit is used up', async () => {
    const { userId, email } = await addPerson(api, team)
    await client.open(email)
    const { id: sessionId } = await api.database.postgres.owner
      .selectFrom('sessions')
      .select('id')
      .where('user_id', '=', userId)
      .executeTakeFirstOrThrow()
    const actor = {
      kind: 'user' as const,
      userId,
      sessionId,
      teamId: team.teamId,
      roles: ['editor' as const],
      isStaff: false,
      staffRoles: [],
      access: null,
      isLocal: true,
      blockedBy: null,
      modules: [],
      limits: null,
    }
    const operation = {
      ...source,
      userAgent: '',
      actor,
      dryRun: false,
      ifMatch: null,
      idempotency: null,
    }
    const { createWrongPasswords } = await import('./password-check.ts')
    const deps = { ...createCountedDeps(api), wrongPasswords: createWrongPasswords() }
    const attempt = (current_password: string) =>
      changePassword(deps, operation, { current_password, new_password: next })
    for (let n = 0; n < 5; n++) await assert.rejects(attempt('not the one'), { code: 'wrong_password' })
    const before = deps.hashes()
    assert.equal(before, 5)
    await assert.rejects(attempt(testPassword), { code: 'rate_limited' })
    assert.equal(deps.hashes(), before)
  })
})

describe('a sign-in whose password is replaced during the comparison', () => {
  it('creates no session', async () => {
    const { userId, email, token } = await addAsking()
    const deps = createCountedDeps(api)
    const hashing = {
      ...deps.hashing,
      // The old password matches, and then the reset happens.
      run: async <T>(work: () => Promise<T>): Promise<T> => {
        const matches = await work()
        assert.equal((await reset(token)).status, 200)
        return matches
      },
    }
    const clientSource = { ...source, userAgent: '' }
    await assert.rejects(signIn({ ...deps, hashing }, clientSource, { email, password: testPassword }), {
      code: 'invalid_credentials',
    })
    const open = await api.database.postgres.owner
      .selectFrom('sessions')
      .select('id')
      .where('user_id', '=', userId)
      .where('revoked', 'is', null)
      .execute()
    assert.deepEqual(open, [])
  })

  it('creates no session either if a second factor is enabled meanwhile', async () => {
    const { userId, email } = await addPerson(api, team)
    const { access } = await openSession(api, userId, team.teamId)
    const deps = createCountedDeps(api)
    const hashing = {
      ...deps.hashing,
      run: async <T>(work: () => Promise<T>): Promise<T> => {
        const matches = await work()
        const started = await client.post('/totp', { current_password: testPassword }, access)
        const otp = codeOf(started.body.secret)
        assert.equal((await client.post('/totp/confirm', { otp }, access)).status, 200)
        return matches
      },
    }
    const clientSource = { ...source, userAgent: '' }
    await assert.rejects(signIn({ ...deps, hashing }, clientSource, { email, password: testPassword }), {
      code: 'invalid_credentials',
    })
    const sessions = await sql<{ second_factor: boolean }>`
      select second_factor from sessions where user_id = ${userId} and revoked is null`.execute(
      api.database.postgres.owner,
    )
    assert.deepEqual(sessions.rows, [{ second_factor: true }])
  })

  it('leaves no session, in either order', async () => {
    for (let round = 0; round < 6; round++) {
      const { userId, email, token } = await addAsking()
      await Promise.all([client.signIn(email), reset(token), client.signIn(email), client.signIn(email)])
      const open = await api.database.postgres.owner
        .selectFrom('sessions')
        .select('id')
        .where('user_id', '=', userId)
        .where('revoked', 'is', null)
        .execute()
      assert.deepEqual(open, [])
    }
  })
})
