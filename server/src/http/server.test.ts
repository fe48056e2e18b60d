// Over real sockets: what the server keeps about a client, and how it reads a request target.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { addDeviceAttachmentRoute } from '@pharos/contract/attachment'
import { followStreamRoute } from '@pharos/contract/stream'
import { Failure } from '../runtime/error.ts'
import { silentLog } from '../runtime/log.ts'
import { handleStaff, handleStream } from './mount.ts'
import { createHttpServer } from './server.ts'

const actor = {
  kind: 'user',
  userId: 1,
  sessionId: 's',
  teamId: 1,
  isAdmin: true,
  isStaff: true,
  lacksSecondFactor: false,
  modules: ['lighthouse'],
} as const
const rate = { perSecond: 1_000, burst: 1_000 }

/** Resolves when the credential may be accepted. */
let accepted = Promise.resolve()
let asked = () => {}
let connection: Socket

const server = createHttpServer({
  settings: {
    bodyLimitBytes: 1_000,
    deliveryLimitBytes: 1_000,
    requestsInFlight: 10,
    requestTimeoutMs: 10_000,
    handlerTimeoutMs: 10_000,
    keepAliveTimeoutMs: 1_000,
    trustedProxies: [],
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

async function statusOf(request: string): Promise<number> {
  const client = connect(port, '127.0.0.1', () => client.write(request))
  const [line] = (await once(client.setEncoding('utf8'), 'data')) as [string]
  client.destroy()
  return Number(line.split(' ')[1])
}

const form = 'content-type: multipart/form-data; boundary=b\r\ncontent-length: 5'
const requests = {
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
