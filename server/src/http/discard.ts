// Answers a request while its body still arrives. A server that closes the connection immediately resets it, and a
// client that writes its whole body before it reads sees the reset instead of the answer. The rest of the body is
// therefore read and discarded, within limits of bytes and time, before the connection is closed.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { Readable } from 'node:stream'
import { setTimeout as after } from 'node:timers'

const discardedBytesMax = 64 * 1024 * 1024
const discardMs = 10_000
/** Time without a byte after which the client is not sending any more. */
const idleMs = 2_000

/** Sockets whose answer is complete while their request is not. */
const answered = new WeakSet<Duplex>()

/** Whether the answer to the unfinished request of the socket was sent already. */
export const isAnswered = (socket: Duplex): boolean => answered.has(socket)

/** Whether bytes of the body are still to come. */
export const isReceiving = ({ complete, headers }: IncomingMessage): boolean =>
  !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0)

/** Returns the text as a payload that ends once the rest of the body was discarded. */
export function textBeforeRest(text: string, request: IncomingMessage): Readable {
  return Readable.from(parts(text, request), { objectMode: false })
}

async function* parts(text: string, request: IncomingMessage): AsyncGenerator<string> {
  yield text
  answered.add(request.socket)
  await discard(request)
}

function discard(request: IncomingMessage): Promise<void> {
  if (request.readableEnded || request.destroyed) return Promise.resolve()
  const { promise, resolve } = Promise.withResolvers<void>()
  let bytes = 0
  const count = (chunk: Buffer) => {
    idle.refresh()
    bytes += chunk.length
    if (bytes > discardedBytesMax) end()
  }
  const timers = [after(end, discardMs), after(end, idleMs)] as const
  const [, idle] = timers
  function end() {
    for (const timer of timers) clearTimeout(timer)
    request.off('data', count).pause()
    resolve()
  }
  request.on('data', count).once('end', end).once('close', end).once('error', end).resume()
  return promise
}

/**
 * Lets a client that sent `Expect: 100-continue` send its body only when the body is read, and not at all if the request is
 * rejected before that (RFC 9110, 10.1.1).
 */
export function continueWhenRead(server: Server): void {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    request.on('newListener', function sendContinue(event: string) {
      if (event !== 'data') return
      request.off('newListener', sendContinue)
      if (!response.headersSent) response.writeContinue()
    })
    server.emit('request', request, response)
  })
}
