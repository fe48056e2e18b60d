// Real endpoints on loopback for tests of webhooks, and name servers that say what a test wants. Nothing of the product imports
// this file.
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { parsePrefix } from '../../net/prefix.ts'
import type { HostResolver } from './resolve-host.ts'

export const loopback = [parsePrefix('127.0.0.0/8')]

export type Heard = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export type Endpoint = {
  readonly url: string
  readonly port: number
  /** What has arrived, in order. */
  readonly heard: readonly Heard[]
  /** Resolves when so many requests have arrived in full. */
  arrived(count: number): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export type Behaviour = (heard: Heard, response: ServerResponse, request: IncomingMessage) => void

/** Answers as the test says, by default with 204. With a key and certificate, over TLS. */
export async function startEndpoint(
  behave: Behaviour = (_heard, response) => response.writeHead(204).end(),
  tls?: { readonly key: string; readonly cert: string },
): Promise<Endpoint> {
  const heard: Heard[] = []
  const waiting: { count: number; resolve: () => void }[] = []
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request
      const one = { method, path, headers, body: Buffer.concat(chunks).toString() }
      heard.push(one)
      behave(one, response, request)
      for (const { count, resolve } of waiting) if (heard.length >= count) resolve()
    })
  }
  const server = tls ? createSecureServer(tls, listener) : createServer(listener)
  const { port, close } = await listen(server)
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}/hook`,
    port,
    heard,
    arrived(count) {
      const { promise, resolve } = Promise.withResolvers<void>()
      if (heard.length >= count) resolve()
      else waiting.push({ count, resolve })
      return promise
    },
    [Symbol.asyncDispose]: close,
  }
}

/** Does with each connection what the test says, below HTTP. */
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

/** Each name with its addresses, asked anew each time: a list is answered one after the other, the last one for ever. */
export function resolverOf(answers: Record<string, readonly (readonly string[])[]>): HostResolver {
  const asked: Record<string, number> = {}
  return {
    async resolve(host) {
      const list = answers[host] ?? [[host]]
      const at = (asked[host] = (asked[host] ?? -1) + 1)
      return list[Math.min(at, list.length - 1)]!
    },
  }
}
