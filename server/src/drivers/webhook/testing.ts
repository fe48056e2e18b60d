// Real endpoints on loopback for tests of webhooks, and name servers with configured answers. The product does not import this
// file.
import { createSocket } from 'node:dgram'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { parsePrefix } from '../../net/prefix.ts'
import type { HostResolver } from '../outgoing/resolve-host.ts'

export const loopback = [parsePrefix('127.0.0.0/8')]

export type ReceivedRequest = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export type Endpoint = {
  readonly url: string
  readonly port: number
  /** Received requests, in order. */
  readonly received: readonly ReceivedRequest[]
  /** Resolves when this many requests were received completely. */
  arrived(count: number): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export type Behaviour = (
  received: ReceivedRequest,
  response: ServerResponse,
  request: IncomingMessage,
) => void

/** Starts an endpoint with configured answers, by default 204. With a key and certificate it uses TLS. */
export async function startEndpoint(
  behave: Behaviour = (_received, response) => response.writeHead(204).end(),
  tls?: { readonly key: string; readonly cert: string },
): Promise<Endpoint> {
  const received: ReceivedRequest[] = []
  const waiting: { count: number; resolve: () => void }[] = []
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request
      const one = { method, path, headers, body: Buffer.concat(chunks).toString() }
      received.push(one)
      behave(one, response, request)
      for (const { count, resolve } of waiting) if (received.length >= count) resolve()
    })
  }
  const server = tls ? createSecureServer(tls, listener) : createServer(listener)
  const { port, close } = await listen(server)
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}/hook`,
    port,
    received,
    arrived(count) {
      const { promise, resolve } = Promise.withResolvers<void>()
      if (received.length >= count) resolve()
      else waiting.push({ count, resolve })
      return promise
    },
    [Symbol.asyncDispose]: close,
  }
}

/** Starts a TCP server that handles each connection with the given function. */
export async function startTcp(
  accept: (socket: Socket) => void,
): Promise<{ readonly port: number } & AsyncDisposable> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {})
    accept(socket)
  })
  const { port, close } = await listen(server)
  return { port, [Symbol.asyncDispose]: close }
}

async function listen(server: Server): Promise<{ port: number; close: () => Promise<void> }> {
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  }
  server.on('connection', keep)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  }
  return { port: (server.address() as AddressInfo).port, close }
}

/** Resolves each name from a list of answers, one per call; the last answer is repeated. */
export function resolverOf(answers: Record<string, readonly (readonly string[])[]>): HostResolver {
  const queries: Record<string, number> = {}
  return {
    async resolve(host) {
      const list = answers[host] ?? [[host]]
      const at = (queries[host] = (queries[host] ?? -1) + 1)
      return list[Math.min(at, list.length - 1)]!
    },
  }
}

/**
 * Starts a name server on loopback (UDP). Each name has a list of answers to A and to AAAA, one per query; the last
 * answer is repeated. Other names do not exist.
 */
export async function startNameServer(
  zone: Record<string, readonly (readonly string[])[]>,
): Promise<{ readonly server: string } & AsyncDisposable> {
  const queries = new Map<string, number>()
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = readQuestion(query)
    const key = `${name} ${type}`
    const list = zone[name]
    const at = queries.get(key) ?? 0
    queries.set(key, at + 1)
    const wanted = list?.[Math.min(at, list.length - 1)]
    const records = (wanted ?? []).filter((one) => one.includes(':') === (type === 28))
    socket.send(answerTo(query.subarray(0, end), type, records, wanted === undefined), port, address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return {
    server: `127.0.0.1:${socket.address().port}`,
    [Symbol.asyncDispose]: () => new Promise((resolve) => socket.close(() => resolve())),
  }
}

/** The first question (RFC 1035, 4.1.2); `end`: where it ends. */
function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length).toLowerCase())
    at += length + 1
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 }
}

function answerTo(question: Buffer, type: number, records: readonly string[], isUnknown: boolean): Buffer {
  const head = Buffer.from(question.subarray(0, 12))
  head.writeUInt16BE(isUnknown ? 0x8583 : 0x8580, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(records.length, 6)
  head.writeUInt32BE(0, 8)
  const answers = records.map((record) => {
    const bytes = type === 28 ? sixBytes(record) : Buffer.from(record.split('.').map(Number))
    const fixed = Buffer.from([0xc0, 0x0c, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length])
    return Buffer.concat([fixed, bytes])
  })
  return Buffer.concat([head, question.subarray(12), ...answers])
}

function sixBytes(address: string): Buffer {
  const [head = '', tail = ''] = address.split('::')
  const words = (text: string) =>
    text === '' ? [] : text.split(':').map((word) => Number.parseInt(word, 16))
  const [before, after] = [words(head), words(tail)]
  const all = [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after]
  return Buffer.from(all.flatMap((word) => [word >> 8, word & 255]))
}
