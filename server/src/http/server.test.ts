// Over real sockets: the state of a client in the server, and how it parses a request target.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { getRelatedEventRoute } from '@pharos/contract/events/event'
import { addDeviceAttachmentRoute } from '@pharos/contract/inventory/attachment'
import { followStreamRoute } from '@pharos/contract/messages/stream'
import { Failure, notFound } from '../runtime/error.ts'
import { silentLog } from '../runtime/log.ts'
import { handle, handleStaff, handleStream } from './mount.ts'
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
  modules: ['lighthouse'],
  limits: null,
} as const
const rate = { perSecond: 1e-9, burst: 1_000 }

/** Resolves when the credential may be accepted. */
let accepted = Promise.resolve()
let asked = () => {}
let connection: Socket

const server = createHttpServer({
  gate: openGate,
  settings: {
    bodyLimitBytes: 1_000,
    deliveryLimitBytes: 1_000,
    requestsInFlight: 10,
    requestTimeoutMs: 10_000,
    handlerTimeoutMs: 10_000,
    keepAliveTimeoutMs: 1_000,
    trustedProxies: ['127.0.0.1'],
    publicUrl: 'http://127.0.0.1:8080',
    rate,
    deliveryRate: rate,
    streams: { atOnce: 100, perTeam: 1, lifetimeMs: 60_000 },
  },
  log: silentLog,
  credentials: {
    bearer: async () => {
      asked()
      await accepted
      return actor
    },
    token: () => Promise.reject(new Failure('unauthenticated', 'no')),
  },
  mounted: [
    handleStream(followStreamRoute, async () => oneEvent()),
    handle(getRelatedEventRoute, () => Promise.reject(notFound('event')), {}),
    handleStaff(addDeviceAttachmentRoute, never, {}),
  ],
  observer: { answered() {}, refused() {}, inFlight() {} },
})
let port: number

async function* oneEvent() {
  yield null
}

function never(): Promise<never> {
  return new Promise(() => {})
}

before(async () => {
  server.server.on('connection', (socket) => (connection = socket))
  await server.listen({ port: 0, host: '127.0.0.1' })
  port = (server.server.address() as AddressInfo).port
})
after(() => server.close())

/** Sends a request, and disconnects while its credential is checked. */
async function abandon(request: string): Promise<void> {
  const { promise, resolve: accept } = Promise.withResolvers<void>()
  accepted = promise
  const isAsked = new Promise<void>((resolve) => (asked = resolve))
  const client = connect(port, '127.0.0.1', () => client.write(request))
  await isAsked
  const closed = once(connection, 'close')
  client.destroy()
  await closed
  accept()
}

/** Returns the beginning of the answer. */
async function send(request: string): Promise<string> {
  const client = connect(port, '127.0.0.1', () => client.write(request))
  const [answer] = (await once(client.setEncoding('utf8'), 'data')) as [string]
  client.destroy()
  return answer
}

const statusOf = async (request: string): Promise<number> => Number((await send(request)).split(' ')[1])
const remaining = async (request: string): Promise<number> =>
  Number(/ratelimit-remaining: (\d+)/i.exec(await send(request))![1])

const form = 'content-type: multipart/form-data; boundary=b\r\ncontent-length: 5'
const path = getRelatedEventRoute.path.replace(/\{\w+\}/, '1')
const get = (target: string): string => `GET ${target} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer a\r\n\r\n`
const requests = {
  plain: get(path),
  stream: `GET ${followStreamRoute.path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer a\r\n\r\n`,
  upload: `POST ${addDeviceAttachmentRoute.path.replace(/\{\w+\}/, '1')} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer a\r\n${form}\r\n\r\n--b--`,
}

describe('a client that disconnects during authentication', () => {
  for (const [name, request, slots, status] of [
    ['stream', requests.stream, 1, 200],
    ['upload', requests.upload, 3, 422],
  ] as const)
    it(`occupies no slot of ${name}s`, async () => {
      for (let n = 0; n < slots; n++) await abandon(request)
      assert.equal(await statusOf(request), status)
    })
})

it('has one bucket for a credential, whichever routes it calls', async () => {
  const first = await remaining(requests.plain)
  assert.equal(await remaining(requests.upload), first - 1)
  assert.equal(await remaining(requests.stream), first - 2)
  assert.equal(await remaining(requests.plain), first - 3)
})

it('has one bucket for the clients of a /64 that have no valid credential', async () => {
  const from = (address: string) =>
    remaining(`GET ${path} HTTP/1.1\r\nhost: x\r\nx-forwarded-for: ${address}\r\n\r\n`)
  assert.equal(await from('2001:db8::1'), rate.burst - 1)
  assert.equal(await from('2001:db8::ffff:2'), rate.burst - 2)
  assert.equal(await from('2001:db8:0:1::1'), rate.burst - 1)
})

describe('a request target in absolute form', () => {
  for (const [target, expected] of [
    [path, 'not_found'],
    [`${path}?unknown=1`, 'unknown'],
    [`${path}/`, 'trailing slash'],
  ] as const)
    it(`is served like one in origin form: ${target}`, async () => {
      const withoutIds = async (at: string) =>
        /\{.*\}/s.exec(await send(get(at)))![0].replace(/[0-9a-f-]{36}/g, '')
      const inOriginForm = await withoutIds(target)
      assert.match(inOriginForm, new RegExp(expected))
      assert.equal(await withoutIds(`http://x${target}`), inOriginForm)
      assert.equal(await withoutIds(`HTTPS://x:8080${target}`), inOriginForm)
    })
})
