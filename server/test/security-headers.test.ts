// Security headers of every response: of each route of the server, and of responses without a route.
import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { addTeam, addUser, createTestApi, type TestApi } from './api.ts'
import { openSession } from './support/credentials.ts'
import { printedRoutes, type PrintedRoute } from './support/printed-routes.ts'
import { sendRaw } from './support/raw-http.ts'

let api: TestApi
let plain: TestApi
let bearer: string
before(async () => {
  api = await createTestApi({ PHAROS_PUBLIC_URL: 'https://portal.net.example' })
  plain = await createTestApi({ PHAROS_PUBLIC_URL: 'http://portal.net.example' }, { sameInstallationAs: api })
  const team = await addTeam(api, 'red')
  const { userId } = await addUser(api, 'admin', [team], { admin: true, staff: true })
  bearer = `Bearer ${(await openSession(api, userId, team.teamId)).access}`
})
after(async () => {
  await plain[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
})

type Answer = { readonly headers: Readonly<Record<string, unknown>> }

const always: Record<string, string> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}
const never = ['server', 'x-powered-by', 'via', 'x-aspnet-version']

function assertCommon({ headers }: Answer, what: string): void {
  for (const [name, value] of Object.entries(always)) assert.equal(headers[name], value, `${what}: ${name}`)
  for (const name of never) assert.equal(headers[name], undefined, `${what}: ${name}`)
  assert.match(String(headers['permissions-policy']), /camera=\(\).*geolocation=\(\)/, what)
  assert.equal(headers['strict-transport-security'], 'max-age=63072000; includeSubDomains', what)
  const shared = Object.keys(headers).filter((name) => name.startsWith('access-control-'))
  assert.deepEqual(shared, [], what)
}

const nothing = "default-src 'none'; frame-ancestors 'none'"

/** No cache may store the response, and no content of it may be rendered as a page. */
function assertClosed(answer: Answer, what: string): void {
  assertCommon(answer, what)
  const policy = String(answer.headers['content-security-policy'])
  assert.ok([nothing, `${nothing}; sandbox`].includes(policy), `${what}: ${policy}`)
  assert.match(String(answer.headers['cache-control']), /^(private, )?no-store$/, what)
}

const isApi = ({ url }: PrintedRoute): boolean =>
  /^\/(v3|api|scim)(\/|$)/.test(url) && !url.startsWith('/v3/openapi')

describe('every operation of the API', () => {
  it('also responds with content', async () => {
    const answer = await api.server.inject({ url: '/v3/session/token', headers: { authorization: bearer } })
    assert.equal(answer.statusCode, 200)
    assertClosed(answer, 'who am I')
    const { etag } = answer.headers
    const same = await api.server.inject({
      url: '/v3/session/token',
      headers: { authorization: bearer, 'if-none-match': etag! },
    })
    assert.equal(same.statusCode, 304)
    assertClosed(same, '304')
  })

  // Last: an operation ends the session of the credential.
  it('has restrictive headers, with any credential', async () => {
    const operations = printedRoutes(api.server).filter(isApi)
    assert.ok(operations.length > 30, 'the routes are not read')
    for (const { method, url } of operations) {
      for (const authorization of [undefined, bearer]) {
        const headers = { origin: 'https://evil.example', ...(authorization ? { authorization } : {}) }
        const answer = await api.server.inject({ method, url, headers })
        assertClosed(answer, `${method} ${url} ${answer.statusCode}`)
      }
    }
  })
})

describe('every page and file', () => {
  const pages = () => printedRoutes(api.server).filter((route) => !isApi(route))

  /** A browser's request for an address: the portal responds to any page address. */
  const opened = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

  /** The provider of this test has no logo, and the link of the mail and the logout token are not valid. */
  const statusOf = (url: string): number => {
    if (/^\/sso\/oidc\/.*\/logout$/.test(url)) return 400
    return ['/anything', '/brand/logo', '/unsubscribe/1'].includes(url) || url.startsWith('/sso/') ? 404 : 200
  }

  it('has its own policy that loads nothing from other origins', async () => {
    assert.ok(pages().length > 8, 'the routes are not read')
    for (const { method, url } of pages()) {
      const answer = await api.server.inject({ method, url, headers: opened })
      const what = `${method} ${url}`
      assert.equal(answer.statusCode, statusOf(url), what)
      assertCommon(answer, what)
      const policy = String(answer.headers['content-security-policy'])
      assert.match(policy, /^default-src 'none';/, what)
      assert.match(policy, /; frame-ancestors 'none'(;|$)/, what)
      assert.doesNotMatch(policy, /unsafe-eval|https?:|\*/, what)
      if (/html/.test(String(answer.headers['content-type']))) assert.match(policy, /base-uri 'none'/, what)
      if (url !== '/docs/explorer') assert.doesNotMatch(policy, /unsafe-inline|data:/, what)
      assert.doesNotMatch(policy, /script-src[^;]*unsafe/, what)
    }
  })

  it('is revalidated by browsers, except for files with a hash of their content in the name', async () => {
    for (const { method, url } of pages()) {
      const { headers } = await api.server.inject({ method, url, headers: opened })
      const kept = /^\/assets\/.*-[\w-]{8}\.\w+$/.test(url) ? /immutable$/ : /^(no-cache|no-store)$/
      assert.match(String(headers['cache-control']), kept, url)
    }
  })
})

describe('a response without a route', () => {
  const requests: Record<string, object> = {
    'to an unknown path': { url: '/v3/nothing' },
    'to an unknown page': { url: '/nothing.html' },
    'to an unknown method': { method: 'PUT', url: '/v3/tokens' },
    'to a CORS preflight of another site': {
      method: 'OPTIONS',
      url: '/v3/tokens',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    },
    'to a broken path': { url: '/v3/%zz' },
    'with a body that is too large': {
      method: 'POST',
      url: '/v3/session/token',
      headers: { 'content-type': 'application/json' },
      payload: 'x'.repeat(2_000_000),
    },
    'with a body that is no JSON': { method: 'POST', url: '/v3/session/token', payload: 'x=1' },
  }
  for (const [what, request] of Object.entries(requests)) {
    it(`is restricted: ${what}`, async () => {
      const answer = await api.server.inject(request)
      assert.ok(answer.statusCode >= 400, String(answer.statusCode))
      assertClosed(answer, what)
    })
  }

  it('is restricted: to a request that is not HTTP', async () => {
    await api.server.listen({ port: 0, host: '127.0.0.1' })
    const { port } = api.server.server.address() as AddressInfo
    const [answer] = await sendRaw(port, 'nonsense\r\n\r\n')
    assert.equal(answer!.status, 400)
    assertClosed({ headers: Object.fromEntries(answer!.headers) }, 'nonsense')
  })
})

describe('a server that users reach without TLS', () => {
  it('omits it, because browsers would store it', async () => {
    for (const url of ['/', '/v3/tokens', '/healthz']) {
      const { headers } = await plain.server.inject({ url })
      assert.equal(headers['strict-transport-security'], undefined, url)
      assert.equal(headers['x-content-type-options'], 'nosniff', url)
    }
  })
})
