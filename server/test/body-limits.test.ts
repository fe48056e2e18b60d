// Bodies over the limit, sent by real clients over sockets: each sees 413 with the limit instead of a reset connection, for JSON,
// uploads and deliveries, with Content-Length and with chunks, with and without `Expect: 100-continue`.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import type { Problem } from '@pharos/contract/problem'
import { skipWithout } from '../../lab/src/program.ts'
import { createTestApi, type TestApi } from './api.ts'
import { openSession } from './support/credentials.ts'
import { createFixtures } from './support/fixtures.ts'
import { formOf, formType } from './support/letters.ts'
import { parseAnswers, sendRaw } from './support/raw-http.ts'

const run = promisify(execFile)

let api: TestApi
let folder: string
let port: number
/** The three kinds of bodies: their targets, the limit, and a body that is much larger. */
let targets: Record<'json' | 'upload' | 'delivery', Target>

type Target = {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly bytesMax: number
  readonly loc: readonly string[]
  readonly detail: RegExp
}

before(async () => {
  api = await createTestApi({
    PHAROS_BODY_LIMIT_BYTES: '65536',
    PHAROS_DELIVERY_LIMIT_BYTES: '100000',
    PHAROS_REQUEST_TIMEOUT_SECONDS: '20',
  })
  const fixtures = await createFixtures(api)
  folder = await mkdtemp(join(tmpdir(), 'pharos-body-'))
  await api.server.listen({ port: 0, host: '127.0.0.1' })
  port = (api.server.server.address() as AddressInfo).port
  const { access } = await openSession(api, fixtures.people.admin.userId, fixtures.red.teamId)
  const announcement = `/v3/ipam/announcements/${fixtures.red.announcements.on}`
  const authorization = `Bearer ${access}`
  targets = {
    json: {
      method: 'PATCH',
      path: announcement,
      headers: { authorization, 'content-type': 'application/json' },
      body: Buffer.from(`{"enabled":false,"region":"${'x'.repeat(12_000_000)}"}`),
      bytesMax: 65_536,
      loc: ['body'],
      detail: /at most 65536 bytes \(64 KiB\)/,
    },
    upload: {
      method: 'POST',
      path: `${announcement}/loa`,
      headers: { authorization, 'content-type': formType },
      body: formOf([
        { name: 'file', filename: 'l.pdf', type: 'application/pdf', content: Buffer.alloc(14_000_000) },
      ]),
      bytesMax: 10_485_760,
      loc: ['body', 'file'],
      detail: /larger than 10485760 bytes \(10 MiB\)/,
    },
    delivery: {
      method: 'POST',
      path: '/v3/ingest/events/detector',
      headers: {
        authorization: `Token ${fixtures.sources.detector}`,
        'content-type': 'application/json',
      },
      body: Buffer.alloc(12_000_000, 'x'),
      bytesMax: 100_000,
      loc: ['body'],
      detail: /at most 100000 bytes \(97\.7 KiB\)/,
    },
  }
})
after(async () => {
  await api[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const kinds = ['json', 'upload', 'delivery'] as const
const framings = ['Content-Length', 'chunks'] as const

function assertTooLarge({ bytesMax, loc, detail }: Target, status: number, text: string): void {
  assert.equal(status, 413, text)
  const problem = JSON.parse(text) as Problem
  assert.equal(problem.code, 'body_too_large')
  assert.match(problem.detail, detail)
  assert.deepEqual(problem.errors?.[0]?.loc, loc)
  assert.deepEqual(problem.errors?.[0]?.ctx, { bytes_max: bytesMax })
}

const headOf = (
  { method, path, headers, body }: Target,
  framing: (typeof framings)[number],
  more: readonly string[] = [],
): string =>
  [
    `${method} ${path} HTTP/1.1`,
    'Host: pharos',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    framing === 'chunks' ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`,
    ...more,
    '\r\n',
  ].join('\r\n')

const framed = ({ body }: Target, framing: (typeof framings)[number]): Buffer =>
  framing === 'chunks'
    ? Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')])
    : body

/** Writes everything before it reads, as simple clients do. */
async function writeThenRead(bytes: readonly (string | Buffer)[]): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' })
  const problems: Error[] = []
  socket.on('error', (error) => problems.push(error))
  socket.pause()
  for (const part of bytes) await written(socket, part)
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.resume()
  await once(socket, 'close')
  assert.deepEqual(problems, [])
  return Buffer.concat(chunks).toString()
}

function written(socket: Socket, part: string | Buffer): Promise<void> {
  return new Promise((resolve, reject) => socket.write(part, (error) => (error ? reject(error) : resolve())))
}

for (const kind of kinds) {
  for (const framing of framings) {
    describe(`a body over the limit: ${kind}, with ${framing}`, () => {
      it('is 413 for a client that writes everything before it reads', async () => {
        const target = targets[kind]
        for (const more of [[], ['Connection: close']]) {
          const bytes = await writeThenRead([headOf(target, framing, more), framed(target, framing)])
          const [answer, ...others] = parseAnswers(Buffer.from(bytes))
          assertTooLarge(target, answer!.status, answer!.body)
          assert.equal(answer!.headers.get('connection'), 'close')
          assert.deepEqual(others, [])
        }
      })

      it('is 413 for fetch', async () => {
        const target = targets[kind]
        const { method, path, headers, body } = target
        const stream = new ReadableStream({
          start(controller) {
            for (let at = 0; at < body.length; at += 65_536)
              controller.enqueue(body.subarray(at, at + 65_536))
            controller.close()
          },
        })
        const response = await fetch(`http://127.0.0.1:${port}${path}`, {
          method,
          headers,
          ...(framing === 'chunks'
            ? { body: stream, duplex: 'half' as const }
            : { body: new Uint8Array(body) }),
        })
        assertTooLarge(target, response.status, await response.text())
      })

      it("is 413 for node's http client", async () => {
        const target = targets[kind]
        const { method, path, headers, body } = target
        const length = framing === 'chunks' ? {} : { 'content-length': body.length }
        const call = httpRequest({
          host: '127.0.0.1',
          port,
          method,
          path,
          headers: { ...headers, ...length },
        })
        call.end(body)
        const [response] = await once(call, 'response')
        const chunks: Buffer[] = []
        for await (const chunk of response) chunks.push(chunk)
        assertTooLarge(target, response.statusCode, Buffer.concat(chunks).toString())
      })

      it('is 413 for curl, with and without Expect', { skip: skipWithout('curl') }, async () => {
        const target = targets[kind]
        const file = join(folder, `${kind}.bin`)
        await writeFile(file, target.body)
        const headers = Object.entries(target.headers).map(([name, value]) => `${name}: ${value}`)
        if (framing === 'chunks') headers.push('Transfer-Encoding: chunked')
        for (const expect of ['Expect:', 'Expect: 100-continue']) {
          const { stdout } = await run('curl', [
            '-sS',
            '-X',
            target.method,
            '--data-binary',
            `@${file}`,
            '-w',
            '\n%{http_code}',
            ...[...headers, expect].flatMap((header) => ['-H', header]),
            `http://127.0.0.1:${port}${target.path}`,
          ])
          const at = stdout.lastIndexOf('\n')
          assertTooLarge(target, Number(stdout.slice(at + 1)), stdout.slice(0, at))
        }
      })
    })
  }

  it(`${kind} over the limit by Content-Length is 413 before a client that expects 100 sends it`, async () => {
    const target = targets[kind]
    const answers = await sendRaw(port, headOf(target, 'Content-Length', ['Expect: 100-continue']))
    assert.equal(answers.length, 1, JSON.stringify(answers))
    assertTooLarge(target, answers[0]!.status, answers[0]!.body)
  })
}

describe('Expect: 100-continue', () => {
  const expecting = (target: Target, authorization = target.headers['authorization']!) =>
    headOf({ ...target, headers: { ...target.headers, authorization } }, 'Content-Length', [
      'Expect: 100-continue',
      'Connection: close',
    ])

  it('is answered with 100 if the body is wanted, and the body is then read', async () => {
    const target = { ...targets.json, body: Buffer.from('{"enabled":false}') }
    const socket = connect({ port, host: '127.0.0.1' })
    socket.write(expecting(target))
    const [first] = (await once(socket, 'data')) as [Buffer]
    assert.match(first.toString(), /^HTTP\/1\.1 100 Continue\r\n\r\n$/)
    socket.write(target.body)
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    await once(socket, 'close')
    assert.equal(parseAnswers(Buffer.concat(chunks))[0]!.status, 200)
  })

  it('is answered with the refusal, without 100, if the credential is wrong', async () => {
    const answers = await sendRaw(port, expecting(targets.json, 'Bearer x'))
    assert.deepEqual(
      answers.map(({ status }) => status),
      [401],
    )
  })
})

describe('a body that is refused for another reason before it was read', () => {
  it('is answered to a client that writes everything first and then closes', async () => {
    const target = targets.json
    const head = headOf(target, 'Content-Length', ['Connection: close'])
    for (const [text, status] of [
      [head.replace(/authorization: [^\r]+/, 'authorization: Bearer x'), 401],
      [head.replace('application/json', 'text/plain'), 415],
      [head.replace(target.path, '/v3/nothing'), 404],
      [head.replace('PATCH', 'PUT'), 405],
    ] as const) {
      const [answer] = parseAnswers(Buffer.from(await writeThenRead([text, target.body])))
      assert.equal(answer!.status, status, answer!.body)
    }
  })
})

describe('the rest of a body over the limit', () => {
  it('is not waited for longer than two seconds if nothing arrives', async () => {
    const start = performance.now()
    const answers = await sendRaw(port, headOf(targets.json, 'Content-Length'), { silenceMs: 10_000 })
    assert.deepEqual(
      answers.map(({ status }) => status),
      [413],
    )
    const seconds = (performance.now() - start) / 1000
    assert.ok(seconds > 1 && seconds < 8, `${seconds} s`)
  })

  it('is read for at most ten seconds and 64 MiB, in constant memory', async () => {
    const slow = connect({ port, host: '127.0.0.1' })
    slow.on('error', () => {})
    slow.resume()
    slow.write(headOf({ ...targets.json, body: Buffer.alloc(1) }, 'chunks'))
    slow.write(`11000\r\n${'x'.repeat(0x11000)}\r\n`)
    const start = performance.now()
    const drip = setInterval(() => slow.write('1\r\nx\r\n'), 500)
    await once(slow, 'close')
    clearInterval(drip)
    const seconds = (performance.now() - start) / 1000
    assert.ok(seconds > 8 && seconds < 16, `${seconds} s`)

    const fast = connect({ port, host: '127.0.0.1' })
    fast.on('error', () => {})
    fast.resume()
    fast.write(headOf(targets.json, 'chunks'))
    const mebibyte = Buffer.concat([
      Buffer.from('100000\r\n'),
      Buffer.alloc(0x100000, 'x'),
      Buffer.from('\r\n'),
    ])
    const before = process.memoryUsage().rss
    let sent = 0
    while (!fast.destroyed && sent < 2_000) {
      await written(fast, mebibyte).catch(() => fast.destroy())
      sent++
    }
    assert.ok(fast.destroyed && sent >= 60 && sent < 200, `${sent} MiB`)
    assert.ok(process.memoryUsage().rss - before < 200 * 1024 * 1024)
  })
})
