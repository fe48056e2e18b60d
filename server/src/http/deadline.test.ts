// Over a real socket: a handler that never responds, for requests with and without a body.
import assert from 'node:assert/strict'
import { connect, type AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { getRelatedEventRoute } from '@pharos/contract/events/event'
import { logoutRoute, refreshSessionRoute } from '@pharos/contract/session/session'
import { Failure } from '../runtime/error.ts'
import { silentLog } from '../runtime/log.ts'
import { handle, handleGuest } from './mount.ts'
import { createHttpServer } from './server.ts'
import { openGate } from '../runtime/testing-gate.ts'

const actor = {
  kind: 'user',
  userId: 1,
  sessionId: 's',
  teamId: 1,
  roles: ['admin'],
  isStaff: false,
  staffRoles: [],
  access: null,
  isLocal: true,
  blockedBy: null,
  modules: ['lighthouse'],
  limits: null,
} as const
const rate = { perSecond: 1_000, burst: 1_000 }
/** Longer than the server takes to notice a late request: it checks every second. */
const handlerTimeoutMs = 1_500

const server = createHttpServer({
  gate: openGate,
  settings: {
    bodyLimitBytes: 1_000,
    deliveryLimitBytes: 1_000,
    requestsInFlight: 10,
    requestTimeoutMs: 3_000,
    handlerTimeoutMs,
    keepAliveTimeoutMs: 1_000,
    trustedProxies: [],
    publicUrl: 'http://127.0.0.1:8080',
    rate,
    deliveryRate: rate,
    streams: { atOnce: 1, perTeam: 1, lifetimeMs: 0 },
  },
  log: silentLog,
  credentials: {
    bearer: async () => actor,
    token: () => Promise.reject(new Failure('unauthenticated', 'no')),
  },
  mounted: [
    handle(getRelatedEventRoute, never, {}),
    handleGuest(refreshSessionRoute, never, {}),
    handleGuest(logoutRoute, async () => ({}), {}),
  ],
  observer: { answered() {}, refused() {}, inFlight() {} },
})
let url: string

function never(): Promise<never> {
  return new Promise(() => {})
}

before(async () => {
  await server.listen({ port: 0, host: '127.0.0.1' })
  url = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`
})
after(() => server.close())

const post = (path: string): Promise<Response> =>
  fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"refresh":"x"}',
  })

async function assertAborted(answer: Response, since: number): Promise<void> {
  const took = performance.now() - since
  assert.equal(answer.status, 503)
  assert.equal(((await answer.json()) as { code: string }).code, 'unavailable')
  assert.ok(took >= handlerTimeoutMs * 0.9 && took < handlerTimeoutMs + 60_000, `${took} ms`)
}

describe('a request without a response in time', () => {
  it('is aborted', async () => {
    const since = performance.now()
    const answer = await fetch(`${url}/v3/lighthouse/security/events/related/1`, {
      headers: { authorization: 'Bearer x' },
    })
    await assertAborted(answer, since)
  })

  it('is aborted as well if it has a body', async () => {
    const since = performance.now()
    await assertAborted(await post('/v3/session/refresh'), since)
  })

  it('does not affect the next request', async () => {
    for (let n = 0; n < 3; n++) assert.equal((await post('/v3/session/logout')).status, 204)
  })
})

/** Sends the text, and resolves with all that the server sends until it closes the connection. */
function exchange(text: string): Promise<string> {
  const { port } = server.server.address() as AddressInfo
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(port, '127.0.0.1', () => text && socket.write(text))
    socket.on('data', (chunk) => (received += chunk))
    socket.once('error', reject)
    socket.once('close', () => resolve(received))
  })
}

it('answers a request that is not received in time, and closes a connection without one silently', async () => {
  const [half, unused] = await Promise.all([
    exchange('GET /v3/session/health HTTP/1.1\r\nHost:'),
    exchange(''),
  ])
  assert.match(half, /^HTTP\/1\.1 400 .*"code":"malformed"/s)
  assert.equal(unused, '')
})
