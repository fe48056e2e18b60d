import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { addTeam, createTestApi, testPassword, type TestApi, type TestTeam } from '../../test/api.ts'
import { mailsTo, templatesTo, tokenMailedTo } from '../../test/support/mails.ts'
import { addPerson, auditOfPerson, createClient, type Client } from '../../test/support/test-user.ts'

let api: TestApi
let team: TestTeam
let client: Client
before(async () => {
  api = await createTestApi({ PHAROS_PROVIDER_NAME: 'Northern Light' })
  team = await addTeam(api, 'red')
  client = createClient(api)
})
after(() => api[Symbol.asyncDispose]())

const next = 'blue kettle rainy tram'
const change = (access: string, new_password = next, current_password = testPassword) =>
  client.post('/change-password', { current_password, new_password }, access)

describe('changing the password', () => {
  it('returns valid tokens, in the format of sign-in', async () => {
    const { email } = await addPerson(api, team)
    const signedIn = await client.open(email)
    const { status, body } = await change(signedIn.access)
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(body), Object.keys(signedIn))
    assert.equal(body.user.email, email)
    assert.notEqual(body.access, signedIn.access)
    assert.equal((await client.send('GET', '/token', body.access)).status, 200)
    assert.equal((await client.post('/refresh', { refresh: body.refresh })).status, 200)
  })

  it('replaces the password for signing in', async () => {
    const { email } = await addPerson(api, team)
    await change((await client.open(email)).access)
    assert.equal((await client.signIn(email)).code, 'invalid_credentials')
    assert.equal((await client.signIn(email, next)).status, 200)
  })

  it('revokes every session and access token, the own ones included, and opens a new session', async () => {
    const { email } = await addPerson(api, team)
    const [own, other] = [await client.open(email), await client.open(email)]
    const { body } = await change(own.access)
    for (const { refresh } of [own, other])
      assert.equal((await client.post('/refresh', { refresh })).code, 'token_not_valid')
    const { body: sessions } = await client.send('GET', '/sessions', body.access)
    assert.deepEqual([sessions.count, sessions.results[0].current], [1, true])
    for (const { access } of [own, other]) {
      const deadline = Date.now() + 300_000
      while ((await client.send('GET', '/token', access)).status !== 401)
        assert.ok(Date.now() < deadline, 'an access token is still valid')
    }
  })

  it('invalidates copies of the refresh token and of earlier ones', async () => {
    const { email } = await addPerson(api, team)
    const first = await client.open(email)
    const own = (await client.post('/refresh', { refresh: first.refresh })).body
    const { body } = await change(own.access)
    for (const stolen of [first.refresh, own.refresh]) {
      const refused = await client.post('/refresh', { refresh: stolen })
      assert.deepEqual([refused.status, refused.code], [401, 'token_not_valid'])
    }
    assert.equal((await client.post('/refresh', { refresh: body.refresh })).status, 200)
  })

  it('creates no session if the current one was revoked during the comparison', async () => {
    const { userId, email } = await addPerson(api, team)
    const { access } = await client.open(email)
    const held = Promise.withResolvers<void>()
    const revoke = Promise.withResolvers<void>()
    const revoking = api.database.postgres.owner.transaction().execute(async (trx) => {
      await sql`select from users where id = ${userId} for update`.execute(trx)
      held.resolve()
      await revoke.promise
      await sql`update sessions set revoked = now() where user_id = ${userId}`.execute(trx)
    })
    await held.promise
    const changing = change(access)
    await untilWaiting()
    revoke.resolve()
    await revoking
    assert.equal((await changing).code, 'unauthenticated')
    assert.equal((await client.signIn(email)).status, 200, 'the password has changed')
  })

  it('notifies the user by mail, and is audited', async () => {
    const { userId, email } = await addPerson(api, team)
    await change((await client.open(email)).access)
    const [mail] = await mailsTo(api, email)
    assert.equal(mail?.template, 'password-changed')
    assert.deepEqual(Object.keys(mail.content), ['at', 'address'])
    assert.deepEqual(await auditOfPerson(api, userId), ['password.change'])
  })

  it('invalidates the mail links sent before', async () => {
    const { email } = await addPerson(api, team)
    const { access } = await client.open(email)
    const body = { email: `new-${email}`, current_password: testPassword }
    assert.equal((await client.post('/change-email', body, access)).status, 202)
    const token = await tokenMailedTo(api, `new-${email}`, 'confirm-email')
    assert.equal((await change(access)).status, 200)
    assert.equal((await client.post('/confirm-email', { token })).code, 'invalid_token')
  })

  it('requires the current password, and reveals nothing else without it', async () => {
    const { userId, email } = await addPerson(api, team)
    const { access } = await client.open(email)
    const { status, code } = await change(access, next, 'not the one')
    assert.deepEqual([status, code], [403, 'wrong_password'])
    assert.deepEqual(await templatesTo(api, email), [])
    assert.ok(!(await auditOfPerson(api, userId)).includes('password.change'))
    assert.equal((await client.signIn(email)).status, 200)
  })

  it('happens once if it is requested twice at once', async () => {
    const { userId, email } = await addPerson(api, team)
    const [one, two] = [await client.open(email), await client.open(email)]
    const passwords = ['first of two new ones', 'second of two new ones'] as const
    const answers = await Promise.all([change(one.access, passwords[0]), change(two.access, passwords[1])])
    const won = answers.findIndex(({ status }) => status === 200)
    assert.ok(won >= 0)
    const lost = answers[1 - won]!
    assert.ok(['wrong_password', 'unauthenticated'].includes(lost.code ?? ''), JSON.stringify(lost))
    assert.equal((await client.signIn(email, passwords[won])).status, 200)
    assert.equal((await client.signIn(email, passwords[1 - won])).status, 401)
    assert.equal(
      (await auditOfPerson(api, userId)).filter((action) => action === 'password.change').length,
      1,
    )
  })

  it('is for the web application only', async () => {
    assert.equal(
      (await client.post('/change-password', { current_password: 'x', new_password: next })).status,
      401,
    )
  })
})

describe('a new password', () => {
  const refused: Record<string, string> = {
    too_short: 'elevenchars',
    common: 'Password1234',
    pattern: 'qwertyuiopasdf',
    the_same: testPassword,
    provider: 'Northern-Light!24',
  }
  for (const [why, password] of Object.entries(refused)) {
    it(`is rejected with a remedy: ${why}`, async () => {
      const { email } = await addPerson(api, team)
      const { status, body } = await change((await client.open(email)).access, password)
      assert.equal(status, 422)
      assert.deepEqual(body.errors[0].loc, ['body', 'new_password'])
      assert.ok(body.errors[0].msg.length > 10)
      assert.equal((await client.signIn(email)).status, 200)
    })
  }

  it('may not be the e-mail address', async () => {
    const { email } = await addPerson(api, team)
    const { body } = await change((await client.open(email)).access, email.toUpperCase())
    assert.equal(body.errors[0].type, 'personal')
  })

  it('is the same whichever way its accents are typed', async () => {
    const { email } = await addPerson(api, team)
    const password = 'kühlschrank im wald'
    await change((await client.open(email)).access, password.normalize('NFD'))
    assert.equal((await client.signIn(email, password.normalize('NFC'))).status, 200)
    assert.equal((await client.signIn(email, password.normalize('NFD'))).status, 200)
  })
})

/** Resolves once a connection of this database waits for a lock of another one. */
async function untilWaiting(): Promise<void> {
  const waiting = sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  while ((await waiting.execute(api.database.postgres.owner)).rows.length === 0) await sleep(10)
}
