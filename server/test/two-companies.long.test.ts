// Two companies with three users each: the product as a separate process, a real SMTP server for their mailboxes, and
// everything over the API except for the operator's platform file at the beginning. One scenario; each step depends on
// the earlier ones.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { TOTP } from 'otpauth'
import PostalMime from 'postal-mime'
import { createTestDatabase, type TestDatabase } from '../src/db/testing.ts'
import { startSmtpServer, type TestSmtpServer } from '../src/drivers/mail/testing-smtp.ts'
import { ServerProcess } from './support/server-process.ts'

const platform = `
teams:
  - { slug: alder, name: Alder Hosting, modules: [ipam, lighthouse] }
  - { slug: birch, name: Birch Telecom, modules: [ipam, lighthouse] }
users:
  - { email: ada@alder.example, password: first-password-of-ada, teams: [{ team: alder, admin: true }] }
  - { email: bea@birch.example, password: first-password-of-bea, teams: [{ team: birch, admin: true }] }
`

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))

// oxlint-disable-next-line typescript/no-explicit-any
type Answer = { readonly status: number; readonly body: any }
type Tokens = { readonly access: string; readonly refresh: string }

describe('two companies', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-companies-'))
  let database: TestDatabase
  let smtp: TestSmtpServer
  let pharos: ServerProcess
  let settings: Record<string, string>
  /** The passwords and authenticator secrets of the users. */
  const passwords: Record<string, string> = {
    'ada@alder.example': 'first-password-of-ada',
    'bea@birch.example': 'first-password-of-bea',
  }
  const authenticators = new Map<string, string>()

  before(async () => {
    database = await createTestDatabase()
    smtp = await startSmtpServer()
    settings = {
      DATABASE_URL: database.databaseUrl,
      PHAROS_SECRET: randomBytes(32).toString('hex'),
      PHAROS_MAIL_URL: `smtp://127.0.0.1:${smtp.port}`,
      PHAROS_MAIL_FROM: 'Net <noreply@net.example>',
      PHAROS_TRUSTED_PROXIES: '127.0.0.1',
      PHAROS_ALLOW_DOCUMENTATION_RESOURCES: 'true',
      PHAROS_SIGN_IN_LIMIT_PER_MINUTE: '1000',
    }
    writeFileSync(join(folder, 'platform.yaml'), platform)
    runCommand('apply', '-f', join(folder, 'platform.yaml'), '--yes')
    pharos = await ServerProcess.create({ folder, settings })
    await pharos.start()
  })
  after(async () => {
    await pharos?.kill('SIGTERM')
    await smtp?.stop()
    await database?.[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true })
  })

  function runCommand(...args: string[]): string {
    const env = {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      TMPDIR: process.env['TMPDIR'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      ...settings,
    }
    const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], { cwd: folder, env })
    assert.equal(status, 0, `${args.join(' ')}: ${stdout} ${stderr}`)
    return stdout.toString()
  }

  async function send(
    method: string,
    path: string,
    authorization?: string,
    body?: object,
    from = '192.0.2.1',
  ): Promise<Answer> {
    const response = await fetch(`${pharos.url}/v3${path}`, {
      method,
      signal: AbortSignal.timeout(60_000),
      headers: {
        'x-forwarded-for': from,
        ...(authorization ? { authorization } : {}),
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
  }

  async function expect(status: number, answer: Promise<Answer>): Promise<Answer['body']> {
    const { status: got, body } = await answer
    assert.equal(got, status, JSON.stringify(body))
    return body
  }

  const bearer = ({ access }: Tokens) => `Bearer ${access}`
  const codeOf = async (answer: Promise<Answer>) => (await answer).body.code

  /** Each code is accepted once: if the current code is used, the next one is used, which is already valid. */
  const spent = new Set<string>()
  function codeFor(email: string): string {
    const totp = new TOTP({ secret: authenticators.get(email)! })
    const codes = [0, 30_000].map((ahead) => totp.generate({ timestamp: Date.now() + ahead }))
    const code = codes.find((one) => !spent.has(`${email} ${one}`))!
    spent.add(`${email} ${code}`)
    return code
  }

  /** Waits until the audit log of the admin's team contains all of these actions. */
  async function untilAudited(admin: Tokens, wanted: readonly string[]): Promise<{ action: string }[]> {
    for (const end = performance.now() + 300_000; ; await sleep(200)) {
      const { results } = await expect(200, send('GET', '/audit?limit=1000', bearer(admin)))
      const missing = wanted.filter(
        (one) => !results.some(({ action }: { action: string }) => action === one),
      )
      if (missing.length === 0) return results
      assert.ok(performance.now() < end, `missing in the audit log: ${missing.join(', ')}`)
    }
  }

  async function signIn(email: string): Promise<Tokens> {
    const otp = authenticators.has(email) ? { otp: codeFor(email) } : {}
    return expect(
      200,
      send('POST', '/session/token', undefined, { email, password: passwords[email], ...otp }),
    )
  }

  /** Waits for an unread mail with that subject; returns the token of its link. */
  const read = new Set<unknown>()
  async function mailTo(email: string, subject: RegExp): Promise<string> {
    for (const end = performance.now() + 300_000; ; await sleep(50)) {
      for (const mail of smtp.mails) {
        if (!mail.to.includes(email) || read.has(mail)) continue
        const { subject: found = '', text = '' } = await PostalMime.parse(mail.bytes)
        if (!subject.test(found)) continue
        read.add(mail)
        return /#(\S+)/.exec(text)?.[1] ?? ''
      }
      assert.ok(performance.now() < end, `no mail like ${subject} to ${email}`)
    }
  }

  async function invite(admin: Tokens, email: string, isAdmin = false): Promise<string> {
    await expect(201, send('POST', '/teams/current/members', bearer(admin), { email, is_admin: isAdmin }))
    return mailTo(email, /invit/i)
  }

  async function accept(email: string, token: string): Promise<Answer['body']> {
    const shown = await expect(200, send('POST', '/session/invitation', undefined, { token }))
    assert.equal(shown.email, email)
    const account = shown.has_account
      ? {}
      : { password: (passwords[email] = `password-chosen-by-${email.split('@')[0]}`) }
    return expect(200, send('POST', '/session/invitation/accept', undefined, { token, ...account }))
  }

  it('invite users by mail, who create their accounts and sign in', async () => {
    const [ada, bea] = [await signIn('ada@alder.example'), await signIn('bea@birch.example')]
    for (const [admin, email] of [
      [ada, 'aaron@alder.example'],
      [ada, 'abby@alder.example'],
      [bea, 'bob@birch.example'],
    ] as const) {
      const accepted = await accept(email, await invite(admin, email))
      assert.equal(accepted.account_created, true)
      await signIn(email)
    }
    // Aaron consults for Birch too: the account exists already.
    const accepted = await accept('aaron@alder.example', await invite(bea, 'aaron@alder.example'))
    assert.deepEqual([accepted.account_created, accepted.team_name], [false, 'Birch Telecom'])
    for (const admin of [ada, bea]) {
      const members = await expect(200, send('GET', '/teams/current/members', bearer(admin)))
      assert.equal(members.count, 3)
    }
  })

  it('confirm a new address by the link that was mailed to it', async () => {
    const abby = await signIn('abby@alder.example')
    const body = { email: 'abigail@alder.example', current_password: passwords['abby@alder.example'] }
    await expect(202, send('POST', '/session/change-email', bearer(abby), body))
    await mailTo('abby@alder.example', /./)
    const token = await mailTo('abigail@alder.example', /confirm/i)
    await expect(200, send('POST', '/session/confirm-email', undefined, { token }))
    passwords['abigail@alder.example'] = passwords['abby@alder.example']!
    assert.equal(
      (
        await send('POST', '/session/token', undefined, {
          email: 'abby@alder.example',
          password: body.current_password,
        })
      ).status,
      401,
    )
    await signIn('abigail@alder.example')
  })

  it('enable a second factor, and can then require it of all members', async () => {
    const ada = await signIn('ada@alder.example')
    const require = (admin: Tokens) => send('PATCH', '/teams/current', bearer(admin), { require_2fa: true })
    assert.equal((await require(ada)).status, 409, 'the admin who requires it has one')
    const password = passwords['ada@alder.example']
    const { secret } = await expect(
      200,
      send('POST', '/session/totp', bearer(ada), { current_password: password }),
    )
    authenticators.set('ada@alder.example', secret)
    const confirmed = await expect(
      200,
      send('POST', '/session/totp/confirm', bearer(ada), { otp: codeFor('ada@alder.example') }),
    )
    assert.equal(confirmed.recovery_codes.length, 10)
    const again = { email: 'ada@alder.example', password }
    assert.equal(await codeOf(send('POST', '/session/token', undefined, again)), 'otp_required')
    await signIn('ada@alder.example')
    await expect(200, require(confirmed))
  })

  it('work in several teams, each with its own roles', async () => {
    const birch: number = (
      await expect(200, send('GET', '/teams', bearer(await signIn('bea@birch.example'))))
    ).results[0].id
    const aaron = await signIn('aaron@alder.example')
    const { user } = await expect(200, send('GET', '/session/token', bearer(aaron)))
    const alder = user.teams.find(({ name }: { name: string }) => name === 'Alder Hosting').id
    const inAlder = await expect(200, send('POST', '/session/token', bearer(aaron), { team_id: alder }))
    assert.equal(await codeOf(send('GET', '/ipam/announcements', bearer(inAlder))), 'second_factor_required')
    const inBirch = await expect(200, send('POST', '/session/token', bearer(inAlder), { team_id: birch }))
    await expect(200, send('GET', '/ipam/announcements', bearer(inBirch)))
    const foreign = await signIn('bob@birch.example')
    assert.equal((await send('GET', `/teams/${alder}`, bearer(foreign))).status, 404)
    assert.equal((await send('POST', '/session/token', bearer(foreign), { team_id: alder })).status, 404)
  })

  it('regain access with a forgotten password, which ends all other sessions', async () => {
    const before = await signIn('bob@birch.example')
    await expect(202, send('POST', '/session/password-reset', undefined, { email: 'bob@birch.example' }))
    const token = await mailTo('bob@birch.example', /reset/i)
    passwords['bob@birch.example'] = 'what-bob-remembers-now'
    const body = { token, new_password: passwords['bob@birch.example'] }
    await expect(200, send('POST', '/session/password-reset/confirm', undefined, body))
    assert.equal((await send('POST', '/session/refresh', undefined, { refresh: before.refresh })).status, 401)
    assert.equal(
      (await send('POST', '/session/password-reset/confirm', undefined, body)).status,
      400,
      'the link is valid once',
    )
    await signIn('bob@birch.example')
  })

  it('create a token for a program with one scope and one network', async () => {
    const bea = await signIn('bea@birch.example')
    const made = await expect(
      201,
      send('POST', '/tokens', bearer(bea), {
        name: 'poller',
        scopes: ['ipam:read'],
        allowed_subnets: ['198.51.100.0/24'],
      }),
    )
    const token = `Token ${made.token}`
    const list = (from: string) => send('GET', '/ipam/announcements', token, undefined, from)
    await expect(200, list('198.51.100.7'))
    await expect(401, list('203.0.113.7'))
    assert.equal(
      await codeOf(send('GET', '/lighthouse/security/events/related', token, undefined, '198.51.100.7')),
      'scope_missing',
    )
    assert.equal(
      (await send('GET', '/tokens', token, undefined, '198.51.100.7')).status,
      401,
      'a token cannot create tokens',
    )
    const shown = await expect(200, send('GET', `/tokens/${made.id}`, bearer(bea)))
    assert.equal(JSON.stringify(shown).includes(made.token), false)
  })

  it('remove a signed-in member, who loses access at once', async () => {
    const [bea, bob] = [await signIn('bea@birch.example'), await signIn('bob@birch.example')]
    await expect(200, send('GET', '/ipam/announcements', bearer(bob)))
    const { results } = await expect(200, send('GET', '/teams/current/members?email=bob', bearer(bea)))
    await expect(204, send('DELETE', `/teams/current/members/${results[0].id}`, bearer(bea)))
    // By a notification, see credentials.test.ts.
    for (
      const end = performance.now() + 300_000;
      (await send('GET', '/ipam/announcements', bearer(bob))).status !== 401;
    )
      assert.ok(performance.now() < end, 'a removed member still has access')
    await expect(401, send('POST', '/session/refresh', undefined, { refresh: bob.refresh }))
    const own = await expect(200, send('GET', '/teams/current/members?is_admin=true', bearer(bea)))
    assert.equal(
      await codeOf(send('DELETE', `/teams/current/members/${own.results[0].id}`, bearer(bea))),
      'last_admin',
    )
  })

  it('refresh in two tabs at the same moment, and both stay signed in', async () => {
    const bea = await signIn('bea@birch.example')
    for (let round = 0, refresh = bea.refresh; round < 20; round++) {
      const refreshed = () => expect(200, send('POST', '/session/refresh', undefined, { refresh }))
      const [one, other] = await Promise.all([refreshed(), refreshed()])
      assert.equal(one.refresh, other.refresh)
      refresh = one.refresh
    }
  })

  it('see in the audit log that a stolen token ended a session, and are notified by mail', async () => {
    const bea = await signIn('bea@birch.example')
    let newest = bea.refresh
    for (let at = 0; at < 2; at++)
      newest = (await expect(200, send('POST', '/session/refresh', undefined, { refresh: newest }))).refresh
    // The thief waits until the request cannot be mistaken for that of a second tab.
    const past = new Date(Date.now() - 60_000)
    await database.postgres.owner
      .updateTable('sessions')
      .set({ rotations: [past, past] })
      .execute()
    await expect(401, send('POST', '/session/refresh', undefined, { refresh: bea.refresh }, '203.0.113.66'))
    await expect(401, send('POST', '/session/refresh', undefined, { refresh: newest }))
    await mailTo('bea@birch.example', /session/i)
    const again = await signIn('bea@birch.example')
    const audit = await expect(200, send('GET', '/audit?action=session.reuse', bearer(again)))
    assert.equal(audit.count, 1)
    assert.deepEqual(
      [audit.results[0].address, audit.results[0].actor_name],
      ['203.0.113.66', 'bea@birch.example'],
    )
  })

  it('have a valid audit log of all steps, each their own', async () => {
    const bea = await signIn('bea@birch.example')
    const wanted = [
      'member.invite',
      'member.remove',
      'session.create',
      'session.reuse',
      'authorization.refuse',
      'token.refuse',
    ]
    // Refused calls appear in the audit log about a second after them.
    const results = await untilAudited(bea, wanted)
    assert.equal(JSON.stringify(results).includes('alder.example'), true, 'Aaron is a member of both')
    assert.equal(JSON.stringify(results).includes('ada@alder.example'), false)
    for (const end = performance.now() + 300_000; ; await sleep(200)) {
      const { results: newest } = await expect(200, send('GET', '/audit?limit=10', bearer(bea)))
      if (newest.every(({ sealed }: { sealed: boolean }) => sealed)) break
      assert.ok(performance.now() < end, 'not sealed')
    }
    runCommand('audit', 'verify')
  })
})
