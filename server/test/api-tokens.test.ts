// API tokens over HTTP, as an admin of a team creates them and as programs use them.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { problems, type Problem, type ProblemCode } from '@pharos/contract/problem'
import { scopes } from '@pharos/contract/scope'
import type { CreatedToken, Token } from '@pharos/contract/team/token'
import { sql } from 'kysely'
import type { WakeName } from '../src/db/wake.ts'
import { parseApiToken } from '../src/session/api-token-format.ts'
import { addTeam, addUser, createTestApi, type TestApi, type TestTeam } from './api.ts'
import { openSession } from './support/credentials.ts'
import { until } from '../../lab/src/wait.ts'

const proxy = '192.0.2.250'

let api: TestApi
let team: TestTeam
let admin: { readonly userId: number; readonly bearer: string }
before(async () => {
  api = await createTestApi({ PHAROS_TRUSTED_PROXIES: proxy })
  ;({ team, admin } = await addCompany('red'))
})
after(() => api[Symbol.asyncDispose]())

async function addCompany(slug: string) {
  const company = await addTeam(api, slug)
  const { userId } = await addUser(api, 'admin', [company], { admin: true })
  const { access } = await openSession(api, userId, company.teamId)
  return { team: company, admin: { userId, bearer: `Bearer ${access}` } }
}

type Sent = {
  readonly url?: string
  readonly payload?: object
  readonly headers?: Record<string, string>
  readonly authorization?: string
  readonly server?: TestApi
}

function send(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', sent: Sent) {
  const { url = '', payload, headers, authorization = admin.bearer, server = api } = sent
  return server.server.inject({
    method,
    url: `/v3/tokens${url}`,
    headers: { authorization, ...headers },
    ...(payload ? { payload } : {}),
  })
}

const wanted = { name: 'backup', scopes: ['ipam:read'] }

async function make(rest: object = {}, sent: Omit<Sent, 'payload'> = {}): Promise<CreatedToken> {
  const response = await send('POST', { ...sent, payload: { ...wanted, ...rest } })
  assert.equal(response.statusCode, 201, response.body)
  return response.json()
}

const read = async (id: string): Promise<Token> => (await send('GET', { url: `/${id}` })).json()

function assertProblem(response: { statusCode: number; body: string }, code: ProblemCode): Problem {
  const problem = JSON.parse(response.body) as Problem
  assert.equal(problem.code, code, response.body)
  assert.equal(response.statusCode, problems[code].status)
  return problem
}

/** A call that any token with ipam:read may make. */
function use(token: string, options: { from?: string; forwarded?: string; server?: TestApi } = {}) {
  const { from = '127.0.0.1', forwarded, server = api } = options
  return server.server.inject({
    url: '/v3/ipam/regions',
    remoteAddress: from,
    headers: {
      authorization: `Token ${token}`,
      ...(forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }),
    },
  })
}

const statusOf = async (call: Promise<{ statusCode: number }>): Promise<number> => (await call).statusCode

describe('a new token', () => {
  it('is shown with its secret once, and is accepted', async () => {
    const made = await make({ max_unused_days: 30, expires: '2030-01-01T00:00:00+02:00' })
    const { token, ...rest } = made
    assert.deepEqual(rest, {
      id: parseApiToken(token)!.id,
      name: 'backup',
      scopes: ['ipam:read'],
      is_admin: false,
      allowed_subnets: [],
      created: rest.created,
      created_by: `user:${admin.userId}`,
      expires: '2029-12-31T22:00:00.000Z',
      max_unused_days: 30,
      last_used: null,
      last_used_address: null,
      active: true,
      inactive_reason: null,
      resources: null,
      service_account_id: null,
      previous_secret_until: null,
    })
    assert.deepEqual(await read(made.id), rest)
    assert.equal(await statusOf(use(token)), 200)
    const { secret } = parseApiToken(token)!
    for (const table of ['api_tokens', 'audit_entries', 'idempotency_keys']) {
      const { rows } = await sql<{ text: string }>`select t::text as text from ${sql.table(table)} t`.execute(
        api.database.postgres.owner,
      )
      assert.ok(!rows.some(({ text }) => text.includes(secret)), table)
    }
  })

  it('reads itself with its role, the modules of the team, and an ETag that its use does not change', async () => {
    const { token } = await make({ scopes: ['ipam:read'] })
    const whoAmI = (headers = {}) =>
      api.server.inject({
        url: '/v3/session/token',
        headers: { authorization: `Token ${token}`, ...headers },
      })
    const first = await whoAmI()
    const { scopes, is_admin, modules } = first.json().token
    assert.deepEqual([scopes, is_admin, modules.includes('ipam')], [['ipam:read'], false, true])
    assert.match(String(first.headers.etag), /^"[\w-]+"$/)
    await api.settled()
    assert.equal((await whoAmI({ 'if-none-match': String(first.headers.etag) })).statusCode, 304)
  })

  it('has `expires: null` in every response if it does not expire', async () => {
    {
      const made = await make({ expires: null })
      const { results } = (await send('GET', { url: '?limit=1000' })).json()
      const whoAmI = await api.server.inject({
        url: '/v3/session/token',
        headers: { authorization: `Token ${made.token}` },
      })
      const { rows } = await sql<{ after: object }>`
        select after from audit_entries where target = ${`api_token:${made.id}`}`.execute(
        api.database.postgres.owner,
      )
      const shown: unknown[] = [
        made,
        await read(made.id),
        results.find(({ id }: Token) => id === made.id),
        whoAmI.json().token,
        rows[0]!.after,
      ]
      for (const one of shown) assert.equal((one as Token).expires, null, JSON.stringify(one))
    }
  })

  it('is audited with its permissions', async () => {
    const { id } = await make({ is_admin: true, allowed_subnets: ['192.0.2.0/24'], expires: null })
    await send('PATCH', { url: `/${id}`, payload: { name: 'other', allowed_subnets: ['192.0.2.7'] } })
    await send('DELETE', { url: `/${id}` })
    const entries = await api.database.postgres.owner
      .selectFrom('audit_entries')
      .select(['actor', 'action', 'before', 'after', 'team_id'])
      .where('target', '=', `api_token:${id}`)
      .orderBy('id')
      .execute()
    const first = {
      name: 'backup',
      scopes: ['ipam:read'],
      networks: ['192.0.2.0/24'],
      isAdmin: true,
      expires: null,
      maxUnusedDays: null,
    }
    const second = { ...first, name: 'other', networks: ['192.0.2.7/32'] }
    const by = { actor: `user:${admin.userId}`, team_id: team.teamId }
    assert.deepEqual(entries, [
      { ...by, action: 'api_token.create', before: null, after: first },
      { ...by, action: 'api_token.update', before: first, after: second },
      { ...by, action: 'api_token.revoke', before: second, after: null },
    ])
  })

  it('may have a scope of a module that the team does not have, and calls of that scope are refused', async () => {
    const bare = await addCompany('modest')
    await sql`update teams set enabled_modules = '{}' where id = ${bare.team.teamId}`.execute(
      api.database.postgres.owner,
    )
    const { token } = await make({}, { authorization: bare.admin.bearer })
    assertProblem(await use(token), 'module_disabled')
  })

  it('is returned again for a repeat with the same Idempotency-Key, and the stored response is encrypted', async () => {
    const headers = { 'idempotency-key': 'lost-answer' }
    const first = await make({}, { headers })
    assert.deepEqual(await make({}, { headers }), first)
    const { rows } = await sql<{
      body: unknown
    }>`select body from idempotency_keys where key = 'lost-answer'`.execute(api.database.postgres.owner)
    assert.equal(rows.length, 1)
    assert.ok(!JSON.stringify(rows).includes(parseApiToken(first.token)!.secret))
    assertProblem(
      await send('POST', { headers, payload: { ...wanted, name: 'other' } }),
      'idempotency_mismatch',
    )
    // Idempotency keys are separate per user: no user gets the secret of another.
    const { userId } = await addUser(api, 'second', [team], { admin: true })
    const { access } = await openSession(api, userId, team.teamId)
    const other = await make({}, { headers, authorization: `Bearer ${access}` })
    assert.notEqual(other.id, first.id)
  })
})

const refusals: Record<string, readonly [body: object, at: unknown[], type: string, ctx?: object]> = {
  'an unknown scope': [{ scopes: ['ipam:raed'] }, ['scopes', 0], 'enum', { allowed: [...scopes] }],
  'no scope': [{ scopes: [] }, ['scopes'], 'minItems', { limit: 1 }],
  'a scope twice': [
    { scopes: ['ipam:read', 'ipam:read'] },
    ['scopes'],
    'uniqueItems',
    { duplicateItems: [1] },
  ],
  'a blank name': [{ name: ' \t' }, ['name'], 'pattern'],
  'a name of 201 characters': [{ name: 'x'.repeat(201) }, ['name'], 'maxLength', { limit: 200 }],
  'an expiry in the past': [{ expires: '2020-01-01' }, ['expires'], 'past'],
  'an expiry that is not a time': [{ expires: 'soon' }, ['expires'], 'format'],
  'an expiry too far in the future': [{ expires: '9999-01-01' }, ['expires'], 'too_far'],
  'no days': [{ max_unused_days: 0 }, ['max_unused_days'], 'minimum'],
  'more than ten years in days': [{ max_unused_days: 3651 }, ['max_unused_days'], 'maximum'],
  'half a day': [{ max_unused_days: 0.5 }, ['max_unused_days'], 'type'],
  'host bits': [
    { allowed_subnets: ['2001:db8::/32', '192.0.2.7/24'] },
    ['allowed_subnets', 1],
    'host_bits',
    { canonical: '192.0.2.0/24' },
  ],
  'an IPv4-mapped IPv6 network': [
    { allowed_subnets: ['::ffff:192.0.2.0/120'] },
    ['allowed_subnets', 0],
    'mapped',
    { canonical: '192.0.2.0/24' },
  ],
  'no network': [{ allowed_subnets: ['office'] }, ['allowed_subnets', 0], 'syntax'],
  'a role that is not a boolean': [{ is_admin: 'false' }, ['is_admin'], 'type'],
  'an unknown field': [{ networks: [] }, ['networks'], 'unknown'],
}

describe('an invalid token request', () => {
  for (const [what, [body, at, type, ctx]] of Object.entries(refusals)) {
    it(`is rejected for ${what}, with the place of the error`, async () => {
      const { errors } = assertProblem(await send('POST', { payload: { ...wanted, ...body } }), 'invalid')
      const found = errors!.find((error) => error.type === type)
      assert.ok(found, JSON.stringify(errors))
      assert.deepEqual(found.loc, ['body', ...at])
      if (ctx) assert.deepEqual(found.ctx, ctx)
    })
  }

  it('returns all errors at once', async () => {
    const payload = { ...wanted, allowed_subnets: ['192.0.2.7/24', 'x'], expires: '2020-01-01' }
    const { errors } = assertProblem(await send('POST', { payload }), 'invalid')
    assert.deepEqual(
      errors!.map(({ type }) => type),
      ['host_bits', 'syntax', 'past'],
    )
  })

  it('is rejected if the team has the maximum number of tokens, until one is deleted', async () => {
    await using strict = await createTestApi({ PHAROS_API_TOKENS_PER_TEAM: '2' }, { sameInstallationAs: api })
    const { admin: other } = await addCompany('frugal')
    const sent = { server: strict, authorization: other.bearer }
    const [first] = await Promise.all([make({}, sent), make({}, sent)])
    assertProblem(await send('POST', { ...sent, payload: wanted }), 'quota_exceeded')
    await send('DELETE', { ...sent, url: `/${first.id}` })
    const answers = await Promise.all([1, 2, 3].map(() => send('POST', { ...sent, payload: wanted })))
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).toSorted(), [201, 403, 403])
  })

  it('cannot be created by a token, whatever its permissions', async () => {
    const { token } = await make({ scopes: [...scopes], is_admin: true })
    assertProblem(await send('POST', { payload: wanted, authorization: `Token ${token}` }), 'unauthenticated')
  })
})

describe('the list of tokens', () => {
  it('has filters, sorting and an exact count, and contains neither secrets nor revoked tokens', async () => {
    const { admin: other } = await addCompany('listing')
    const sent = { authorization: other.bearer }
    const [a, b, c] = [
      await make({ name: 'Backup of the router', expires: null }, sent),
      await make({ name: 'terraform', expires: '2030-01-01' }, sent),
      await make({ name: 'old BACKUP', expires: '2029-01-01' }, sent),
    ]
    const gone = await make({ name: 'backup that leaked' }, sent)
    await send('DELETE', { ...sent, url: `/${gone.id}` })
    await sql`update api_tokens set expires = now() - interval '1 second' where id = ${c.id}`.execute(
      api.database.postgres.owner,
    )
    await sql`update api_tokens set last_used = now() where id = ${b.id}`.execute(api.database.postgres.owner)
    const list = async (query: string) => {
      const response = await send('GET', { ...sent, url: `?${query}` })
      const { results, count } = response.json() as { results: Token[]; count: number }
      assert.ok(!response.body.includes('"token"'))
      return [results.map(({ id }) => id), count]
    }
    assert.deepEqual(await list(''), [[c.id, b.id, a.id], 3])
    assert.deepEqual(await list('name=BackUp&ordering=created'), [[a.id, c.id], 2])
    assert.deepEqual(await list('active=true&ordering=name'), [[a.id, b.id], 2])
    assert.deepEqual(await list('active=false'), [[c.id], 1])
    assert.deepEqual(await list('ordering=expires'), [[c.id, b.id, a.id], 3])
    assert.deepEqual(await list('ordering=-last_used,created'), [[b.id, a.id, c.id], 3])
    assert.deepEqual(await list('ordering=created&limit=1&offset=1'), [[b.id], 3])
    assert.deepEqual(await list('offset=9'), [[], 3])
    assertProblem(await send('GET', { ...sent, url: '?ordering=secret' }), 'invalid')
  })

  it('returns the reason why a token expired', async () => {
    const expired = await make()
    const unused = await make({ max_unused_days: 2 })
    const { owner } = api.database.postgres
    await sql`update api_tokens set expires = now() where id = ${expired.id}`.execute(owner)
    await sql`update api_tokens set created = now() - interval '3 days' where id = ${unused.id}`.execute(
      owner,
    )
    assert.deepEqual(
      [(await read(expired.id)).inactive_reason, (await read(unused.id)).inactive_reason],
      ['expired', 'unused'],
    )
    for (const { token } of [expired, unused]) assert.equal(await statusOf(use(token)), 401)
    assertProblem(await send('PATCH', { url: `/${expired.id}`, payload: { expires: null } }), 'conflict')
    assertProblem(
      await send('PATCH', { url: `/${unused.id}`, payload: { expires: '2030-01-01' } }),
      'conflict',
    )
    assert.equal((await send('PATCH', { url: `/${unused.id}`, payload: { name: 'x' } })).statusCode, 200)
  })
})

describe('changing a token', () => {
  it('keeps the fields that are not named, and returns what the next GET returns', async () => {
    const {
      id,
      token: _,
      ...made
    } = await make({
      expires: '2030-01-01',
      allowed_subnets: ['2001:db8::/64', '198.51.100.0/23'],
    })
    const response = await send('PATCH', {
      url: `/${id}`,
      payload: { allowed_subnets: ['2001:DB8::7', '2001:db8:0::7', '198.51.100.0/24'] },
    })
    assert.deepEqual(response.json(), {
      id,
      ...made,
      allowed_subnets: ['2001:db8::7/128', '198.51.100.0/24'],
    })
    const again = await send('GET', { url: `/${id}` })
    assert.equal(again.body, response.body)
    assert.equal(again.headers.etag, response.headers.etag)
    const same = await send('GET', { url: `/${id}`, headers: { 'if-none-match': again.headers.etag! } })
    assert.equal(same.statusCode, 304)
  })

  it('never adds permissions', async () => {
    const { id } = await make()
    for (const payload of [{ scopes: ['ipam:write'] }, { is_admin: true }, { max_unused_days: null }])
      assertProblem(await send('PATCH', { url: `/${id}`, payload }), 'invalid')
    assertProblem(await send('PATCH', { url: `/${id}`, payload: { expires: '2020-01-01' } }), 'invalid')
    assertProblem(
      await send('PATCH', { url: `/${id}`, payload: { allowed_subnets: ['192.0.2.7/24'] } }),
      'invalid',
    )
  })

  it('only narrows: it ends earlier, and is used from fewer networks', async () => {
    const { id } = await make({ expires: '2028-01-01', allowed_subnets: ['192.0.2.0/24', '2001:db8::/48'] })
    const { id: open } = await make({ expires: null })
    const patch = (payload: object, token = id) => send('PATCH', { url: `/${token}`, payload })
    for (const payload of [
      { expires: null },
      { expires: '2028-01-02' },
      { allowed_subnets: [] },
      { allowed_subnets: ['192.0.2.0/23'] },
      { allowed_subnets: ['192.0.2.0/25', '198.51.100.0/24'] },
    ])
      assert.equal(assertProblem(await patch(payload), 'invalid').errors![0]!.type, 'widens')
    for (const payload of [
      { expires: '2027-12-31' },
      { allowed_subnets: ['192.0.2.0/24'] },
      { allowed_subnets: ['192.0.2.128/25'] },
    ])
      assert.equal((await patch(payload)).statusCode, 200)
    assert.equal(
      (await patch({ expires: '2028-01-01', allowed_subnets: ['192.0.2.0/24'] }, open)).statusCode,
      200,
    )
  })

  it('is rejected with an outdated ETag; using the token does not change the ETag', async () => {
    const { id } = await make()
    const seen = (await send('GET', { url: `/${id}` })).headers.etag!
    await sql`update api_tokens set last_used = now() where id = ${id}`.execute(api.database.postgres.owner)
    const patch = (name: string) =>
      send('PATCH', { url: `/${id}`, payload: { name }, headers: { 'if-match': seen } })
    assert.equal((await patch('first')).statusCode, 200)
    assertProblem(await patch('second'), 'precondition_failed')
    assertProblem(
      await send('DELETE', { url: `/${id}`, headers: { 'if-match': seen } }),
      'precondition_failed',
    )
    assert.equal((await read(id)).name, 'first')
  })

  it('is audited only if something changed', async () => {
    const { id } = await make()
    assert.equal((await send('PATCH', { url: `/${id}`, payload: { name: 'backup' } })).statusCode, 200)
    assert.equal((await send('PATCH', { url: `/${id}`, payload: {} })).statusCode, 200)
    const { rows } = await sql`
      select from audit_entries where target = ${`api_token:${id}`} and action = 'api_token.update'`.execute(
      api.database.postgres.owner,
    )
    assert.equal(rows.length, 0)
  })
})

describe('a deleted token', () => {
  it('is not found, and is rejected by every process', async () => {
    await using second = await createTestApi({}, { sameInstallationAs: api })
    const { id, token } = await make()
    for (const server of [api, second])
      for (let n = 0; n < 2; n++) assert.equal(await statusOf(use(token, { server })), 200)
    const nextNotification = (name: WakeName) =>
      Promise.all([api, second].map(({ waker }) => new Promise<void>((resolve) => waker.on(name, resolve))))
    // Notifications arrive in order: after this one, all earlier changes have been processed.
    const before = nextNotification('mails')
    await sql`select pg_notify('pharos', 'mails')`.execute(api.database.postgres.owner)
    await before
    const notified = nextNotification('actors')
    assert.equal((await send('DELETE', { url: `/${id}` })).statusCode, 204)
    // A process caches the token until the notification.
    await notified
    for (const server of [api, second]) assert.equal(await statusOf(use(token, { server })), 401)
    for (const method of ['GET', 'DELETE'] as const)
      assertProblem(await send(method, { url: `/${id}` }), 'not_found')
    assertProblem(await send('PATCH', { url: `/${id}`, payload: { name: 'x' } }), 'not_found')
  })

  it('is not found by another team from the start', async () => {
    const { id, token } = await make()
    const { admin: other } = await addCompany('foreign')
    const sent = { authorization: other.bearer, url: `/${id}` }
    assertProblem(await send('GET', sent), 'not_found')
    assertProblem(await send('PATCH', { ...sent, payload: { name: 'mine' } }), 'not_found')
    assertProblem(await send('DELETE', sent), 'not_found')
    assert.equal(await statusOf(use(token)), 200)
  })
})

describe('a token with allowed networks', () => {
  it('is accepted from inside them and rejected from outside, by the address of the connection', async () => {
    const { token } = await make({ allowed_subnets: ['198.51.100.0/24', '2001:db8:7::/48', '192.0.2.1'] })
    const outcomes: Record<string, number> = {
      '198.51.100.9': 200,
      '::ffff:198.51.100.9': 200,
      '2001:db8:7::1': 200,
      '192.0.2.1': 200,
      '198.51.101.9': 401,
      '192.0.2.2': 401,
      '2001:db8:8::1': 401,
      '::ffff:198.51.101.9': 401,
    }
    for (const [from, status] of Object.entries(outcomes))
      assert.equal(await statusOf(use(token, { from })), status, from)
  })

  it('uses X-Forwarded-For of trusted proxies only', async () => {
    const { token } = await make({ allowed_subnets: ['198.51.100.0/24'] })
    const from = (from: string, forwarded: string) => statusOf(use(token, { from, forwarded }))
    assert.equal(await from(proxy, '198.51.100.9'), 200)
    assert.equal(await from(proxy, '203.0.113.1'), 401)
    // A value sent by the client precedes the value added by the proxy.
    assert.equal(await from(proxy, '198.51.100.9, 203.0.113.1'), 401)
    assert.equal(await from('203.0.113.1', '198.51.100.9'), 401)
    assert.equal(await from('198.51.100.9', '203.0.113.1'), 200)
    // Some proxies add the port of the client, or a word.
    assert.equal(await from(proxy, '198.51.100.9:1234'), 200)
    assert.equal(await from(proxy, '203.0.113.1:1234'), 401)
    assert.equal(await from(proxy, '[2001:db8::1]:443'), 401)
    assert.equal(await from(proxy, '198.51.100.9, unknown'), 401)
  })

  it('uses changed networks at once', async () => {
    const { id, token } = await make()
    const from = '203.0.113.1'
    assert.equal(await statusOf(use(token, { from: '198.51.100.9' })), 200)
    await send('PATCH', { url: `/${id}`, payload: { allowed_subnets: ['203.0.113.0/24'] } })
    assert.equal(await statusOf(use(token, { from })), 200)
    await until(async () => (await statusOf(use(token, { from: '198.51.100.9' }))) === 401)
  })
})

describe('the last use of a token', () => {
  it('is recorded with the address, at most once a minute for any number of processes', async () => {
    await using second = await createTestApi({}, { sameInstallationAs: api })
    const { id, token } = await make()
    await use(token, { from: '::ffff:198.51.100.9' })
    await until(async () => (await read(id)).last_used !== null)
    const first = await read(id)
    assert.equal(first.last_used_address, '198.51.100.9')
    // A process that has not recorded the use yet tries to; the condition of the UPDATE prevents a second write.
    await use(token, { from: '198.51.100.10', server: second })
    await use(token, { from: '198.51.100.10', server: second })
    const marker = await make()
    await use(marker.token, { server: second })
    await until(async () => (await read(marker.id)).last_used !== null)
    assert.deepEqual(await read(id), first)
    await sql`update api_tokens set last_used = last_used - interval '61 seconds' where id = ${id}`.execute(
      api.database.postgres.owner,
    )
    await using third = await createTestApi({}, { sameInstallationAs: api })
    await use(token, { from: '198.51.100.11', server: third })
    await until(async () => (await read(id)).last_used_address === '198.51.100.11')
  })

  it('is not recorded for a call from a network that is not allowed', async () => {
    const { id, token } = await make({ allowed_subnets: ['198.51.100.0/24'] })
    await use(token, { from: '203.0.113.1' })
    const marker = await make()
    await use(marker.token)
    await until(async () => (await read(marker.id)).last_used !== null)
    assert.equal((await read(id)).last_used, null)
  })
})

describe('the rate limit', () => {
  it('applies to each token, not to the team', async () => {
    await using slow = await createTestApi(
      { PHAROS_RATE_LIMIT_PER_SECOND: '1', PHAROS_RATE_LIMIT_BURST: '2' },
      { sameInstallationAs: api },
    )
    const [busy, other] = [await make(), await make()]
    const calls = Array.from({ length: 50 }, () => statusOf(use(busy.token, { server: slow })))
    const statuses = await Promise.all(calls)
    assert.ok(statuses.includes(429), statuses.join(' '))
    assert.equal(await statusOf(use(other.token, { server: slow })), 200)
  })
})

describe('the expiry of a new token', () => {
  const days = (token: Token): number =>
    Math.round((Date.parse(token.expires!) - Date.parse(token.created)) / 86_400_000)

  it('is in 365 days by default', async () => {
    assert.equal(days(await make()), 365)
  })

  it('is no later than the team allows, and a token without expiry is refused then', async () => {
    const { admin: other, team: strict } = await addCompany('days')
    const sent = { authorization: other.bearer }
    const limit = (max: number | null) =>
      api.server.inject({
        method: 'PATCH',
        url: '/v3/teams/current',
        headers: sent,
        payload: { token_days_max: max },
      })
    assert.equal((await limit(30)).json().token_days_max, 30)
    assert.equal(days(await make({}, sent)), 30)
    const later = new Date(Date.now() + 31 * 86_400_000).toISOString()
    for (const expires of [null, later]) {
      const refused = await send('POST', { ...sent, payload: { ...wanted, expires } })
      assert.deepEqual(assertProblem(refused, 'invalid').errors![0]!.loc, ['body', 'expires'])
    }
    assert.equal((await limit(null)).json().token_days_max, null)
    assert.equal((await make({ expires: null }, sent)).expires, null)
    assert.ok(strict.teamId > 0)
  })
})

describe('rotation', () => {
  const rotate = (id: string, payload?: object) =>
    send('POST', { url: `/${id}/rotate`, ...(payload ? { payload } : {}) })

  it('gives a new secret with the same id, and the former one works for the overlap', async () => {
    const made = await make({ allowed_subnets: ['127.0.0.1'] })
    const response = await rotate(made.id)
    assert.equal(response.statusCode, 200, response.body)
    const rotated = response.json() as CreatedToken
    assert.equal(rotated.id, made.id)
    assert.notEqual(rotated.token, made.token)
    assert.deepEqual([rotated.expires, rotated.allowed_subnets], [made.expires, made.allowed_subnets])
    const hours = (Date.parse(rotated.previous_secret_until!) - Date.now()) / 3_600_000
    assert.ok(hours > 23.9 && hours <= 24, String(hours))
    for (const token of [made.token, rotated.token]) assert.equal(await statusOf(use(token)), 200)
    await api.settled()
    // The use of the former secret must not restore it.
    const third = (await rotate(made.id)).json() as CreatedToken
    await until(async () => (await statusOf(use(made.token))) === 401)
    for (const token of [rotated.token, third.token]) assert.equal(await statusOf(use(token)), 200)
    await sql`update api_tokens set previous_until = now() where id = ${made.id}`.execute(
      api.database.postgres.owner,
    )
    await until(async () => (await statusOf(use(rotated.token))) === 401)
    assert.equal(await statusOf(use(third.token)), 200)
  })

  it('ends the former secret at once without an overlap', async () => {
    const made = await make()
    assert.equal(await statusOf(use(made.token)), 200)
    const rotated = (await rotate(made.id, { overlap_hours: 0 })).json() as CreatedToken
    assert.equal(rotated.previous_secret_until, null)
    await until(async () => (await statusOf(use(made.token))) === 401)
    assert.equal(await statusOf(use(rotated.token)), 200)
  })

  it('is refused for an overlap of 73 hours, an expired token, and one of another team', async () => {
    const { id } = await make()
    assertProblem(await rotate(id, { overlap_hours: 73 }), 'invalid')
    await sql`update api_tokens set expires = now() where id = ${id}`.execute(api.database.postgres.owner)
    assertProblem(await rotate(id), 'conflict')
    const { admin: other } = await addCompany('rotating')
    assertProblem(await send('POST', { url: `/${id}/rotate`, authorization: other.bearer }), 'not_found')
  })
})

describe('a service account', () => {
  const accounts = (
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path = '',
    payload?: object,
    authorization = admin.bearer,
  ) =>
    api.server.inject({
      method,
      url: `/v3/service-accounts${path}`,
      headers: { authorization },
      ...(payload ? { payload } : {}),
    })
  const addAccount = async (name: string, roles: readonly string[]): Promise<number> =>
    (await accounts('POST', '', { name, roles })).json().id

  it('gives its tokens its roles, which follow its changes', async () => {
    const id = await addAccount('pipeline', ['reader'])
    const { token, is_admin: isAdmin } = await make({
      scopes: ['ipam:read', 'ipam:write'],
      service_account_id: id,
    })
    assert.equal(isAdmin, false)
    const withdraw = async (): Promise<string> =>
      (
        await api.server.inject({
          method: 'PATCH',
          url: '/v3/ipam/announcements/999999',
          headers: { authorization: `Token ${token}` },
          payload: { enabled: false },
        })
      ).json().code
    assert.equal(await statusOf(use(token)), 200)
    assert.equal(await withdraw(), 'forbidden')
    await accounts('PATCH', `/${id}`, { roles: ['network'] })
    await until(async () => (await withdraw()) === 'not_found')
    await accounts('PATCH', `/${id}`, { disabled: true })
    await until(async () => (await statusOf(use(token))) === 401)
    assert.equal((await accounts('GET', `/${id}`)).json().token_count, 1)
  })

  it('keeps its tokens when the member who created them is removed, and loses them when it is deleted', async () => {
    const { team: company, admin: boss } = await addCompany('leaving')
    const { userId } = await addUser(api, 'leaver', [company], { admin: true })
    const { access } = await openSession(api, userId, company.teamId)
    const sent = { authorization: `Bearer ${access}` }
    const { id } = (
      await accounts('POST', '', { name: 'robot', roles: ['editor'] }, sent.authorization)
    ).json()
    const own = await make({}, sent)
    const moved = await make({}, sent)
    const robot = await make({ service_account_id: id }, sent)
    const transfer = await send('POST', {
      ...sent,
      url: `/${moved.id}/transfer`,
      payload: { service_account_id: id },
    })
    assert.equal(transfer.json().service_account_id, id, transfer.body)
    await api.server.inject({
      method: 'DELETE',
      url: `/v3/teams/current/members/${userId}`,
      headers: { authorization: boss.bearer },
    })
    await until(async () => (await statusOf(use(own.token))) === 401)
    for (const { token } of [moved, robot]) assert.equal(await statusOf(use(token)), 200)
    assert.equal((await accounts('DELETE', `/${id}`, undefined, boss.bearer)).statusCode, 204)
    for (const { token } of [moved, robot]) await until(async () => (await statusOf(use(token))) === 401)
  })

  it('gets no token that has less than its roles, has no is_admin, and is unknown to other teams', async () => {
    const id = await addAccount('strong', ['admin'])
    const { id: token } = await make()
    const transfer = await send('POST', { url: `/${token}/transfer`, payload: { service_account_id: id } })
    assert.equal(assertProblem(transfer, 'invalid').errors![0]!.type, 'widens')
    const both = { ...wanted, is_admin: true, service_account_id: id }
    assertProblem(await send('POST', { payload: both }), 'invalid')
    const { admin: other } = await addCompany('curious')
    assertProblem(await accounts('GET', `/${id}`, undefined, other.bearer), 'not_found')
    assertProblem(
      await send('POST', { authorization: other.bearer, payload: { ...wanted, service_account_id: id } }),
      'not_found',
    )
    assertProblem(await accounts('POST', '', { name: 'STRONG', roles: ['reader'] }), 'exists')
    for (const roles of [[], ['nobody'], ['reader', 'reader']])
      assertProblem(await accounts('POST', '', { name: 'wrong', roles }), 'invalid')
  })
})
