// The headers of deprecated operations and fields, with routes of this test: the contract may have no deprecation.
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { Deprecated } from '@pharos/contract/deprecation'
import { route } from '@pharos/contract/route'
import { Component, Limit, Offset, Optional, Page, Strict } from '@pharos/contract/scalar'
import { Type } from 'typebox'
import { notFound } from '../runtime/error.ts'
import { silentLog } from '../runtime/log.ts'
import { openGate } from '../runtime/testing-gate.ts'
import { handleGuest } from './mount.ts'
import { createHttpServer } from './server.ts'

const common = { group: 'BYOIP', summary: '', description: '', permission: { credential: 'none' } } as const
const older = { since: '2027-01-31', sunset: '2028-02-01', use: 'speed' }
const newer = { since: '2027-03-01', sunset: '2028-03-01', use: 'listPaths' }

const listHopsRoute = route({
  ...common,
  name: 'listHops',
  method: 'GET',
  path: '/v3/hops',
  deprecated: newer,
  query: Strict({
    limit: Limit,
    offset: Offset,
    fast: Optional(Deprecated(Type.Boolean({ default: true }), older)),
  }),
  response: Page(Component('Hop', { id: Type.Integer() })),
  success: 200,
})
const getHopRoute = route({ ...listHopsRoute, name: 'getHop', path: '/v3/hop', query: Strict({}) })
const traceRoute = route({
  ...common,
  name: 'trace',
  method: 'POST',
  path: '/v3/trace',
  keyless: 'read',
  body: Component('Trace', { to: Type.String(), fast: Optional(Deprecated(Type.Boolean(), older)) }),
  success: 204,
})

const rate = { perSecond: 1_000, burst: 1_000 }
const server = createHttpServer({
  gate: openGate,
  settings: {
    bodyLimitBytes: 1_000,
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
  credentials: {
    bearer: () => Promise.reject(new Error('not used')),
    token: () => Promise.reject(new Error('not used')),
  },
  mounted: [
    handleGuest(listHopsRoute, () => ({ results: [{ id: 1 }], count: 5 }), {}),
    handleGuest(getHopRoute, () => Promise.reject(notFound('event')), {}),
    handleGuest(traceRoute, () => {}, {}),
  ],
  observer: { answered() {}, refused() {}, inFlight() {} },
})
after(() => server.close())

const headersOf = async (url: string, payload?: object) => {
  const { headers } = await server.inject(payload ? { method: 'POST', url, payload } : { url })
  return [headers['deprecation'], headers['sunset'], headers['link']]
}
const aboutHops = '</docs/reference/byoip#listHops>; rel="deprecation"; type="text/html"'

describe('an answer', () => {
  it('of a deprecated operation has the two times and the page, before the links of a list', async () => {
    assert.deepEqual(await headersOf('/v3/hops?limit=2'), [
      '@1803859200',
      'Wed, 01 Mar 2028 00:00:00 GMT',
      `${aboutHops}, </v3/hops?limit=2&offset=2>; rel="next"`,
    ])
    assert.deepEqual(await headersOf('/v3/hops'), ['@1803859200', 'Wed, 01 Mar 2028 00:00:00 GMT', aboutHops])
  })

  it('has the earliest times of the operation and of the parameters that the request has', async () => {
    assert.deepEqual((await headersOf('/v3/hops?fast=true')).slice(0, 2), [
      '@1801353600',
      'Tue, 01 Feb 2028 00:00:00 GMT',
    ])
  })

  it('has them if the operation fails', async () => {
    const [deprecation, sunset] = await headersOf('/v3/hop')
    assert.deepEqual([deprecation, sunset], ['@1803859200', 'Wed, 01 Mar 2028 00:00:00 GMT'])
  })

  it('has them for a deprecated field of the body, and none for a request without it', async () => {
    assert.deepEqual(await headersOf('/v3/trace', { to: 'a', fast: false }), [
      '@1801353600',
      'Tue, 01 Feb 2028 00:00:00 GMT',
      '</docs/reference/byoip#trace>; rel="deprecation"; type="text/html"',
    ])
    assert.deepEqual(await headersOf('/v3/trace', { to: 'a' }), [undefined, undefined, undefined])
  })
})
