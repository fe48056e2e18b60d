// HEAD, methods that a path does not have, paths that are nearly right, and charsets, over all routes of the server.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { AddressInfo } from 'node:net'
import { urlOf } from '@pharos/contract/client'
import type { Problem } from '@pharos/contract/problem'
import { routes } from '@pharos/contract/document/routes'
import { createTestApi, type TestApi } from './api.ts'
import { callers } from './support/callers.ts'
import { createFixtures, type Fixtures } from './support/fixtures.ts'
import { sendRaw } from './support/raw-http.ts'
import { printedRoutes } from './support/printed-routes.ts'
import { subjects } from './support/subjects.ts'

let api: TestApi
let fixtures: Fixtures
let port: number
before(async () => {
  api = await createTestApi({ PHAROS_STREAM_LIFETIME_SECONDS: '1' })
  fixtures = await createFixtures(api)
  await api.server.listen({ port: 0, host: '127.0.0.1' })
  port = (api.server.server.address() as AddressInfo).port
})
after(() => api[Symbol.asyncDispose]())

type Answer = {
  readonly statusCode: number
  readonly headers: Record<string, unknown>
  readonly payload: string
}

/** Headers that differ between two equal requests. */
const volatile = new Set([
  'x-request-id',
  'date',
  'ratelimit-remaining',
  'ratelimit-reset',
  'content-security-policy',
  'connection',
  'keep-alive',
  'transfer-encoding',
])

/**
 * Tried again: an answer with a time, such as how long the oldest job has waited, may be longer or shorter in the
 * second of the two. A header that HEAD does not have differs every time.
 */
async function assertSame(call: (method: 'GET' | 'HEAD') => Promise<Answer>, url: string): Promise<void> {
  const compare = async () => compareAnswers(await call('HEAD'), await call('GET'), url)
  for (let again = 0; again < 9; again++) {
    const differs = await compare().then(
      () => false,
      () => true,
    )
    if (!differs) return
  }
  await compare()
}

function compareAnswers(head: Answer, get: Answer, url: string): void {
  assert.equal(head.statusCode, get.statusCode, url)
  assert.equal(head.payload, '', url)
  // A PDF has the time at which it was made, compressed. An export of an account has the entry of the one before.
  const isOther = get.headers['content-type'] === 'application/pdf' || url.startsWith('exportAccount ')
  const shown = ({ headers }: Answer) =>
    Object.fromEntries(
      Object.entries(headers).filter(
        ([name]) => !volatile.has(name) && !(isOther && name === 'content-length'),
      ),
    )
  const expected = shown(get)
  // The length of a stream, and of a problem with another request id, is the same or unknown.
  assert.deepEqual(shown(head), expected, url)
}

describe('HEAD', () => {
  const ofGet = subjects.filter(({ route }) =>
    routes.some(({ name, method }) => name === route && method === 'GET'),
  )

  for (const who of ['an admin', 'staff', 'no credential']) {
    it(`returns to ${who} the status and headers of GET, without a body, for every operation`, async () => {
      const caller = callers.find(({ name }) => name === who)!
      const tried = new Set<string>()
      for (const subject of ofGet) {
        const route = routes.find(({ name }) => name === subject.route)!
        for (const request of Object.values(subject.requests)) {
          const presented = await caller.present(api, fixtures)
          const { params = {}, query = {} } = await request!({
            api,
            fixtures,
            identity: caller.identity,
            presented,
          })
          const url = urlOf(route, params, query)
          // It may be called once a minute for each ASN.
          if (query['refresh'] === 'true') continue
          const headers = presented.authorization ? { authorization: presented.authorization } : {}
          await assertSame((method) => api.server.inject({ method, url, headers }), `${route.name} ${url}`)
          tried.add(route.name)
        }
      }
      assert.equal(tried.size, routes.filter(({ method }) => method === 'GET').length)
    })
  }

  it('is accepted for every other path with GET: pages, assets, health, metrics', async () => {
    const all = printedRoutes(api.server)
    const gets = all.filter(({ method }) => method === 'GET').map(({ url }) => url)
    const heads = new Set(all.filter(({ method }) => method === 'HEAD').map(({ url }) => url))
    assert.deepEqual(
      gets.filter((url) => !heads.has(url)),
      [],
    )
    const pages = gets.filter((url) => !url.startsWith('/v3/') || url.startsWith('/v3/openapi'))
    for (const url of ['/', '/docs', '/docs/problems', '/healthz', '/readyz', '/metrics'])
      assert.ok(pages.includes(url), url)
    assert.ok(pages.length >= 12, `${pages.length} pages`)
    for (const url of [...pages, '/no/such/page']) {
      // The metrics count the requests themselves.
      for (const accept of url === '/metrics' ? [] : ['*/*', 'text/html']) {
        const headers = { accept }
        await assertSame((method) => api.server.inject({ method, url, headers }), url)
      }
    }
    const metrics = await api.server.inject({ method: 'HEAD', url: '/metrics' })
    assert.deepEqual([metrics.statusCode, metrics.payload], [200, ''])
  })

  it('ends at once for the stream, and takes no slot of it', async () => {
    const { authorization } = await callers.find(({ name }) => name === 'an admin')!.present(api, fixtures)
    const head = `HEAD /v3/stream HTTP/1.1\r\nHost: pharos\r\nAuthorization: ${authorization}\r\n\r\n`
    for (let at = 0; at < 30; at++) {
      const [answer, ...more] = await sendRaw(port, head)
      assert.deepEqual([answer!.status, answer!.body, more.length], [200, '', 0])
      assert.equal(answer!.headers.get('content-type'), 'text/event-stream; charset=utf-8')
    }
  })
})

describe('a method that the path does not have', () => {
  const methods = 'QUERY PROPFIND TRACE OPTIONS SEARCH LINK PURGE M-SEARCH FOO get Delete'.split(' ')

  it('is 405 with the methods in Allow, for every path of the contract and every method', async () => {
    const { authorization } = await callers.find(({ name }) => name === 'an admin')!.present(api, fixtures)
    for (const path of new Set(routes.map((route) => route.path))) {
      const url = path.replaceAll(/\{\w+\}/g, '1')
      const ofPath = routes.filter((route) => matches(route.path, url)).map(({ method }) => method)
      const allowed = [...new Set(ofPath)].flatMap((method) =>
        method === 'GET' ? ['GET', 'HEAD'] : [method],
      )
      for (const method of ['QUERY', 'PROPFIND', 'FOO']) {
        const [answer, ...more] = await sendRaw(
          port,
          `${method} ${url} HTTP/1.1\r\nHost: pharos\r\nAuthorization: ${authorization}\r\nConnection: close\r\n\r\n`,
        )
        assert.deepEqual([answer!.status, more.length], [405, 0], `${method} ${url}: ${answer!.body}`)
        assert.deepEqual(answer!.headers.get('allow')!.split(', ').toSorted(), allowed.toSorted(), url)
        assert.equal((JSON.parse(answer!.body) as Problem).code, 'method_not_allowed')
      }
    }
  })

  const matches = (path: string, url: string): boolean =>
    new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`).test(url)

  for (const method of methods) {
    it(`is 405 for ${method}, with and without a body, also for pages`, async () => {
      for (const url of ['/v3/ipam/regions?limit=1', '/', '/docs', '/healthz', '/readyz', '/metrics']) {
        for (const rest of [
          '',
          'Content-Length: 2\r\n',
          'Content-Length: 2\r\nContent-Type: application/json\r\n',
        ]) {
          const bytes = `${method} ${url} HTTP/1.1\r\nHost: pharos\r\nConnection: close\r\n${rest}\r\n${rest ? '{}' : ''}`
          const [answer] = await sendRaw(port, bytes)
          assert.equal(answer!.status, 405, `${method} ${url} ${rest}: ${answer!.body}`)
          assert.equal(answer!.headers.get('allow'), 'GET, HEAD')
          assert.match(answer!.headers.get('content-type')!, /^application\/problem\+json/)
        }
      }
    })
  }

  it('is 404 for a path that does not exist', async () => {
    for (const method of ['QUERY', 'FOO', 'POST']) {
      const [answer] = await sendRaw(
        port,
        `${method} /v3/nothing HTTP/1.1\r\nHost: pharos\r\nConnection: close\r\n\r\n`,
      )
      assert.equal(answer!.status, 404, method)
    }
  })
})

describe('a path that does not exist', () => {
  const detailOf = async (url: string) => {
    const answer = await api.server.inject({ url })
    assert.equal(answer.statusCode, 404, url)
    return answer.json<Problem>().detail
  }

  it('with a trailing slash is answered with the right one, for every path', async () => {
    for (const path of new Set(routes.map((route) => route.path))) {
      const url = path.replaceAll(/\{\w+\}/g, '1')
      assert.equal(
        await detailOf(`${url}/?limit=1`),
        `There is no such path: paths have no trailing slash. Use ${url}.`,
      )
    }
  })

  it('is answered with a similar one', async () => {
    const cases = {
      '/v3//ipam/announcements': /empty segment\. Use \/v3\/ipam\/announcements\.$/,
      '/v3/ipam/announcement': /did you mean \/v3\/ipam\/announcements\?/,
      '/v3/ipam/anouncements/7/history': /did you mean \/v3\/ipam\/announcements\/7\/history\?/,
      '/ipam/announcements': /did you mean \/v3\/ipam\/announcements\?/,
      '/V3/IPAM/Announcements': /did you mean \/v3\/ipam\/announcements\?/,
      '/v3/something/else/entirely': /^There is no such path\. \/docs/,
      [`/v3/${'x'.repeat(5_000)}`]: /^There is no such path\. \/docs/,
    }
    for (const [url, expected] of Object.entries(cases)) assert.match(await detailOf(url), expected)
  })
})

describe('the charset of a body', () => {
  const patch = async (type: string) => {
    const { authorization = '' } = await callers
      .find(({ name }) => name === 'an admin')!
      .present(api, fixtures)
    return api.server.inject({
      method: 'PATCH',
      url: `/v3/ipam/announcements/${fixtures.red.announcements.on}`,
      headers: { authorization, 'content-type': type },
      payload: '{"enabled":false}',
    })
  }

  for (const type of [
    'application/json',
    'Application/JSON; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json; charset="utf-8"',
    'application/json; charset="UTF-8"; profile=x',
    'application/json; charset=utf8',
  ]) {
    it(`may be: ${type}`, async () => assert.equal((await patch(type)).statusCode, 200))
  }

  for (const type of [
    'application/json; charset=iso-8859-1',
    'application/json; charset=latin1',
    'application/json; charset="windows-1252"',
    'application/json; CHARSET=UTF-16',
    'application/json;charset="utf-16le"',
    'application/json; profile=x; charset=us-ascii',
    'application/json; charset=utf-8; charset=utf-16',
    'application/json; charset=""',
    'application/json; charset="utf-8 "',
  ]) {
    it(`is 415 for ${type}`, async () => {
      const answer = await patch(type)
      assert.equal(answer.statusCode, 415, answer.body)
      assert.match(answer.json<Problem>().detail, /Send the body in UTF-8\.|as application\/json/)
    })
  }

  it('of a form is checked as well', async () => {
    const { authorization = '' } = await callers
      .find(({ name }) => name === 'an admin')!
      .present(api, fixtures)
    const answer = await api.server.inject({
      method: 'POST',
      url: `/v3/ipam/announcements/${fixtures.red.announcements.on}/loa`,
      headers: { authorization, 'content-type': 'multipart/form-data; boundary=b; charset=utf-16' },
      payload: '--b--\r\n',
    })
    assert.equal(answer.statusCode, 415, answer.body)
    assert.match(answer.json<Problem>().detail, /"utf-16" is not accepted/)
  })
})
