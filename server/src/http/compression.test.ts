// Which answers are compressed, and the ETag of lists: with a server whose use-cases return fixed bodies, and for the
// routes that return credentials by their schemas.
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { listRelatedEventsRoute } from '@pharos/contract/events/event'
import { draftLetterRoute } from '@pharos/contract/byoip/letter'
import type { Route } from '@pharos/contract/route'
import { routes } from '@pharos/contract/document/routes'
import { createTokenRoute, listTokensRoute } from '@pharos/contract/team/token'
import { silentLog } from '../runtime/log.ts'
import { handle } from './mount.ts'
import { createHttpServer } from './server.ts'
import { openGate } from '../runtime/testing-gate.ts'

const actor = {
  kind: 'user',
  userId: 1,
  sessionId: 's',
  teamId: 1,
  roles: ['admin'],
  isStaff: true,
  staffRoles: ['admin'],
  access: null,
  isLocal: true,
  blockedBy: null,
  modules: ['lighthouse', 'ipam'],
  limits: null,
} as const
const rate = { perSecond: 1_000, burst: 1_000 }

const token = (name: string) => ({
  id: 'aaaaaaaaaaaa',
  name,
  scopes: [],
  is_admin: false,
  allowed_subnets: [],
  created: '2026-01-01T00:00:00.000Z',
  created_by: 'user:1',
  expires: null,
  max_unused_days: null,
  last_used: null,
  last_used_address: null,
  active: true,
  inactive_reason: null,
  resources: null,
  service_account_id: null,
  previous_secret_until: null,
})
let names = ['first']
const event = '{"id":"a","description":"ä'.padEnd(400, 'x')

const server = createHttpServer({
  gate: openGate,
  settings: {
    bodyLimitBytes: 10_000,
    deliveryLimitBytes: 1_000,
    requestsInFlight: 10,
    requestTimeoutMs: 5_000,
    handlerTimeoutMs: 5_000,
    keepAliveTimeoutMs: 1_000,
    trustedProxies: [],
    publicUrl: 'http://127.0.0.1',
    rate,
    deliveryRate: rate,
    streams: { atOnce: 1, perTeam: 1, lifetimeMs: 0 },
  },
  log: silentLog,
  credentials: { bearer: () => actor, token: () => Promise.reject(new Error('not used')) },
  mounted: [
    handle(listRelatedEventsRoute, (_deps, _operation, { limit }) => renderedPage(limit), {}),
    handle(listTokensRoute, () => ({ results: names.map(token), count: names.length }), {}),
    handle(createTokenRoute, () => ({ ...token('x'.repeat(3_000)), token: 'phs_secret' }), {}),
    handle(draftLetterRoute, () => pdf, {}),
  ],
  observer: { answered() {}, refused() {}, inFlight() {} },
})
after(() => server.close())

const pdf = { bytes: Buffer.alloc(5_000, 'a'), mediaType: 'application/pdf', filename: 'a.pdf' }

function renderedPage(rows: number) {
  return { raw: `{"results":[${Array(rows).fill(`${event}"}`).join()}],"count":${rows}}`, count: rows }
}

const events = '/v3/lighthouse/security/events/related'
const get = (url: string, headers: Record<string, string> = {}) =>
  server.inject({ url, headers: { authorization: 'Bearer x', ...headers } })

describe('an answer', () => {
  const decoders = { zstd: zstdDecompressSync, br: brotliDecompressSync, gzip: gunzipSync }

  for (const [encoding, decode] of Object.entries(decoders)) {
    it(`above 1 kB is compressed with ${encoding} for a client that accepts it`, async () => {
      const plain = await get(events)
      const compressed = await get(events, { 'accept-encoding': encoding })
      assert.equal(compressed.headers['content-encoding'], encoding)
      assert.equal(compressed.headers['vary'], 'accept-encoding')
      assert.equal(decode(compressed.rawPayload).toString(), plain.body)
      assert.equal(Number(compressed.headers['content-length']), compressed.rawPayload.length)
      assert.ok(compressed.rawPayload.length < plain.rawPayload.length / 5)
      assert.equal(compressed.headers['etag'], plain.headers['etag'])
    })
  }

  it('above 256 kB is compressed too', async () => {
    const { headers, rawPayload } = await get(`${events}?limit=1000`, { 'accept-encoding': 'gzip' })
    assert.equal(headers['content-encoding'], 'gzip')
    assert.equal(gunzipSync(rawPayload).toString(), renderedPage(1_000).raw)
  })

  it('uses the encoding that the client prefers, else the fastest', async () => {
    const encodingFor = async (accepted: string) =>
      (await get(events, { 'accept-encoding': accepted })).headers['content-encoding']
    assert.equal(await encodingFor('gzip, deflate, br, zstd'), 'zstd')
    assert.equal(await encodingFor('gzip, deflate, br'), 'br')
    assert.equal(await encodingFor('br;q=0, gzip'), 'gzip')
    assert.equal(await encodingFor('identity'), undefined)
    assert.equal(await encodingFor('unknown'), undefined)
  })

  it('is not compressed unless the client asks for it, and states that it could be', async () => {
    const { headers } = await get(events)
    assert.equal(headers['content-encoding'], undefined)
    assert.equal(headers['vary'], 'accept-encoding')
  })

  it('below 1 kB is not compressed', async () => {
    const { headers, body } = await get(`${events}?limit=1`, { 'accept-encoding': 'gzip' })
    assert.equal(headers['content-encoding'], undefined)
    assert.equal(body, renderedPage(1).raw)
  })

  it('that is a compressed file is not compressed again', async () => {
    const { headers, statusCode } = await get('/v3/ipam/announcements/1/loa/draft', {
      'accept-encoding': 'gzip',
    })
    assert.equal(statusCode, 200)
    assert.equal(headers['content-encoding'], undefined)
  })

  it('with a credential is not compressed', async () => {
    const { headers, statusCode } = await server.inject({
      method: 'POST',
      url: '/v3/tokens',
      headers: { authorization: 'Bearer x', 'accept-encoding': 'gzip, br, zstd' },
      payload: { name: 'a', scopes: ['ipam:read'] },
    })
    assert.equal(statusCode, 201)
    assert.equal(headers['content-encoding'], undefined)
    assert.equal(headers['vary'], undefined)
  })
})

/** Fields that contain a credential, in any answer. */
const credentials = new Set(['access', 'refresh', 'token', 'secret', 'uri', 'recovery_codes', 'otpauth_uri'])

type Schema = { readonly type?: string; readonly properties?: Record<string, Schema> } & Record<
  string,
  unknown
>

function hasCredential(schema: Schema | null): boolean {
  if (schema === null || typeof schema !== 'object') return false
  if (Array.isArray(schema)) return schema.some(hasCredential)
  const own = Object.entries(schema.properties ?? {})
  return (
    own.some(
      ([name, { type }]) =>
        credentials.has(name) && (type === undefined || type === 'string' || type === 'array'),
    ) ||
    [...own.map(([, property]) => property), schema['items'], schema['anyOf'], schema['allOf']].some((part) =>
      hasCredential((part ?? null) as Schema | null),
    )
  )
}

describe('the contract', () => {
  it('marks exactly the operations whose answer contains a credential', () => {
    const returnsOne = routes.filter(({ response }) => hasCredential(response as Schema | null))
    const named = (list: readonly Route[]) => list.map(({ name }) => name)
    assert.deepEqual(named(routes.filter(({ secret }) => secret)), named(returnsOne))
    assert.ok(returnsOne.length > 5)
  })
})

describe('a list', () => {
  it('has an ETag, and returns 304 while nothing has changed', async () => {
    for (const url of [events, '/v3/tokens']) {
      const { headers } = await get(url)
      const etag = String(headers['etag'])
      assert.match(etag, /^W\/"[a-z0-9]+-[a-z0-9]+"$/)
      for (const known of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
        const unchanged = await get(url, { 'if-none-match': known, 'accept-encoding': 'gzip' })
        assert.deepEqual([unchanged.statusCode, unchanged.body], [304, ''])
        assert.equal(unchanged.headers['etag'], etag)
      }
      assert.equal((await get(url, { 'if-none-match': '"other"' })).statusCode, 200)
    }
  })

  it('has another ETag after a change, and for another page', async () => {
    const before = (await get('/v3/tokens')).headers['etag']
    names = ['second']
    const changed = await get('/v3/tokens', { 'if-none-match': String(before) })
    assert.equal(changed.statusCode, 200)
    assert.notEqual(changed.headers['etag'], before)
    assert.notEqual((await get(`${events}?limit=2`)).headers['etag'], (await get(events)).headers['etag'])
  })

  it('is rendered by the schema of its response', async () => {
    names = ['first', 'second']
    const { body, headers } = await get('/v3/tokens')
    assert.deepEqual(JSON.parse(body), { results: names.map(token), count: 2 })
    assert.equal(headers['content-type'], 'application/json; charset=utf-8')
  })
})
