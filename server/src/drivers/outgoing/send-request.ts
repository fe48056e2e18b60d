// Sends one request over HTTP/1.1 on a separate connection (connect.ts): no agent, so no proxy of the environment and no state shared between
// teams; redirects are not followed.
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect, NotAllowed, type ConnectOptions } from './connect.ts'

export type OutgoingRequest = {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

const headerMax = 16 * 1024

/** Passes the response to `read`, and closes the connection after it. Throws NotAllowed for the target before anything is sent. */
export async function sendRequest<T>(
  request: OutgoingRequest,
  options: ConnectOptions,
  signal: AbortSignal,
  read: (response: IncomingMessage) => Promise<T>,
): Promise<T> {
  const url = new URL(request.url)
  const isSecure = url.protocol === 'https:'
  if (!isSecure && url.protocol !== 'http:') throw new NotAllowed('the URL is not one of HTTP')
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = Number(url.port || (isSecure ? 443 : 80))
  const socket = await connect({ host, port, isSecure }, options, signal)
  try {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const { method, headers, body } = request
    const sent = httpRequest({
      createConnection: () => socket,
      method,
      path: `${url.pathname}${url.search}`,
      headers: {
        ...headers,
        host: url.host,
        connection: 'close',
        ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
      },
      maxHeaderSize: headerMax,
      signal,
    })
    sent.once('response', resolve)
    sent.on('error', reject)
    sent.end(body)
    return await read(await promise)
  } finally {
    socket.destroy()
  }
}

/** Reads at most `bytesMax`. Throws if the body is longer or incomplete. */
export async function readBody(response: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > bytesMax) throw new NotAllowed(`longer than ${bytesMax} bytes`)
  }
  return Buffer.concat(chunks)
}
