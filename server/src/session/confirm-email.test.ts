import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { addTeam, createTestApi, testPassword, type TestApi, type TestTeam } from '../../test/api.ts'
import { mailsTo, templatesTo, tokenMailedTo } from '../../test/support/mails.ts'
import { addPerson, auditOfPerson, createClient, type Client } from '../../test/support/test-user.ts'

let api: TestApi
let team: TestTeam
let client: Client
before(async () => {
  api = await createTestApi({ PHAROS_PUBLIC_URL: 'https://pharos.example' })
  team = await addTeam(api, 'red')
  client = createClient(api)
})
after(() => api[Symbol.asyncDispose]())

const confirm = (token: string) => client.post('/confirm-email', { token })
const emailOf = async (userId: number) =>
  (
    await api.database.postgres.owner
      .selectFrom('users')
      .select(['email', 'email_confirmed'])
      .where('id', '=', userId)
      .executeTakeFirstOrThrow()
  ).email
/** Shifts the time of the sent mails back. */
const passed = (userId: number, minutes: number) =>
  sql`update mail_tokens set created = created - make_interval(mins => ${minutes}),
    expires = expires - make_interval(mins => ${minutes}) where user_id = ${userId}`.execute(
    api.database.postgres.owner,
  )

/** Creates a user who has requested another address; returns the token that was sent to it. */
async function changing(
  to?: string,
): Promise<{ userId: number; email: string; next: string; access: string; refresh: string }> {
  const { userId, email } = await addPerson(api, team)
  const next = to ?? `next-${email}`
  const { access, refresh } = await client.open(email)
  assert.equal((await changeEmail(access, next)).status, 202)
  return { userId, email, next, access, refresh }
}
const changeEmail = (access: string, email: string, current_password = testPassword) =>
  client.post('/change-email', { email, current_password }, access)

describe('an unconfirmed account', () => {
  it('gets a mail when its user signs in, and is confirmed by the link in it', async () => {
    const { userId, email } = await addPerson(api, team, { unconfirmed: true })
    assert.equal((await client.signIn(email)).code, 'email_unconfirmed')
    const [mail] = await mailsTo(api, email)
    assert.equal(mail?.template, 'confirm-email')
    assert.match(
      mail.content.link,
      /^https:\/\/pharos\.example\/confirm-email#phm_confirm-email\.[0-9a-f-]{36}\.[\w-]{43}$/,
    )
    assert.equal(mail.content.hours, 24)
    const { status, body } = await confirm(await tokenMailedTo(api, email, 'confirm-email'))
    assert.deepEqual([status, body.email], [200, email])
    assert.ok(Date.parse(body.confirmed) > 0)
    assert.equal((await client.signIn(email)).status, 200)
    assert.deepEqual(await auditOfPerson(api, userId), ['email.confirm'])
  })

  it('gets no mail for a sign-in with a wrong password', async () => {
    const { email } = await addPerson(api, team, { unconfirmed: true })
    assert.equal((await client.signIn(email, 'not the one')).code, 'invalid_credentials')
    assert.deepEqual(await templatesTo(api, email), [])
  })

  it('gets one mail in ten minutes, however often its user signs in', async () => {
    const { userId, email } = await addPerson(api, team, { unconfirmed: true })
    await Promise.all([client.signIn(email), client.signIn(email), client.signIn(email)])
    await client.signIn(email)
    assert.equal((await templatesTo(api, email)).length, 1)
    await passed(userId, 10)
    await client.signIn(email)
    assert.equal((await templatesTo(api, email)).length, 2)
  })
})

describe('a mail token', () => {
  const unconfirmed = async () => {
    const { userId, email } = await addPerson(api, team, { unconfirmed: true })
    await client.signIn(email)
    return { userId, email, token: await tokenMailedTo(api, email, 'confirm-email') }
  }

  it('returns the same answer when repeated, without further effect', async () => {
    const { userId, token } = await unconfirmed()
    const answers = [await confirm(token), await confirm(token), await confirm(token)]
    assert.equal(new Set(answers.map((answer) => JSON.stringify(answer))).size, 1)
    assert.equal(answers[0]!.status, 200)
    assert.deepEqual(await auditOfPerson(api, userId), ['email.confirm'])
  })

  it('takes effect once when sent twice at once', async () => {
    const { userId, token } = await unconfirmed()
    const answers = await Promise.all([confirm(token), confirm(token), confirm(token)])
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
    assert.equal(new Set(answers.map(({ body }) => body.confirmed)).size, 1)
    assert.deepEqual(await auditOfPerson(api, userId), ['email.confirm'])
  })

  it('gets the same error if unknown, expired or outdated', async () => {
    const [expired, old, gone] = [await unconfirmed(), await unconfirmed(), await unconfirmed()]
    await passed(expired.userId, 24 * 60 + 1)
    const { owner } = api.database.postgres
    await sql`update users set password_hash = 'another' where id = ${old.userId}`.execute(owner)
    await sql`delete from users where id = ${gone.userId}`.execute(owner)
    const { token } = await unconfirmed()
    const forged = [
      token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A'),
      token.replace('confirm-email', 'password-reset'),
      token.replace(/\.[0-9a-f-]{36}\./, '.00000000-0000-4000-8000-000000000000.'),
      'phm_confirm-email',
      'nonsense',
    ]
    const answers = await Promise.all([expired.token, old.token, gone.token, ...forged].map(confirm))
    const strip = ({ status, body }: (typeof answers)[number]) => ({ status, ...body, request_id: '' })
    assert.equal(answers[0]!.code, 'invalid_token')
    assert.equal(answers[0]!.status, 400)
    for (const answer of answers) assert.deepEqual(strip(answer), strip(answers[0]!))
    assert.equal((await confirm(token)).status, 200)
  })

  it('is stored only as a MAC', async () => {
    const { token } = await unconfirmed()
    const rows = await api.database.postgres.owner.selectFrom('mail_tokens').selectAll().execute()
    const secret = token.split('.')[2]!
    assert.ok(rows.length > 0)
    assert.ok(rows.every((row) => !JSON.stringify(row).includes(secret)))
    assert.ok(rows.every((row) => !row.secret_mac.includes(Buffer.from(secret, 'base64url'))))
  })
})

describe('changing the address', () => {
  it('sends the link to the new address and a notice to the old one, and changes nothing yet', async () => {
    const { userId, email, next } = await changing()
    assert.deepEqual(await templatesTo(api, next), ['confirm-email'])
    const [notice] = await mailsTo(api, email)
    assert.equal(notice?.template, 'email-changing')
    assert.equal((notice.content as { to: string }).to, next)
    assert.equal(await emailOf(userId), email)
    assert.deepEqual(await auditOfPerson(api, userId), ['email.change'])
  })

  it('takes effect when the link is followed, which may be repeated', async () => {
    const { userId, email, next } = await changing()
    const token = await tokenMailedTo(api, next, 'confirm-email')
    const first = await confirm(token)
    assert.deepEqual([first.status, first.body.email], [200, next])
    assert.equal(await emailOf(userId), next)
    assert.deepEqual(await confirm(token), first)
    assert.equal((await client.signIn(email)).code, 'invalid_credentials')
    assert.equal((await client.signIn(next)).status, 200)
    assert.deepEqual(await auditOfPerson(api, userId), ['email.change', 'email.confirm'])
  })

  it('revokes every session, but none if the same address is confirmed again', async () => {
    const { access, next, refresh } = await changing()
    const token = await tokenMailedTo(api, next, 'confirm-email')
    assert.equal((await client.send('GET', '/token', access)).status, 200)
    await confirm(token)
    assert.equal((await client.post('/refresh', { refresh })).code, 'token_not_valid')
    const signedIn = await client.open(next)
    await confirm(token)
    assert.equal((await client.post('/refresh', { refresh: signedIn.refresh })).status, 200)
  })

  it('does not reveal that another account has the new address, and sends no link to it', async () => {
    const other = await addPerson(api, team)
    const { access } = await changing()
    const [free, taken] = [
      await changeEmail(access, 'nobody-yet@red.example'),
      await changeEmail(access, other.email.toUpperCase()),
    ]
    assert.deepEqual(free, taken)
    assert.equal(taken.status, 202)
    assert.deepEqual(await templatesTo(api, other.email), [])
    assert.deepEqual(await templatesTo(api, other.email.toUpperCase()), [])
  })

  it('gives the address to the account that confirms it first; the other token is invalid', async () => {
    const [one, two] = [await changing('wanted@red.example'), await changing('Wanted@red.example')]
    const tokens = await Promise.all([
      tokenMailedTo(api, one.next, 'confirm-email'),
      tokenMailedTo(api, two.next, 'confirm-email'),
    ])
    const answers = await Promise.all(tokens.map(confirm))
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 400])
    const [won, lost] = answers[0]!.status === 200 ? [one, two] : [two, one]
    assert.equal(await emailOf(won.userId), won.next)
    assert.equal(await emailOf(lost.userId), lost.email)
  })

  it('uses the latest request only', async () => {
    const { access, userId, next } = await changing()
    const mistyped = await tokenMailedTo(api, next, 'confirm-email')
    const meant = `meant-${next}`
    await changeEmail(access, meant)
    assert.equal((await confirm(mistyped)).code, 'invalid_token')
    assert.equal((await confirm(await tokenMailedTo(api, meant, 'confirm-email'))).status, 200)
    assert.equal(await emailOf(userId), meant)
  })

  it('invalidates the mail links sent to the old address', async () => {
    const { email, next } = await changing()
    await client.post('/password-reset', { email })
    const reset = await untilMailed(email)
    await confirm(await tokenMailedTo(api, next, 'confirm-email'))
    const body = { token: reset, new_password: 'blue kettle rainy tram' }
    assert.equal((await client.post('/password-reset/confirm', body)).code, 'invalid_token')
  })

  it('requires the password and a different, valid address', async () => {
    const { access, email } = await changing()
    assert.equal((await changeEmail(access, 'other@red.example', 'not the one')).code, 'wrong_password')
    const same = await changeEmail(access, email.toUpperCase())
    assert.deepEqual(same.body.errors[0].loc, ['body', 'email'])
    for (const address of [
      'nothing',
      'a@b@c',
      'a b@red.example',
      'a@red.example\r\nBcc: b@x.example',
      '@x',
      'a@',
    ])
      assert.equal((await changeEmail(access, address)).status, 422, address)
    assert.equal((await client.post('/change-email', { email, current_password: testPassword })).status, 401)
  })
})

/** Waits for the tasks after the answer. */
async function untilMailed(email: string): Promise<string> {
  const deadline = Date.now() + 300_000
  while (!(await templatesTo(api, email)).includes('password-reset'))
    assert.ok(Date.now() < deadline, 'no mail was sent')
  return tokenMailedTo(api, email, 'password-reset')
}

describe('the limit of mails', () => {
  it('is per address, and does not reveal whether it has an account', async () => {
    await using strict = await createTestApi({ PHAROS_ACCOUNT_MAILS_PER_HOUR: '2' })
    const red = await addTeam(strict, 'red')
    const { email } = await addPerson(strict, red)
    const strictClient = createClient(strict)
    const ask = (address: string) => strictClient.post('/password-reset', { email: address })
    for (const address of [email, 'nobody@red.example']) {
      const statuses = [await ask(address), await ask(address.toUpperCase()), await ask(address)]
      assert.deepEqual(
        statuses.map(({ status }) => status),
        [202, 202, 429],
      )
    }
    const { access } = await strictClient.open(email)
    const changed = { email, current_password: testPassword }
    assert.equal((await strictClient.post('/change-email', changed, access)).code, 'rate_limited')
  })

  it('is per client address too', async () => {
    await using strict = await createTestApi({ PHAROS_ACCOUNT_MAILS_PER_HOUR: '1' })
    const strictClient = createClient(strict)
    const statuses: number[] = []
    for (let n = 0; n < 11; n++)
      statuses.push((await strictClient.post('/password-reset', { email: `n${n}@red.example` })).status)
    assert.deepEqual(statuses, [...Array(10).fill(202), 429])
  })
})

describe('another spelling of an address', () => {
  it('identifies the same account: Unicode domain, decomposed local part, capitals', async () => {
    const { access, userId } = await changing()
    await changeEmail(access, 'Zoë@Müller.example'.normalize('NFD'))
    const kept = 'Zoë@xn--mller-kva.example'
    assert.equal((await confirm(await tokenMailedTo(api, kept, 'confirm-email'))).body.email, kept)
    assert.equal(await emailOf(userId), kept)
    for (const typed of [
      'zoë@müller.example',
      'ZOË@MÜLLER.EXAMPLE',
      kept,
      'zoë@müller.example'.normalize('NFD'),
    ])
      assert.equal((await client.signIn(typed)).status, 200, typed)
    await client.post('/password-reset', { email: 'ZOË@müller.example' })
    await untilMailed(kept)
  })
})
