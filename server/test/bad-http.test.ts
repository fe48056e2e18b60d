// HTTP that no client would send, over a real socket: wrong lengths, ambiguous framing, endless headers, bytes that are
// not HTTP. The server responds with a problem document or closes the connection, without changes, and continues to
// serve others.
import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { createTestApi, type TestApi } from './api.ts'
import { openSession } from './support/credentials.ts'
import { sendRaw, type RawAnswer } from './support/raw-http.ts'
import { trackChanges, type Changes } from './support/changes.ts'
import { createFixtures, type Fixtures } from './support/fixtures.ts'

let api: TestApi
let fixtures: Fixtures
let port: number
let head: string
let changesSince: Changes

before(async () => {
  api = await createTestApi({ PHAROS_REQUEST_TIMEOUT_SECONDS: '2', PHAROS_BODY_LIMIT_BYTES: '65536' })
  fixtures = await createFixtures(api)
  changesSince = await trackChanges(api.database.postgres.owner)
  await api.server.listen({ port: 0, host: '127.0.0.1' })
  port = (api.server.server.address() as AddressInfo).port
  const { access } = await openSession(api, fixtures.people.admin.userId, fixtures.red.teamId)
  head =
    `PATCH /v3/ipam/announcements/${fixtures.red.announcements.on} HTTP/1.1\r\nHost: pharos\r\n` +
    `Authorization: Bearer ${access}\r\nContent-Type: application/json\r\n`
})
after(() => api[Symbol.asyncDispose]())

const off = '{"enabled":false}'
/** Without this header the server keeps the connection open, and the test waits. */
const close = 'Connection: close\r\n'
const body = (text: string) => `Content-Length: ${text.length}\r\n\r\n${text}`

/** Asserts that every response is a problem document of the status. */
function assertProblems(answers: readonly RawAnswer[], ...statuses: number[]): void {
  assert.deepEqual(
    answers.map(({ status }) => status),
    statuses,
    JSON.stringify(answers),
  )
  for (const answer of answers) {
    assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/)
    const problem = JSON.parse(answer.body) as { status: number; code: string; detail: string }
    assert.equal(problem.status, answer.status)
    assert.ok(problem.detail.length > 10, answer.body)
  }
}

/** The request, and the expected statuses of its responses; empty if the connection is closed. */
type Case = [what: string, bytes: () => string | Buffer, statuses: number[]]

const cases: Case[] = [
  ['has a Content-Length that is too short', () => `${head}${close}Content-Length: 5\r\n\r\n${off}`, [400]],
  ['has a Content-Length that is not reached', () => `${head}${close}Content-Length: 500\r\n\r\n${off}`, []],
  ['never sends its body', () => `${head}${close}Content-Length: 17\r\n\r\n`, [400]],
  ['has a negative Content-Length', () => `${head}${close}Content-Length: -1\r\n\r\n${off}`, [400]],
  [
    'has a Content-Length that is not a number',
    () => `${head}${close}Content-Length: many\r\n\r\n${off}`,
    [400],
  ],
  ['has a Content-Length with a sign', () => `${head}${close}Content-Length: +17\r\n\r\n${off}`, [400]],
  ['has a hexadecimal Content-Length', () => `${head}${close}Content-Length: 0x11\r\n\r\n${off}`, [400]],
  [
    'has two Content-Length headers',
    () => `${head}${close}Content-Length: 17\r\nContent-Length: 18\r\n\r\n${off}`,
    [400],
  ],
  [
    'has two lengths in one Content-Length header',
    () => `${head}${close}Content-Length: 17, 17\r\n\r\n${off}`,
    [400],
  ],
  [
    'has both a Content-Length and chunks',
    () => `${head}${close}Content-Length: 17\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    [400],
  ],
  [
    'has a Content-Length out of range',
    () => `${head}${close}Content-Length: 99999999999999999999\r\n\r\n${off}`,
    [400],
  ],
  [
    'has a Content-Length beyond the limit, and has not sent its body',
    () => `${head}${close}Content-Length: 1000000\r\n\r\n{`,
    [413],
  ],
  [
    'has a chunk without a size',
    () => `${head}${close}Transfer-Encoding: chunked\r\n\r\nzz\r\n${off}\r\n0\r\n\r\n`,
    [400],
  ],
  ['has an unknown transfer encoding', () => `${head}${close}Transfer-Encoding: gzip\r\n\r\n${off}`, [400]],
  [
    'has chunks beyond the limit',
    () => `${head}${close}Transfer-Encoding: chunked\r\n\r\n11170\r\n${'x'.repeat(70_000)}\r\n0\r\n\r\n`,
    [413],
  ],
  ...(
    [
      ['has two hosts', 'Host: pharos\r\nHost: other\r\n'],
      ['has the same host twice', 'Host: pharos\r\nhost: pharos\r\n'],
      ['has a second host that is empty', 'Host: pharos\r\nHOST:\r\n'],
      ['has a host with a path', 'Host: pharos/admin\r\n'],
      ['has a host with a user', 'Host: admin@pharos\r\n'],
      ['has a host with a space', 'Host: pharos other\r\n'],
      ['has a port that is no number', 'Host: pharos:http\r\n'],
    ] as const
  ).map(([what, hosts]): Case => [
    what,
    () => `${head.replace('Host: pharos\r\n', `${hosts}${close}`)}${body(off)}`,
    [400],
  ]),
  ['has no host', () => `${head.replace('Host: pharos\r\n', close)}${body(off)}`, [400]],
  ['has a header with a space in its name', () => `${head}${close}X Y: 1\r\n${body(off)}`, [400]],
  ['has a header without a name', () => `${head}${close}: 1\r\n${body(off)}`, [400]],
  ['has a folded header', () => `${head}${close}X: 1\r\n 2\r\n${body(off)}`, [400]],
  ['has a NUL in a header', () => `${head}${close}X: a\0b\r\n${body(off)}`, [400]],
  ['has 100 kB of headers', () => `${head}${close}X: ${'x'.repeat(100_000)}\r\n${body(off)}`, [400]],
  [
    'has a path of 100 kB',
    () => `GET /${'x'.repeat(100_000)} HTTP/1.1\r\nHost: pharos\r\n${close}\r\n`,
    [400],
  ],
  [
    'has a space in its path',
    () => `GET /v3/ipam /announcements HTTP/1.1\r\nHost: pharos\r\n${close}\r\n`,
    [400],
  ],
  ['has an unknown method', () => `SWITCH /v3/ipam/regions HTTP/1.1\r\nHost: pharos\r\n${close}\r\n`, [405]],
  [
    'has an unknown method and an unknown path',
    () => `SWITCH /v3/ipam HTTP/1.1\r\nHost: pharos\r\n${close}\r\n`,
    [404],
  ],
  ['has an unsupported version', () => `GET /healthz HTTP/9.9\r\nHost: pharos\r\n\r\n`, [400]],
  ['is TLS', () => Buffer.from('16030100a5010000a10303', 'hex'), [400]],
  ['is a line of text', () => 'hello\r\n\r\n', [400]],
  ['is random bytes', () => Buffer.from([0, 255, 1, 254, 13, 10, 13, 10]), [400]],
]

describe('a raw request', () => {
  for (const [what, bytes, statuses] of cases) {
    it(`that ${what} is rejected and changes nothing`, async () => {
      await changesSince()
      const limits = statuses.length === 0 ? { firstMs: 500 } : {}
      assertProblems(await sendRaw(port, bytes(), limits), ...statuses)
      assert.deepEqual(await changesSince(), [])
    })
  }

  it('with a second one hidden in its body gets one response, and the second is not executed', async () => {
    await changesSince()
    const hidden = `${head}${body(off)}`
    const answers = await sendRaw(port, `${head}${body(`{"enabled":true,"note":"x"}\n${hidden}`)}`, {
      silenceMs: 500,
    })
    assertProblems(answers, 400)
    assert.deepEqual(await changesSince(), [])
  })

  it('may have any host of RFC 3986, and none in HTTP/1.0', async () => {
    const hosts = ['pharos.example', 'Pharos_1.example:8080', '192.0.2.1:80', '[2001:db8::1]:8080', 'a:', '']
    const requests = [
      ...hosts.map((host) => `GET /healthz HTTP/1.1\r\nHost: ${host}\r\n${close}\r\n`),
      'GET /healthz HTTP/1.0\r\n\r\n',
    ]
    for (const request of requests) assert.equal((await sendRaw(port, request))[0]!.status, 200, request)
  })

  it('with two Authorization headers uses the first only', async () => {
    const [answer] = await sendRaw(
      port,
      `${head}${close}Authorization: Token x\r\n${body('{"enabled":true}')}`,
    )
    assert.equal(answer!.status, 200)
  })

  it('is served while other connections stay open and send nothing', async () => {
    const idle = Array.from({ length: 200 }, () =>
      sendRaw(port, 'GET /healthz HTTP/1.1\r\n', { firstMs: 3_000 }),
    )
    const [answer] = await sendRaw(port, 'GET /healthz HTTP/1.1\r\nHost: pharos\r\nConnection: close\r\n\r\n')
    assert.equal(answer!.status, 200)
    await Promise.all(idle)
  })
})
