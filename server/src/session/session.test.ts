import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { addTeam, addUser, createTestApi, testPassword, type TestApi, type TestTeam } from '../../test/api.ts'
import { openSession } from '../../test/support/credentials.ts'
import { parsePosition } from '../stream/position.ts'

let api: TestApi
let red: TestTeam
let blue: TestTeam

before(async () => {
  api = await createTestApi()
  red = await addTeam(api, 'red')
  blue = await addTeam(api, 'blue')
  await addUser(api, 'anna', [red, blue], { admin: true })
  await addUser(api, 'demo', [red], { demo: true })
  await addUser(api, 'late', [red], { unconfirmed: true })
  await addUser(api, 'alone', [])
})
after(() => api[Symbol.asyncDispose]())

const post = (url: string, payload: object, headers: Record<string, string> = {}) =>
  api.server.inject({ method: 'POST', url, payload, headers })
const signIn = (email: string, password = testPassword) => post('/v3/session/token', { email, password })
const refresh = (token: string, headers = {}, url = '/v3/session/refresh', extra = {}) =>
  post(url, { refresh: token, ...extra }, headers)
const getCurrentCredential = (access: string, headers = {}) =>
  api.server.inject({ url: '/v3/session/token', headers: { authorization: `Bearer ${access}`, ...headers } })

describe('signing in', () => {
  it('returns tokens and the user with exactly the fields of the specification', async () => {
    const response = await signIn('Anna@RED.example')
    assert.equal(response.statusCode, 200)
    const body = response.json()
    assert.deepEqual(Object.keys(body), ['access', 'refresh', 'user_etag', 'user'])
    assert.ok(parsePosition(String(response.headers['stream-position'])))
    const refreshed = await refresh(body.refresh)
    assert.ok(parsePosition(String(refreshed.headers['stream-position'])))
    assert.deepEqual(Object.keys(body.user), [
      'id',
      'email',
      'avatar_url',
      'username',
      'first_name',
      'last_name',
      'display_name',
      'country',
      'is_staff',
      'billing_uuid',
      'current_team',
      'teams',
      'enabled_modules',
    ])
    assert.deepEqual(body.user.current_team, {
      id: blue.teamId,
      name: 'Team blue',
      is_admin: true,
      enable_sdwan: false,
      enable_dns: true,
    })
    assert.deepEqual(
      body.user.teams.map((team: { name: string }) => team.name),
      ['Team blue', 'Team red'],
    )
    assert.deepEqual(body.user.enabled_modules, ['inventory', 'ipam', 'lighthouse', 'shield', 'dns'])
  })

  it('returns the same error for a wrong password and an unknown account', async () => {
    const [wrong, unknown] = [await signIn('anna@red.example', 'wrong'), await signIn('nobody@red.example')]
    const strip = (problem: Record<string, unknown>) => ({ ...problem, request_id: '' })
    assert.equal(wrong.statusCode, 401)
    assert.equal(wrong.json().code, 'invalid_credentials')
    assert.deepEqual(strip(wrong.json()), strip(unknown.json()))
  })

  it('requires a confirmed address and a team', async () => {
    assert.equal((await signIn('late@red.example')).json().code, 'email_unconfirmed')
    assert.equal((await signIn('alone@nowhere.example')).json().code, 'forbidden')
  })

  it('accepts either an account or a team, strictly', async () => {
    for (const body of [
      {},
      { email: 'a@b.c' },
      { email: 'a@b.c', password: 'x', team_id: 1 },
      { team_id: '1' },
      [],
      { email: null, password: 'x' },
    ]) {
      const response = await post('/v3/session/token', body)
      assert.equal(response.statusCode, 422, JSON.stringify(body))
      assert.ok(response.json().errors.length > 0)
    }
  })

  it('is limited for the account before anything is hashed', async () => {
    await using strict = await createTestApi({ PHAROS_SIGN_IN_LIMIT_PER_MINUTE: '3' })
    const attempt = () =>
      strict.server.inject({
        method: 'POST',
        url: '/v3/session/token',
        payload: { email: 'x@y.example', password: 'x' },
      })
    // Concurrently: the limit admits the next attempt after 20 s.
    const answers = await Promise.all(Array.from({ length: 4 }, attempt))
    const refused = answers.filter((answer) => answer.json().code === 'rate_limited')
    const wrong = answers.filter((answer) => answer.json().code === 'invalid_credentials')
    assert.deepEqual([wrong.length, refused.length], [3, 1])
    assert.ok(Number(refused[0]!.headers['retry-after']) > 0)
  })
})

describe('a demo account', () => {
  it('signs in on loopback', async () => {
    assert.equal((await signIn('demo@red.example')).statusCode, 200)
  })

  it('is refused on any other interface, including its earlier sessions', async () => {
    await using open = await createTestApi({ PHAROS_HOST: '0.0.0.0' })
    const team = await addTeam(open, 'red')
    await addUser(open, 'demo', [team], { demo: true })
    const response = await open.server.inject({
      method: 'POST',
      url: '/v3/session/token',
      payload: { email: 'demo@red.example', password: testPassword },
    })
    assert.equal(response.statusCode, 403)
  })
})

describe('refreshing', () => {
  it('needs no Authorization header and returns the same fields as sign-in', async () => {
    const { refresh: token, user, user_etag } = (await signIn('anna@red.example')).json()
    const response = await refresh(token)
    assert.equal(response.statusCode, 200)
    const body = response.json()
    assert.deepEqual(Object.keys(body), ['access', 'refresh', 'user_etag', 'user'])
    assert.deepEqual(body.user, user)
    assert.equal(body.user_etag, user_etag)
    assert.notEqual(body.refresh, token)
  })

  it('returns the user also with a matching ETag, unless the client prefers a minimal reply', async () => {
    const first = (await signIn('anna@red.example')).json()
    const full = (await refresh(first.refresh, {}, '/v3/session/refresh', { etag: first.user_etag })).json()
    assert.equal(full.user.email, 'anna@red.example')
    const minimal = await refresh(
      full.refresh,
      { prefer: 'return=minimal' },
      `/v3/session/refresh?etag=${first.user_etag}`,
    )
    assert.equal(minimal.json().user, null)
    assert.equal(minimal.headers['preference-applied'], 'return=minimal')
    const stale = await refresh(
      minimal.json().refresh,
      { prefer: 'return=minimal' },
      `/v3/session/refresh?etag=${first.user_etag}`,
      { etag: 'old' },
    )
    assert.equal(stale.json().user.email, 'anna@red.example', 'the etag of the body wins')
  })

  it('returns the same successor to concurrent requests with one token', async () => {
    const { refresh: token } = (await signIn('anna@red.example')).json()
    const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(token)))
    assert.deepEqual([...new Set(answers.map((answer) => answer.statusCode))], [200])
    assert.equal(new Set(answers.map((answer) => answer.json().refresh)).size, 1)
  })

  it('ends the session when a copy of an old token is presented, and audits it', async () => {
    const stolen = (await signIn('anna@red.example')).json().refresh
    const second = (await refresh(stolen)).json().refresh
    const third = (await refresh(second)).json()
    const sessionId = stolen.slice(4, 40)
    await api.database.postgres.owner
      .updateTable('sessions')
      .set({ rotations: [new Date(Date.now() - 60_000), new Date(Date.now() - 50_000)] })
      .where('id', '=', sessionId)
      .execute()
    assert.equal((await getCurrentCredential(third.access)).statusCode, 200)
    const reuse = await refresh(stolen)
    assert.equal(reuse.statusCode, 401)
    assert.equal(reuse.json().code, 'token_not_valid')
    assert.equal((await refresh(third.refresh)).json().code, 'token_not_valid')
    const audit = await api.database.postgres.owner
      .selectFrom('audit_entries')
      .select(['action', 'team_id'])
      .where('target', '=', `session:${sessionId}`)
      .where('action', '=', 'session.reuse')
      .execute()
    assert.equal(audit.length, 1)
    await untilRefused(third.access)
  })

  for (const [name, token] of Object.entries({
    empty: 'x',
    'of another format': 'phr_1.2.3',
    'with a forged number': `phr_00000000-0000-4000-8000-000000000000.1.${'A'.repeat(43)}`,
  })) {
    it(`rejects a token ${name}`, async () => {
      assert.equal((await refresh(token)).json().code, 'token_not_valid')
    })
  }

  it('reports missing fields', async () => {
    const response = await post('/v3/session/refresh', {})
    assert.equal(response.statusCode, 422)
    assert.deepEqual(response.json().errors[0], {
      loc: ['body', 'refresh'],
      msg: 'is required',
      type: 'required',
    })
  })

  it('is no longer possible when the user leaves the team', async () => {
    const { userId } = await addUser(api, 'leaver', [red])
    const { refresh: token, access } = (await signIn('leaver@red.example')).json()
    await api.database.postgres.owner.deleteFrom('memberships').where('user_id', '=', userId).execute()
    assert.equal((await refresh(token)).json().code, 'token_not_valid')
    await untilRefused(access)
  })
})

describe('switching the team', () => {
  it('switches to the other team within the session', async () => {
    const first = (await signIn('anna@red.example')).json()
    const target = first.user.current_team.id === red.teamId ? blue : red
    const switched = await post(
      '/v3/session/token',
      { team_id: target.teamId },
      { authorization: `Bearer ${first.access}` },
    )
    assert.equal(switched.json().user.current_team.id, target.teamId)
    const next = await refresh(switched.json().refresh)
    assert.equal(next.json().user.current_team.id, target.teamId)
    assert.equal((await getCurrentCredential(next.json().access)).json().token.team_id, target.teamId)
  })

  it('does not find a team that the user is not in, and requires a bearer token', async () => {
    const other = await addTeam(api, 'other')
    const { access } = (await signIn('anna@red.example')).json()
    const foreign = await post(
      '/v3/session/token',
      { team_id: other.teamId },
      { authorization: `Bearer ${access}` },
    )
    assert.equal(foreign.statusCode, 404)
    assert.equal((await post('/v3/session/token', { team_id: red.teamId })).statusCode, 401)
  })
})

describe('the current credential', () => {
  it('includes the session and the user, and no secret', async () => {
    const { access, user, user_etag } = (await signIn('anna@red.example')).json()
    const response = await getCurrentCredential(access)
    assert.equal(response.json().token.type, 'access')
    assert.deepEqual(response.json().user, user)
    assert.equal(response.headers.etag, `"${user_etag}"`)
    assert.doesNotMatch(response.body, /phr_|eyJ/)
  })

  it('is 304 if nothing changed', async () => {
    const { access, user_etag } = (await signIn('anna@red.example')).json()
    assert.equal((await getCurrentCredential(access, { 'if-none-match': `"${user_etag}"` })).statusCode, 304)
    const query = await api.server.inject({
      url: `/v3/session/token?etag=${user_etag}`,
      headers: { authorization: `Bearer ${access}` },
    })
    assert.equal(query.statusCode, 304)
    assert.equal(query.body, '')
  })
})

describe('signing out', () => {
  it('ends the session of the refresh token at once', async () => {
    const { access, refresh: token } = (await signIn('anna@red.example')).json()
    assert.equal((await post('/v3/session/logout', { refresh: token })).statusCode, 204)
    assert.equal((await refresh(token)).statusCode, 401)
    await untilRefused(access)
  })

  it('ends the session of the bearer and, with `all`, every session of the user', async () => {
    const one = (await signIn('anna@red.example')).json()
    const two = (await signIn('anna@red.example')).json()
    const response = await post(
      '/v3/session/logout',
      { all: true },
      { authorization: `Bearer ${one.access}` },
    )
    assert.equal(response.statusCode, 204)
    assert.equal((await refresh(two.refresh)).statusCode, 401)
    await untilRefused(two.access)
  })

  it('ends the session of the bearer without a body', async () => {
    for (const headers of [{}, { 'content-type': 'application/json' }]) {
      const { access } = (await signIn('anna@red.example')).json()
      const authorization = `Bearer ${access}`
      const { statusCode } = await api.server.inject({
        method: 'POST',
        url: '/v3/session/logout',
        headers: { ...headers, authorization },
      })
      assert.equal(statusCode, 204)
      await untilRefused(access)
    }
  })

  it('is recorded as by staff, also once the user is no longer staff', async () => {
    const { userId } = await addUser(api, 'helper', [], { staff: true })
    for (const isStaff of [true, false]) {
      const { refresh: token, sessionId } = await openSession(api, userId, red.teamId)
      const { owner } = api.database.postgres
      await owner.updateTable('users').set({ is_staff: isStaff }).where('id', '=', userId).execute()
      assert.equal((await post('/v3/session/logout', { refresh: token })).statusCode, 204)
      const entries = owner.selectFrom('audit_entries').select(['action', 'by_staff'])
      assert.deepEqual(await entries.where('target', '=', `session:${sessionId}`).execute(), [
        { action: 'session.revoke', by_staff: true },
      ])
    }
  })

  it('succeeds for an unknown token, but requires a credential', async () => {
    assert.equal((await post('/v3/session/logout', { refresh: 'phr_unknown' })).statusCode, 204)
    assert.equal((await post('/v3/session/logout', {})).statusCode, 401)
  })
})

describe('the public keys', () => {
  it('verify the access tokens and contain no private part', async () => {
    const { keys } = (await api.server.inject('/.well-known/jwks.json')).json()
    assert.equal(keys[0].crv, 'Ed25519')
    assert.equal(keys[0].d, undefined)
    const { createLocalJWKSet, jwtVerify } = await import('jose')
    const { access } = (await signIn('anna@red.example')).json()
    const { payload } = await jwtVerify(access, createLocalJWKSet({ keys }), {
      audience: 'pharos-web',
      typ: 'at+jwt',
    })
    assert.ok(payload.sid)
  })
})

/** A revocation invalidates the cached credential by a notification: within moments, not after its lifetime. */
async function untilRefused(access: string): Promise<void> {
  const deadline = Date.now() + 300_000
  while ((await getCurrentCredential(access)).statusCode !== 401)
    assert.ok(Date.now() < deadline, 'the access token still works')
}
