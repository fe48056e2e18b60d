// Answers to many datagrams at once: with the socket calls of node:ffi, and in a second process without them.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isBuiltin } from 'node:module'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import type { DnsRequest, RequestHandler } from './handler.ts'
import { bindUdp } from './udp.ts'

const hasCalls = isBuiltin('node:ffi')
const unlimited = { perSecond: 1_000_000, burst: 1_000_000 }

/** Answers with the request and its address: late, if it begins with `late`; long, if with `long`; not at all, if with `none`. */
const handler: RequestHandler = {
  handleDatagram: ({ wire, address }: DnsRequest) => {
    const text = Buffer.from(wire).toString()
    if (text.startsWith('none')) return undefined
    if (text.startsWith('fail')) throw new Error('cannot answer')
    const answer = Buffer.from(`${address} ${text}${text.startsWith('long') ? ' '.repeat(5_000) : ''}`)
    return text.startsWith('late') ? new Promise((resolve) => setImmediate(resolve, answer)) : answer
  },
  handleStream: () => undefined,
  truncated: () => Buffer.from('truncated'),
}

/** Sends 1,500 datagrams, and then wakes the other thread. */
const flood = `
  const { createSocket } = require('node:dgram')
  const { workerData: { port, done } } = require('node:worker_threads')
  const socket = createSocket('udp4')
  let left = 1500
  const next = () => {
    if (left-- > 0) return socket.send('now', port, '127.0.0.1', next)
    Atomics.store(done, 0, 1)
    Atomics.notify(done, 0)
    socket.close()
  }
  next()`

/** Sends texts from several sockets while the server cannot read, and returns the answers of each socket. */
async function askTogether(port: number, host: string, texts: readonly string[], clients: number) {
  const sockets = Array.from({ length: clients }, () => createSocket(host.includes(':') ? 'udp6' : 'udp4'))
  const heard = await Promise.all(
    sockets.map((socket, n) => listenFor(socket, port, host, texts, n).finally(() => socket.close())),
  )
  return heard.map((answers) => answers.toSorted())
}

async function listenFor(socket: Socket, port: number, host: string, texts: readonly string[], n: number) {
  const answers: string[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const wanted = texts.filter((text) => !/^none|^fail/.test(text)).length
  socket.on('message', (octets) => {
    answers.push(octets.toString().trimEnd())
    if (answers.length === wanted) resolve()
  })
  socket.bind()
  await once(socket, 'listening')
  for (const text of texts) socket.send(`${text} ${n}`, port, host)
  await promise
  return answers
}

describe(hasCalls ? 'datagrams in batches' : 'datagrams one by one', () => {
  const errors: unknown[] = []
  let server: Socket
  before(async () => {
    server = await bindUdp({ host: '::', port: 0, handler, rate: unlimited, onError: (e) => errors.push(e) })
  })
  after(() => server.close())

  for (const [host, address] of [
    ['127.0.0.1', '127.0.0.1'],
    ['::1', '::1'],
  ] as const)
    it(`are answered to their senders, over ${host}`, async () => {
      errors.length = 0
      const texts = Array.from(
        { length: 60 },
        (_, i) => `${['now', 'late', 'now', 'none', 'long', 'fail'][i % 6]} ${i}`,
      )
      const answers = await askTogether(server.address().port, host, texts, 5)
      const answered = texts.filter((text) => !/^none|^fail/.test(text))
      assert.deepEqual(
        answers,
        answers.map((_, n) => answered.map((text) => `${address} ${text} ${n}`).toSorted()),
      )
      assert.equal(errors.length, 50)
    })

  it('leave the event loop to other work after 288 of them', async () => {
    const seen = { answered: 0, inTurn: 0, most: 0 }
    const counting: RequestHandler = {
      ...handler,
      handleDatagram: () => {
        seen.answered += 1
        seen.inTurn += 1
        seen.most = Math.max(seen.most, seen.inTurn)
        return undefined
      },
    }
    await using stack = new AsyncDisposableStack()
    const flooded = await bindUdp({ host: '127.0.0.1', port: 0, handler: counting, rate: unlimited })
    stack.defer(() => void flooded.close())
    const done = new Int32Array(new SharedArrayBuffer(4))
    const worker = new Worker(flood, { eval: true, workerData: { port: flooded.address().port, done } })
    stack.defer(() => void worker.terminate())
    // The datagrams wait in the socket meanwhile.
    Atomics.wait(done, 0, 0)
    while (seen.answered < 1500) {
      seen.inTurn = 0
      await nextTurn()
    }
    assert.ok(seen.most <= 288, `${seen.most} in a turn`)
  })

  it('have an empty one among them', async () => {
    const client = createSocket('udp4')
    client.send('', server.address().port, '127.0.0.1')
    const [octets] = (await once(client, 'message')) as [Buffer]
    client.close()
    assert.equal(octets.toString(), '127.0.0.1 ')
  })

  it('name a port that is taken', async () => {
    const { port } = server.address()
    await assert.rejects(bindUdp({ host: '::', port, handler, rate: unlimited }), { code: 'EADDRINUSE' })
  })
})

it('the same without node:ffi', { skip: !hasCalls && 'this is the process without it' }, async () => {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const file = fileURLToPath(import.meta.url)
  const words = ['--no-experimental-ffi', '--test-reporter=tap', file]
  const { stdout } = await promisify(execFile)(process.execPath, words, { env })
  assert.match(stdout, /^# fail 0$/m)
  assert.match(stdout, /datagrams one by one/)
})
