// Domains over the API, with a real name server: adding, verification by exactly one team, and auto-join of users with an address
// in the domain.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { Domain } from '@pharos/contract/team/domain'
import { sql } from 'kysely'
import { startNameServer } from '@pharos/lab/name-server'
import { skipWithout } from '@pharos/lab/program'
import { createTxtResolver } from '../src/drivers/dns/txt-resolver.ts'
import { createMailToken } from '../src/session/mail-token.ts'
import { checkDueDomains } from '../src/team/domain-loop.ts'
import { addTeam, addUser, createTestApi, testPassword, type TestApi, type TestTeam } from './api.ts'

const never = new AbortController().signal

describe('the domains of a team', { skip: skipWithout('nsd') }, () => {
  let names: Awaited<ReturnType<typeof startNameServer>>
  let api: TestApi
  let [red, blue]: TestTeam[] = []
  let admins: Record<'red' | 'blue', string>
  let round = 0

  before(async () => {
    names = await startNameServer({ zone: 'example' })
    api = await createTestApi({ PHAROS_DNS_RESOLVERS: names.server, PHAROS_CHECK_REQUESTS_PER_MINUTE: '5' })
  })
  beforeEach(async () => {
    round++
    red = await addTeam(api, `red${round}`)
    blue = await addTeam(api, `blue${round}`)
    admins = { red: await bearerOf(red), blue: await bearerOf(blue) }
    await names.setRecords([])
  })
  after(async () => {
    await api[Symbol.asyncDispose]()
    await names[Symbol.asyncDispose]()
  })

  async function bearerOf(team: TestTeam, admin = true): Promise<string> {
    const { email } = await addUser(api, admin ? 'admin' : 'member', [team], { admin })
    return (await api.signIn(email)).access
  }

  async function call(
    bearer: string,
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    payload?: object,
    headers: Record<string, string> = {},
  ) {
    const url = `/v3/teams/current/domains${path}`
    const answer = await api.server.inject({
      method,
      url,
      headers: { authorization: `Bearer ${bearer}`, ...headers },
      ...(payload && { payload }),
    })
    const body = answer.body === '' ? {} : answer.json()
    return { status: answer.statusCode, etag: String(answer.headers['etag']), headers: answer.headers, body }
  }

  async function add(bearer: string, domain: string, auto_join = false): Promise<Domain> {
    const { status, body } = await call(bearer, 'POST', '', { domain, auto_join })
    assert.equal(status, 201, JSON.stringify(body))
    return body
  }

  const publish = (...domains: Domain[]) =>
    names.setRecords(
      domains.map(({ record_name, record_value }) => ({ name: record_name, text: record_value })),
    )

  it('are added with the record to create, and verified once it exists', async () => {
    const added = await add(admins.red, `Acme${round}.example.`)
    assert.equal(added.domain, `acme${round}.example`)
    assert.equal(added.record_name, `_pharos-challenge.acme${round}.example`)
    assert.match(added.record_value, /^pharos-domain-verification=[\w-]{24}$/)
    assert.deepEqual([added.verified, added.last_check, added.auto_join], [null, null, false])
    await publish(added)
    const verified = await call(admins.red, 'POST', `/${added.id}/verify`)
    assert.equal(verified.status, 200)
    assert.equal(verified.body.last_check_result, 'valid')
    assert.notEqual(verified.body.verified, null)
    assert.deepEqual((await call(admins.red, 'GET', `/${added.id}`)).body, verified.body)
    const { body } = await call(admins.red, 'GET', '?verified=true')
    assert.deepEqual(body, { results: [verified.body], count: 1 })
    assert.deepEqual((await call(admins.red, 'GET', '?verified=false')).body, { results: [], count: 0 })
  })

  it('are shown to every member, and changed by admins', async () => {
    const { id } = await add(admins.red, `acme${round}.example`)
    const member = await bearerOf(red!, false)
    assert.equal((await call(member, 'GET', `/${id}`)).status, 200)
    for (const [method, path] of [
      ['POST', `/${id}/verify`],
      ['PATCH', `/${id}`],
      ['DELETE', `/${id}`],
    ] as const)
      assert.equal(
        (await call(member, method, path, method === 'PATCH' ? {} : undefined)).body.code,
        'forbidden',
      )
  })

  it('are rejected if they are public suffixes, not resolvable, or already in the team', async () => {
    const refusals: Record<string, string> = {
      'not a domain': 'domain',
      '*.acme.net': 'domain',
      '192.0.2.1': 'domain',
      'co.uk': 'public_suffix',
      'github.io': 'public_suffix',
      'gmail.com': 'mail_provider',
      'acme.local': 'special_use',
    }
    for (const [domain, type] of Object.entries(refusals)) {
      const { status, body } = await call(admins.red, 'POST', '', { domain })
      assert.deepEqual([status, body.errors[0].type, body.errors[0].loc], [422, type, ['body', 'domain']])
    }
    await add(admins.red, `acme${round}.example`)
    const again = await call(admins.red, 'POST', '', { domain: `ACME${round}.example` })
    assert.equal(again.body.code, 'conflict')
  })

  it('can be added by several teams, and are verified for the first team that proves them', async () => {
    const domain = `acme${round}.example`
    const ours = await add(admins.red, domain)
    const theirs = await add(admins.blue, domain)
    assert.notEqual(ours.record_value, theirs.record_value)
    await publish(ours)
    assert.equal((await call(admins.red, 'POST', `/${ours.id}/verify`)).status, 200)
    const unproved = await call(admins.blue, 'POST', `/${theirs.id}/verify`)
    assert.deepEqual([unproved.status, unproved.body.last_check_result], [200, 'mismatch'])
    await publish(ours, theirs)
    // The limit is per process: another process queries immediately.
    await using other = await createTestApi(
      { PHAROS_DNS_RESOLVERS: names.server },
      { sameInstallationAs: api },
    )
    const claimed = await other.server.inject({
      method: 'POST',
      url: `/v3/teams/current/domains/${theirs.id}/verify`,
      headers: { authorization: `Bearer ${admins.blue}` },
    })
    assert.deepEqual([claimed.statusCode, claimed.json().code], [409, 'domain_claimed'])
    const { body } = await call(admins.blue, 'GET', `/${theirs.id}`)
    assert.deepEqual([body.verified, body.last_check_result], [null, 'claimed'])
  })

  it('are checked on request at most once a minute each, even if they are added again', async () => {
    const { id } = await add(admins.red, `acme${round}.example`)
    assert.equal((await call(admins.red, 'POST', `/${id}/verify`)).status, 200)
    const limited = await call(admins.red, 'POST', `/${id}/verify`)
    assert.equal(limited.body.code, 'rate_limited')
    assert.ok(Number(limited.headers['retry-after']) > 0)
    assert.equal((await call(admins.red, 'DELETE', `/${id}`)).status, 204)
    const added = await add(admins.red, `acme${round}.example`)
    assert.equal((await call(admins.red, 'POST', `/${added.id}/verify`)).body.code, 'rate_limited')
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      const one = await add(admins.red, `${name}.acme${round}.example`)
      const { status } = await call(admins.red, 'POST', `/${one.id}/verify`)
      assert.equal(status, name === 'e' ? 429 : 200, name)
    }
  })

  it('change under If-Match, and a check is not a change', async () => {
    const { id } = await add(admins.red, `acme${round}.example`)
    const { etag } = await call(admins.red, 'GET', `/${id}`)
    assert.equal((await call(admins.red, 'POST', `/${id}/verify`)).status, 200)
    const seen = await call(admins.red, 'GET', `/${id}`, undefined, { 'if-none-match': etag })
    assert.equal(seen.status, 200)
    const changed = await call(admins.red, 'PATCH', `/${id}`, { auto_join: true }, { 'if-match': etag })
    assert.deepEqual([changed.status, changed.body.auto_join], [200, true])
    const stale = await call(admins.red, 'PATCH', `/${id}`, { auto_join: false }, { 'if-match': etag })
    assert.equal(stale.body.code, 'precondition_failed')
    const gone = await call(admins.red, 'DELETE', `/${id}`, undefined, { 'if-match': changed.etag })
    assert.equal(gone.status, 204)
    assert.equal((await call(admins.red, 'GET', `/${id}`)).status, 404)
  })

  it('make users who sign in with an address there members, until the domain is lost', async () => {
    const domain = await add(admins.red, `acme${round}.example`, true)
    await publish(domain)
    assert.equal((await call(admins.red, 'POST', `/${domain.id}/verify`)).status, 200)
    const signIn = async (email: string) => {
      const { userId } = await addUser(api, email, [])
      const users = api.database.postgres.owner.updateTable('users')
      await users.set({ email }).where('id', '=', userId).execute()
      const payload = { email, password: testPassword }
      return api.server.inject({ method: 'POST', url: '/v3/session/token', payload })
    }
    const first = await signIn(`ann@acme${round}.example`)
    assert.equal(first.statusCode, 200)
    assert.deepEqual(
      [first.json().user.current_team.id, first.json().user.current_team.is_admin],
      [red!.teamId, false],
    )
    const elsewhere = await signIn(`ben@sub.acme${round}.example`)
    assert.equal(elsewhere.statusCode, 403)
    await names.setRecords([])
    await loseAfterDailyChecks()
    assert.equal((await call(admins.red, 'GET', `/${domain.id}`)).body.verified, null)
    assert.equal((await signIn(`cleo@acme${round}.example`)).statusCode, 403)
    // Members who joined stay.
    const members = await api.server.inject({
      url: '/v3/teams/current/members?email=ann',
      headers: { authorization: `Bearer ${admins.red}` },
    })
    assert.equal(members.json().count, 1)
  })

  it('make a user who confirms an address there a member', async () => {
    const domain = await add(admins.red, `acme${round}.example`, true)
    await publish(domain)
    assert.equal((await call(admins.red, 'POST', `/${domain.id}/verify`)).status, 200)
    const email = `dora@acme${round}.example`
    const { userId } = await addUser(api, email, [], { unconfirmed: true })
    const { owner } = api.database.postgres
    await owner.updateTable('users').set({ email }).where('id', '=', userId).execute()
    const token = await owner
      .transaction()
      .execute((trx) => createMailToken(trx, api.config.secret, 'confirm-email', userId, email))
    const confirmed = await api.server.inject({
      method: 'POST',
      url: '/v3/session/confirm-email',
      payload: { token },
    })
    assert.equal(confirmed.statusCode, 200, confirmed.body)
    const { access, user } = await api.server
      .inject({ method: 'POST', url: '/v3/session/token', payload: { email, password: testPassword } })
      .then((answer) => answer.json())
    assert.ok(access)
    assert.equal(user.current_team.id, red!.teamId)
    const { rows } = await sql<{ action: string; actor: string }>`
      select action, actor from audit_entries where team_id = ${red!.teamId} and action like 'member.%'`.execute(
      owner,
    )
    assert.deepEqual(rows, [{ action: 'member.join', actor: 'pharos' }])
  })

  /** Four days of daily checks. */
  async function loseAfterDailyChecks(): Promise<void> {
    const began = Date.now()
    for (let hours = 0; hours <= 100; hours += 4) {
      const deps = {
        postgres: api.database.postgres,
        ring: api.config.secret,
        txt: createTxtResolver({ servers: [names.server], timeoutMs: 5_000 }),
        now: () => new Date(began + hours * 3_600_000),
        onCheckError: (error: unknown) => assert.fail(String(error)),
      }
      await checkDueDomains(deps, never)
    }
  }
})
