// The whois client against faulty servers: the lab's server with injected faults, and silent servers.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@pharos/lab/address'
import { type IrrFault, IrrServer } from '@pharos/lab/irr-server'
import type { Asn } from '../../net/asn.ts'
import { parsePrefix } from '../../net/prefix.ts'
import { DriverError, type DriverErrorKind } from '../../runtime/driver-error.ts'
import { createWhoisSource, type WhoisSourceConfig } from './whois-source.ts'

const prefix = parsePrefix('192.0.2.0/24')
const never = new AbortController().signal
const route = 'route: 192.0.2.0/24\norigin: AS64496\nsource: LAB'
const timeoutMs = 2_000

describe('a whois server that misbehaves', () => {
  const faults: readonly [IrrFault, DriverErrorKind][] = [
    ['hang', 'unreachable'],
    ['drop', 'unreachable'],
    ['half', 'unreachable'],
    ['cut', 'unreachable'],
    ['garbage', 'protocol'],
    ['large', 'refused'],
  ]
  for (const [fault, kind] of faults) {
    it(`is reported as ${kind} in time if it does ${fault}, and is queried on a new connection afterwards`, async (t) => {
      const { server, source } = await labOf(t)
      assert.equal((await source.routeObjects(prefix, never)).length, 1)
      server.fault = fault
      const startedMs = performance.now()
      await assert.rejects(source.routeObjects(prefix, never), ofKind(kind))
      // The default is 8 s.
      assert.ok(performance.now() - startedMs < timeoutMs + 7_000)
      server.fault = undefined
      assert.equal((await source.routeObjects(prefix, never)).length, 1)
    })

    it(`is reported in time if it does ${fault} from the first line on`, async (t) => {
      const { server, source } = await labOf(t)
      server.fault = fault
      await assert.rejects(source.routeObjects(prefix, never), DriverError)
      server.fault = undefined
      assert.equal((await source.routeObjects(prefix, never)).length, 1)
    })
  }

  it('searches regional registries first for an aut-num object, whatever its own order', async (t) => {
    const { server, source } = await labOf(t, { sources: [] })
    await server.setObjects([
      'aut-num: AS64496\nas-name: ANYONE\nsource: RADB',
      'aut-num: AS64496\nas-name: HOLDER\nsource: RIPE',
    ])
    assert.match((await source.autNum(64_496 as Asn, never))!.text, /HOLDER/)
    await server.setObjects(['aut-num: AS64496\nas-name: ANYONE\nsource: RADB'])
    assert.equal((await source.autNum(64_496 as Asn, never))!.source, 'RADB')
  })

  it('does not have the configured registries', async (t) => {
    const { source } = await labOf(t, { sources: ['LAB', 'RIPE'] })
    await assert.rejects(source.routeObjects(prefix, never), (error) => {
      assert.ok(ofKind('protocol')(error))
      return /LAB,RIPE: One or more selected sources/.test((error as Error).message)
    })
  })

  it('rejects one query', async (t) => {
    const { port } = await serverOf(t, (socket) =>
      answering(socket, (line) => (line.startsWith('!r') ? 'F no\n' : 'C\n')),
    )
    const source = sourceAt(t, { port })
    await assert.rejects(source.routeObjects(prefix, never), ofKind('refused'))
    assert.deepEqual(await source.asSetMembers('AS-X', never), undefined)
  })

  it('returns no serial', async (t) => {
    const answers = ['F no', 'D', 'C', 'A6\nLAB:X\nC', 'A8\nLAB:N:-\nC']
    let at = 0
    const { port } = await serverOf(t, (socket) =>
      answering(socket, (line) => (line.startsWith('!j') ? `${answers[at++]}\n` : 'C\n')),
    )
    const source = sourceAt(t, { port })
    for (const _ of answers) assert.equal(await source.serial(never), undefined)
  })

  it('sends more than requested', async (t) => {
    const { port } = await serverOf(t, (socket) =>
      answering(socket, (line) => (line.startsWith('!r') ? 'D\nD\n' : 'C\n')),
    )
    await assert.rejects(sourceAt(t, { port }).routeObjects(prefix, never), ofKind('protocol'))
  })

  it('answers with objects that were not requested', async (t) => {
    const text = `${route}\n\nroute: 192.0.2.0/25\norigin: AS1\nsource: X\n\nroute: 10.0.0.0/8\norigin: AS1\nsource: X\n`
    const { port } = await serverOf(t, (socket) =>
      answering(socket, (line) => (line.startsWith('!r') ? `A${text.length}\n${text}C\n` : 'C\n')),
    )
    const routes = await sourceAt(t, { port }).routeObjects(prefix, never)
    assert.deepEqual(routes, [{ prefix, origin: 64_496, source: 'LAB' }])
  })

  it('accepts connections and sends nothing', async (t) => {
    const { port } = await serverOf(t, () => {})
    await assert.rejects(sourceAt(t, { port }).routeObjects(prefix, never), ofKind('unreachable'))
  })

  it('half-closes at once', async (t) => {
    const { port } = await serverOf(t, (socket) => socket.end())
    await assert.rejects(sourceAt(t, { port }).routeObjects(prefix, never), ofKind('unreachable'))
  })

  it('sends an endless answer slowly', async (t) => {
    const { port } = await serverOf(t, (socket) => {
      const timer = setInterval(() => socket.write('F'), 20)
      socket.on('close', () => clearInterval(timer))
    })
    await assert.rejects(sourceAt(t, { port }).routeObjects(prefix, never), DriverError)
  })
})

describe('the connections of a whois source', () => {
  it('are kept open between queries, up to the limit', async (t) => {
    const { server, source } = await labOf(t, { connectionsMax: 2 })
    await source.serial(never)
    assert.deepEqual(server.queries, ['!!', '!nPharos', '!t40', '!sLAB', '!jLAB'])
    await Promise.all(Array.from({ length: 50 }, () => source.routeObjects(prefix, never)))
    await source.serial(never)
    assert.equal(server.connections, 2)
  })

  it('are replaced if the server closed them meanwhile', async (t) => {
    const { server, source } = await labOf(t, { connectionsMax: 2 })
    await Promise.all([source.serial(never), source.serial(never)])
    server.dropConnections()
    assert.equal((await source.routeObjects(prefix, never)).length, 1)
  })

  it('are closed when idle', async (t) => {
    const { server, source } = await labOf(t, { idleMs: 30 })
    await source.serial(never)
    await untilClosed(server)
    assert.equal((await source.routeObjects(prefix, never)).length, 1)
    assert.equal(server.connections, 2)
  })

  it('are closed by an abort within an answer, without effect on others', async (t) => {
    const { server, source } = await labOf(t, { connectionsMax: 1 })
    server.fault = 'half'
    const abort = new AbortController()
    const asked = source.routeObjects(prefix, abort.signal)
    const next = source.autNum(1 as Asn, never)
    await sleep(50)
    server.fault = undefined
    abort.abort(new Error('enough'))
    await assert.rejects(asked, /enough/)
    assert.equal(await next, undefined)
  })

  it('wait for a loaded server by default: only the signal of the caller ends a query earlier', async (t) => {
    const { server, port } = await labOf(t)
    const source = createWhoisSource({ host: '127.0.0.1', port, sources: ['LAB'] })
    t.after(() => source.close())
    const timeout = t.mock.method(AbortSignal, 'timeout')
    assert.equal((await source.routeObjects(prefix, never)).length, 1)
    assert.deepEqual(new Set(timeout.mock.calls.map((call) => call.arguments[0])), new Set([30_000]))
    server.fault = 'hang'
    const abort = new AbortController()
    const asked = source.routeObjects(prefix, abort.signal)
    abort.abort(new Error('a person waits no longer'))
    await assert.rejects(asked, /a person waits/)
  })

  it('are closed with the source, and pending queries reject', async (t) => {
    const { server, source } = await labOf(t)
    server.fault = 'hang'
    const asked = assert.rejects(source.routeObjects(prefix, never), ofKind('unreachable'))
    await sleep(20)
    await source.close()
    await asked
    await untilClosed(server)
  })
})

/** Resolves when no connection to the server is open. */
async function untilClosed(server: { readonly open: number }): Promise<void> {
  for (const deadline = performance.now() + 300_000; server.open > 0; await sleep(10))
    assert.ok(performance.now() < deadline, `${server.open} connections are open`)
}

function ofKind(kind: DriverErrorKind): (error: unknown) => boolean {
  return (error) => error instanceof DriverError && error.kind === kind
}

function sourceAt(t: TestContext, config: Partial<WhoisSourceConfig> & { readonly port: number }) {
  const source = createWhoisSource({ host: '127.0.0.1', timeoutMs, ...config })
  t.after(() => source.close())
  return source
}

async function labOf(t: TestContext, config: Partial<WhoisSourceConfig> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'irr-'))
  const port = await freePort()
  const server = new IrrServer({ file: join(folder, 'lab.rpsl'), address: '127.0.0.1', port })
  await server.start()
  await server.setObjects([route])
  t.after(async () => {
    await server.stop()
    await rm(folder, { recursive: true })
  })
  return { server, port, source: sourceAt(t, { port, sources: ['LAB'], ...config }) }
}

async function serverOf(t: TestContext, serve: (socket: Socket) => void): Promise<{ port: number }> {
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    serve(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as { port: number }).port }
}

function answering(socket: Socket, answer: (line: string) => string): void {
  socket.setEncoding('utf8')
  socket.on('data', (text: string) => {
    for (const line of text.split('\n')) if (line !== '' && line !== '!!') socket.write(answer(line))
  })
}
