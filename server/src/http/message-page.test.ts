// Errors of addresses that a browser opens, on a server without a built portal: pages for people, problem documents for programs.
import assert from 'node:assert/strict'
import { connect, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { route } from '@pharos/contract/route'
import { Strict } from '@pharos/contract/scalar'
import { Type } from 'typebox'
import { notFound } from '../runtime/error.ts'
import { silentLog } from '../runtime/log.ts'
import { openGate } from '../runtime/testing-gate.ts'
import { handleGuest } from './mount.ts'
import { addPortal } from './portal.ts'
import { createHttpServer } from './server.ts'

const getHopRoute = route({
  name: 'getHop',
  group: 'BYOIP',
  method: 'GET',
  path: '/v3/hops/{id}',
  summary: '',
  description: '',
  permission: { credential: 'none' },
  params: Strict({ id: Type.String() }),
  success: 204,
})

const rate = { perSecond: 1_000, burst: 1_000 }
function createServer(requestsInFlight: number) {
  const server = createHttpServer({
    gate: openGate,
    settings: {
      bodyLimitBytes: 1_000,
      deliveryLimitBytes: 1_000,
      requestsInFlight,
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
    credentials: {
      bearer: () => Promise.reject(new Error('not used')),
      token: () => Promise.reject(new Error('not used')),
    },
    mounted: [handleGuest(getHopRoute, () => Promise.reject(notFound('event')), {})],
    observer: { answered() {}, refused() {}, inFlight() {} },
  })
  addPortal(
    server,
    {
      readBrand: () => Promise.reject(new Error('the brand is not available')),
      isSetupOpen: async () => false,
    },
    '/nowhere/',
  )
  return server
}
const server = createServer(10)
const overloaded = createServer(0)
before(() => Promise.all([server.listen({ port: 0, host: '127.0.0.1' }), overloaded.ready()]))
after(() => Promise.all([server.close(), overloaded.close()]))

const accept = 'text/html,application/xhtml+xml,*/*;q=0.8'
const open = (url: string, to = server) => to.inject({ url, headers: { accept } })

describe('an address that a browser opens', () => {
  for (const [url, status, title] of [
    ['/nope', 404, 'Not found'],
    ['/docs/nope?x=1', 404, 'Not found'],
    ['/nope/', 404, 'Not found'],
    ['//nope', 404, 'Not found'],
    ['/%zz', 400, 'The request could not be parsed'],
    ['/brand.css', 500, 'Internal error'],
  ] as const)
    it(`returns a page with the error and a way on: ${url}`, async () => {
      const { statusCode, headers, body } = await open(url)
      assert.equal(statusCode, status)
      assert.equal(headers['content-type'], 'text/html; charset=utf-8')
      assert.match(String(headers['content-security-policy']), /^default-src 'none';.* base-uri 'none'/)
      assert.equal(headers['cache-control'], 'no-store')
      assert.match(body, /^<!doctype html>/)
      assert.ok(body.includes(`<h1>${title}</h1>`), body)
      assert.match(body, /<a href="\/">/)
      assert.ok(body.includes(String(headers['x-request-id'])))
    })

  it('returns a page while the server is overloaded, with the time to wait', async () => {
    const { statusCode, headers, body } = await open('/', overloaded)
    assert.deepEqual([statusCode, headers['retry-after']], [503, '1'])
    assert.match(body, /too many requests/)
  })

  it('is escaped in the page', async () => {
    const client = connect((server.server.address() as AddressInfo).port, '127.0.0.1')
    client.write(`GET /hops/"><script> HTTP/1.1\r\nhost: x\r\naccept: ${accept}\r\nconnection: close\r\n\r\n`)
    const body = await text(client)
    assert.ok(body.includes('did you mean /v3/hops/&quot;&gt;&lt;script&gt;?'), body)
    assert.doesNotMatch(body, /<script/)
  })
})

describe('a problem document is returned', () => {
  for (const url of ['/v3/nope', '/v3/hops/1', '/api/v1/nope', '/assets/nope.js', '/.well-known/nope'])
    it(`below the APIs and for files, to browsers too: ${url}`, async () => {
      const { statusCode, headers } = await open(url)
      assert.equal(statusCode, 404)
      assert.equal(headers['content-type'], 'application/problem+json; charset=utf-8')
    })

  it('to programs, and to requests that are no navigation', async () => {
    for (const request of [
      { url: '/nope' },
      { url: '/nope', headers: { accept: 'application/json' } },
      { url: '/nope', headers: { accept: '*/*' } },
      { url: '/nope', method: 'POST', headers: { accept } },
    ] as const) {
      const { headers, json } = await server.inject(request)
      assert.equal(headers['content-type'], 'application/problem+json; charset=utf-8')
      assert.equal(json<{ status: number }>().status, 404)
    }
  })
})
