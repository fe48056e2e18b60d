// The headers of answers that clients act on: Location, the rate limit, Retry-After, WWW-Authenticate, and the URL of a problem's
// page. The document declares them; here they are sent.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createTestApi, type TestApi } from './api.ts'
import { addApiToken, openSession } from './support/credentials.ts'
import { createFixtures, type Fixtures } from './support/fixtures.ts'
import { formOf, formType, letterForm } from './support/letters.ts'

let api: TestApi
let fixtures: Fixtures
let token: string
let access: string

before(async () => {
  api = await createTestApi({ PHAROS_PUBLIC_URL: 'https://portal.example.net' })
  fixtures = await createFixtures(api)
  const { red, people } = fixtures
  const scopes = ['ipam:read', 'ipam:write', 'team:read', 'team:write', 'webhooks:read', 'webhooks:write']
  token = await addApiToken(api, red.teamId, { scopes, isAdmin: true })
  access = (await openSession(api, people.admin.userId, red.teamId)).access
})
after(() => api[Symbol.asyncDispose]())

type Call = {
  method?: 'GET' | 'POST'
  url: string
  payload?: object | Buffer
  headers?: Record<string, string>
}

const send = (authorization: string | undefined, { headers, ...call }: Call, server = api.server) =>
  server.inject({ ...call, headers: { ...(authorization ? { authorization } : {}), ...headers } } as never)
const byToken = (call: Call) => send(`Token ${token}`, call)

describe('Location and ETag of what was created', () => {
  const team = '/v3/teams/current'
  const creations: readonly (() => readonly [Call, authorization: string])[] = [
    () => [
      {
        url: '/v3/ipam/announcements',
        payload: { cidr: '198.51.100.0/24', origin_asn: fixtures.red.asn },
      },
      `Token ${token}`,
    ],
    () => [
      { url: '/v3/webhooks', payload: { url: 'https://hooks.example.com/x', events: ['event.started'] } },
      `Token ${token}`,
    ],
    () => [{ url: `${team}/members`, payload: { email: 'sofia@lindholm.example' } }, `Token ${token}`],
    () => [{ url: `${team}/domains`, payload: { domain: 'lindholm-hosting.com' } }, `Token ${token}`],
    () => [{ url: '/v3/tokens', payload: { name: 'Terraform', scopes: ['ipam:read'] } }, `Bearer ${access}`],
    () => {
      const url = `/v3/ipam/announcements/${fixtures.red.announcements.unvalidated}/loa`
      return [{ url, payload: formOf(letterForm()), headers: { 'content-type': formType } }, `Token ${token}`]
    },
  ]

  it('is the path at which GET returns what was created', async () => {
    for (const creation of creations) {
      const [call, authorization] = creation()
      const answer = await send(authorization, { method: 'POST', ...call })
      assert.equal(answer.statusCode, 201, `${call.url} ${answer.body}`)
      const created = answer.json()
      const read = await send(authorization, { url: String(answer.headers['location']) })
      assert.equal(read.statusCode, 200, `${call.url} ${answer.headers['location']}`)
      assert.equal(read.json().id, (created.results?.[0] ?? created).id, call.url)
      assert.equal(answer.headers['etag'], read.headers['etag'], `${call.url} ETag`)
      assert.ok(answer.headers['etag'], call.url)
    }
  })

  it('is absent after several were created at once, and after a dry run', async () => {
    const announcements = ['2001:db8:71::/48', '2001:db8:72::/48'].map((cidr) => ({
      cidr,
      origin_asn: fixtures.red.asn,
    }))
    const url = '/v3/ipam/announcements'
    const several = await byToken({ method: 'POST', url, payload: { announcements } })
    assert.deepEqual([several.statusCode, several.headers['location']], [201, undefined])
    const dryRun = { method: 'POST', url: `${url}?dry_run=true` } as const
    const tried = await byToken({ ...dryRun, payload: { ...announcements[0], cidr: '2001:db8:73::/48' } })
    assert.deepEqual([tried.statusCode, tried.headers['location']], [200, undefined])
    assert.match(String(tried.headers['content-type']), /^application\/vnd\.pharos\.dry-run\+json/)
  })
})

describe('the rate limit', () => {
  const limits = (headers: Record<string, unknown>) =>
    ['limit', 'remaining', 'reset'].map((name) => Number(headers[`ratelimit-${name}`]))

  it('is a part of every answer, also of a refused one', async () => {
    const refused: readonly (readonly [number, string | undefined, string])[] = [
      [200, `Token ${token}`, '/v3/webhooks'],
      [404, `Token ${token}`, '/v3/webhooks/999999'],
      [422, `Token ${token}`, '/v3/webhooks?limit=0'],
      [403, `Token ${token}`, '/v3/audit'],
      [401, undefined, '/v3/webhooks'],
      [401, 'Token phs_aaaaaaaaaaaa_wrong', '/v3/webhooks'],
      [401, `Bearer ${token}`, '/v3/webhooks'],
    ]
    for (const [status, authorization, url] of refused) {
      const { statusCode, headers } = await send(authorization, { url })
      assert.equal(statusCode, status, url)
      assert.ok(
        limits(headers).every((value) => Number.isInteger(value)),
        `${url} ${status}`,
      )
    }
  })

  it('shows at a 429 that nothing is left, and how long to wait', async () => {
    await using small = await createTestApi(
      { PHAROS_RATE_LIMIT_PER_SECOND: '1', PHAROS_RATE_LIMIT_BURST: '2' },
      { sameInstallationAs: api },
    )
    const answers = []
    for (let n = 0; n < 3; n += 1)
      answers.push(await send(`Token ${token}`, { url: '/v3/webhooks' }, small.server))
    assert.deepEqual(
      answers.map(({ statusCode }) => statusCode),
      [200, 200, 429],
    )
    const { headers } = answers[2]!
    assert.deepEqual(limits(headers), [2, 0, 2])
    assert.equal(headers['retry-after'], '1')
  })
})

describe('a 401', () => {
  const challengeOf = async (url: string, authorization?: string) => {
    const method = url.startsWith('/v3/ingest') || url.endsWith('/logout') ? 'POST' : 'GET'
    const { statusCode, headers } = await send(authorization, { method, url, payload: {} })
    assert.equal(statusCode, 401, url)
    return headers['www-authenticate']
  }

  it('names the schemes that the operation accepts, the one for programs first', async () => {
    assert.equal(await challengeOf('/v3/webhooks'), 'Token realm="pharos", Bearer realm="pharos"')
    assert.equal(await challengeOf('/v3/tokens'), 'Bearer realm="pharos"')
    assert.equal(await challengeOf('/v3/session/logout', 'Basic abc'), 'Bearer realm="pharos"')
    assert.equal(
      await challengeOf(`/v3/ingest/events/${fixtures.sources.detector.split(':')[0]}`),
      'Token realm="pharos", Basic realm="pharos"',
    )
  })

  it('explains that an API token was sent as a bearer token, and the reverse', async () => {
    for (const [authorization, word] of [
      [`Bearer ${token}`, 'API token'],
      [`Token ${access}`, 'access token'],
    ] as const) {
      const problem = (await send(authorization, { url: '/v3/webhooks' })).json()
      assert.equal(problem.code, 'wrong_scheme')
      assert.match(problem.detail, new RegExp(`This is an ${word}`))
      assert.ok(!problem.detail.includes(token) && !problem.detail.includes(access))
    }
  })
})

describe('the type of a problem', () => {
  it('is the URL of a page of this server', async () => {
    const { type, code } = (await byToken({ url: '/v3/webhooks/999999' })).json()
    assert.equal(type, 'https://portal.example.net/docs/problems/not_found')
    const page = await send(undefined, { url: new URL(type).pathname })
    assert.equal(page.statusCode, 200)
    assert.match(page.body, new RegExp(`<h1><code>${code}</code></h1>`))
  })
})
