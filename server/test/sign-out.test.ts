// Leaving, with two processes and real connections: back-channel logout of a real OpenID provider, signing out there, and removal by SCIM with an open stream.
import assert from 'node:assert/strict'
import { generateKeyPairSync, randomUUID, type KeyObject } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, describe, it } from 'node:test'
import { openStream } from '@pharos/contract/messages/stream-client'
import { SignJWT } from 'jose'
import { sql } from 'kysely'
import { followRedirects, signOutAt, startOidc, type TestOidc } from '../src/drivers/oidc/testing.ts'
import { addTeam, addUser, createTestApi, type TestApi, type TestTeam } from './api.ts'
import { openSession } from './support/credentials.ts'
import { addProvider, proveByProvider, type TestProvider } from './support/identity.ts'
import { addScimToken, scimCaller } from './support/scim.ts'

let api: TestApi
let second: TestApi
let urls: readonly string[]
let red: TestTeam
let idp: TestOidc
let provider: TestProvider

const owner = () => api.database.postgres.owner
const settings = { PHAROS_SSO_NETWORKS_ALLOWED: '127.0.0.0/8', PHAROS_STREAM_LIFETIME_SECONDS: '3600' }

async function listen({ server }: TestApi): Promise<string> {
  await server.listen({ host: '127.0.0.1', port: 0 })
  return `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`
}

before(async () => {
  api = await createTestApi(settings)
  second = await createTestApi(settings, { sameInstallationAs: api })
  urls = [await listen(api), await listen(second)]
  red = await addTeam(api, 'red')
  idp = await startOidc({ redirectUris: [] })
})
after(async () => {
  await idp[Symbol.asyncDispose]()
  await second[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
})

beforeEach(async () => {
  await sql`delete from identity_providers`.execute(owner())
  await sql`delete from users`.execute(owner())
  provider = await addProvider(api, red, { ...idp, domain: 'red.example' })
  const backchannelUri = `${urls[0]}/sso/oidc/${provider.key}/logout`
  idp.register([provider.redirectUri], { backchannelUri, returnTo: `${api.shared.publicUrl}/sign-in` })
})

type SignedIn = {
  readonly access: string
  readonly refresh: string
  readonly jar: Map<string, string>
  readonly sessionId: string
}

async function signIn(name = 'anna'): Promise<SignedIn> {
  const post = (url: string, payload: object, headers = {}) =>
    api.server.inject({ method: 'POST', url, payload, headers })
  const started = await post('/v3/session/sso', { provider: provider.key })
  const cookie = String(started.headers['set-cookie']).split(';')[0]!
  idp.person = { sub: `${name}-1`, email: `${name}@red.example`, email_verified: true }
  const jar = new Map<string, string>()
  const answer = await followRedirects(started.json().redirect as string, provider.redirectUri, jar)
  const completed = await post('/v3/session/sso/complete', { provider: provider.key, ...answer }, { cookie })
  assert.equal(completed.statusCode, 200, completed.body)
  const { access, refresh } = completed.json() as { access: string; refresh: string }
  const claims = JSON.parse(Buffer.from(access.split('.')[1]!, 'base64url').toString()) as { sid: string }
  return { access, refresh, jar, sessionId: claims.sid }
}

/** The status in each process, from what is cached there. */
const statuses = (access: string) =>
  Promise.all(
    urls.map(async (url) => {
      const response = await fetch(`${url}/v3/teams/current`, {
        headers: { authorization: `Bearer ${access}` },
      })
      await response.body?.cancel()
      return response.status
    }),
  )

/** Follows the stream in the second process; `ended` resolves when the server closes it. */
async function followStream(access: string): Promise<{ readonly ended: Promise<unknown> }> {
  const events = openStream(
    { baseUrl: urls[1]!, credential: () => ({ bearer: access }) },
    { signal: AbortSignal.timeout(60_000) },
  )
  assert.equal((await events.next()).value?.type, 'ready')
  const read = async () => {
    for await (const _ of events);
  }
  return { ended: read() }
}

describe('a leaver whom SCIM removes', () => {
  it('is out in every process, and the stream ends', async () => {
    const call = scimCaller(api, await addScimToken(api, red, provider))
    const created = await call('POST', '/Users', { userName: 'anna@red.example' })
    const { id } = created.json() as { id: string }
    const { rows } = await sql<{ id: number }>`select id from users where email = 'anna@red.example'`.execute(
      owner(),
    )
    const session = await openSession(api, rows[0]!.id, red.teamId)
    await proveByProvider(api, session.sessionId, provider)
    assert.deepEqual(await statuses(session.access), [200, 200])
    const { ended } = await followStream(session.access)
    const patch = { Operations: [{ op: 'Replace', path: 'active', value: 'False' }] }
    assert.equal((await call('PATCH', `/Users/${id}`, patch)).statusCode, 200)
    await ended
    assert.deepEqual(await statuses(session.access), [401, 401])
  })

  for (const first of ['the removal', 'the sign-in'] as const)
    it(`at the same moment as a sign-in is out, if ${first} is first`, async () => {
      const call = scimCaller(api, await addScimToken(api, red, provider))
      const { id } = (await call('POST', '/Users', { userName: 'anna@red.example' })).json() as { id: string }
      await signIn()
      const remove = () => call('DELETE', `/Users/${id}`)
      const enter = () =>
        signIn().then(
          ({ access }) => access,
          () => null,
        )
      const [left, right] = first === 'the removal' ? [remove(), enter()] : [enter(), remove()]
      const [one, two] = await Promise.all([left, right])
      const access = typeof one === 'string' ? one : typeof two === 'string' ? two : null
      const members = await sql`select from memberships where team_id = ${red.teamId}`.execute(owner())
      assert.equal(members.rows.length, 0)
      if (access !== null) assert.deepEqual(await statuses(access), [401, 401])
    })
})

describe('back-channel logout', () => {
  it('of a real provider ends the session that it has opened, in every process', async () => {
    const anna = await signIn()
    const elsewhere = await signIn()
    const ben = await signIn('ben')
    for (const { access } of [anna, elsewhere, ben]) assert.deepEqual(await statuses(access), [200, 200])
    const { ended } = await followStream(anna.access)
    await signOutAt(`${idp.issuer}/session/end`, anna.jar)
    await ended
    const [first, next] = await statuses(anna.access)
    assert.ok(first! >= 401 && next! >= 401, `${first} ${next}`)
    for (const { access } of [elsewhere, ben]) assert.deepEqual(await statuses(access), [200, 200])
    const refreshed = await api.server.inject({
      method: 'POST',
      url: '/v3/session/refresh',
      payload: { refresh: anna.refresh },
    })
    assert.equal(refreshed.statusCode, 401)
  })

  it('leaves a session that the account has opened too', async () => {
    const { userId } = await addUser(api, 'anna', [red])
    await signIn()
    const session = await openSession(api, userId, red.teamId)
    const response = await post(await logoutToken({ sub: 'anna-1' }))
    assert.equal(response.statusCode, 200, response.body)
    assert.deepEqual(await statuses(session.access), [200, 200])
  })

  let keys: { readonly privateKey: KeyObject; readonly publicKey: KeyObject }
  let issuer: string
  let close: () => Promise<void>
  before(async () => {
    keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const server = createServer((request, response) => {
      const jwk = { ...keys.publicKey.export({ format: 'jwk' }), kid: 'k', use: 'sig', alg: 'ES256' }
      const body = request.url!.endsWith('/jwks')
        ? { keys: [jwk] }
        : {
            issuer,
            jwks_uri: `${issuer}/jwks`,
            authorization_endpoint: `${issuer}/auth`,
            response_types_supported: ['code'],
          }
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    close = () => new Promise((resolve) => void server.close(() => resolve()))
  })
  after(() => close())

  const event = { 'http://schemas.openid.net/event/backchannel-logout': {} }

  async function logoutToken(claims: object, header: object = {}, key = keys.privateKey): Promise<string> {
    await sql`update identity_providers set settings = settings || ${JSON.stringify({ issuer })}::jsonb`.execute(
      owner(),
    )
    const now = Math.floor(Date.now() / 1000)
    const all = {
      iss: issuer,
      aud: 'pharos',
      iat: now,
      exp: now + 120,
      jti: randomUUID(),
      events: event,
      ...claims,
    }
    return new SignJWT(all)
      .setProtectedHeader({ alg: 'ES256', kid: 'k', typ: 'logout+jwt', ...header })
      .sign(key)
  }

  const post = (token: string, key = provider.key) =>
    api.server.inject({
      method: 'POST',
      url: `/sso/oidc/${key}/logout`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({ logout_token: token }).toString(),
    })

  it('refuses every token that is not one, and each token the second time', async () => {
    const anna = await signIn()
    const sub = 'anna-1'
    const minutes = (count: number) => Math.floor(Date.now() / 1000) + 60 * count
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    const refused: Record<string, [token: string, reason: string]> = {
      'no token': ['x', 'document'],
      'another key': [await logoutToken({ sub }, {}, other), 'signature'],
      'an unknown key': [await logoutToken({ sub }, { kid: 'z' }), 'signature'],
      'another issuer': [await logoutToken({ sub, iss: `${issuer}/` }), 'issuer'],
      'another audience': [await logoutToken({ sub, aud: 'other' }), 'audience'],
      'too old': [await logoutToken({ sub, iat: minutes(-6), exp: minutes(5) }), 'time'],
      expired: [await logoutToken({ sub, exp: minutes(-1) }), 'time'],
      'of the future': [await logoutToken({ sub, iat: minutes(5), exp: minutes(9) }), 'time'],
      'without iat': [await logoutToken({ sub, iat: undefined }), 'time'],
      'without jti': [await logoutToken({ sub, jti: undefined }), 'document'],
      'without events': [await logoutToken({ sub, events: undefined }), 'document'],
      'of another event': [await logoutToken({ sub, events: { other: {} } }), 'document'],
      'with a nonce, as an ID token': [await logoutToken({ sub, nonce: 'n' }), 'document'],
      'of another type': [await logoutToken({ sub }, { typ: 'at+jwt' }), 'document'],
      'without sub and sid': [await logoutToken({}), 'document'],
      'with a sub that is no text': [await logoutToken({ sub: 1 as unknown as string }), 'document'],
    }
    for (const [what, [token, reason]] of Object.entries(refused)) {
      const response = await post(token)
      assert.equal(response.statusCode, 400, `${what}: ${response.body}`)
      assert.equal(response.json().error_description, reason, what)
    }
    assert.equal((await post(await logoutToken({ sub }), 'aaaaaaaaaaaa')).statusCode, 400)
    assert.deepEqual(await statuses(anna.access), [200, 200])
    const token = await logoutToken({ sub })
    assert.equal((await post(token)).statusCode, 200)
    assert.equal((await post(token)).json().error_description, 'replayed')
    assert.equal((await post(await logoutToken({ sub: 'nobody' }))).statusCode, 200)
    const { rows } = await sql<{ expired: boolean }>`
      select expires <= now() as expired from session_proofs where session_id = ${anna.sessionId}`.execute(
      owner(),
    )
    assert.deepEqual(rows, [{ expired: true }])
  })

  it('takes a token again if ending the sessions had failed', async () => {
    const anna = await signIn()
    const token = await logoutToken({ sub: 'anna-1' })
    await sql`alter table session_proofs add constraint refuses_to_end check (expires > now()) not valid`.execute(
      owner(),
    )
    assert.equal((await post(token)).statusCode, 500)
    await sql`alter table session_proofs drop constraint refuses_to_end`.execute(owner())
    assert.equal((await post(token)).statusCode, 200)
    const [first, next] = await statuses(anna.access)
    assert.ok(first! >= 401 && next! >= 401, `${first} ${next}`)
  })
})

describe('signing out here', () => {
  const redirectOf = async (access: string) => {
    const response = await api.server.inject({
      method: 'POST',
      url: '/v3/session/sso/logout',
      headers: { authorization: `Bearer ${access}` },
    })
    assert.equal(response.statusCode, 200, response.body)
    return (response.json() as { redirect: string | null }).redirect
  }
  const signOutThere = (isOn: boolean) =>
    sql`update identity_providers set settings = settings || ${JSON.stringify({ sign_out_at_provider: isOn })}::jsonb`.execute(
      owner(),
    )

  it('also signs out at a provider that has it on, and returns', async () => {
    const { access, jar } = await signIn()
    assert.equal(await redirectOf(access), null)
    await signOutThere(true)
    const redirect = await redirectOf(access)
    const query = new URL(redirect!).searchParams
    assert.deepEqual(Object.fromEntries(query), {
      client_id: 'pharos',
      logout_hint: 'anna@red.example',
      post_logout_redirect_uri: `${api.shared.publicUrl}/sign-in`,
    })
    assert.equal(await signOutAt(redirect!, jar), `${api.shared.publicUrl}/sign-in`)
  })

  it('needs no answer of the provider, and nothing for a session of the account', async () => {
    const { access, sessionId } = await signIn()
    await sql`
      update identity_providers set settings = settings || '{"sign_out_at_provider": true, "issuer": "http://127.0.0.1:1"}'::jsonb`.execute(
      owner(),
    )
    assert.equal(await redirectOf(access), null)
    await signOutThere(true)
    await sql`update session_proofs set kind = 'local', expires = null where session_id = ${sessionId}`.execute(
      owner(),
    )
    assert.equal(await redirectOf(access), null)
  })
})
