// Raw HTTP over a socket: for requests that no HTTP library would send.
import { once } from 'node:events'
import { connect } from 'node:net'

export type RawAnswer = {
  readonly status: number
  readonly headers: Map<string, string>
  readonly body: string
}

/**
 * Sends the bytes and returns the responses until the server closes the connection, or until it is silent for
 * `silenceMs` after its first bytes. `firstMs` is the timeout for the first bytes: a minute unless no response is
 * expected.
 */
export async function sendRaw(
  port: number,
  bytes: string | Buffer,
  { silenceMs = 2_000, firstMs = 60_000 } = {},
): Promise<RawAnswer[]> {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.setTimeout(firstMs, () => socket.destroy())
  socket.once('data', () => socket.setTimeout(silenceMs))
  // A server that has responded may close the connection while bytes are still being written.
  socket.on('error', () => {})
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.write(bytes)
  await once(socket, 'close')
  return parseAnswers(Buffer.concat(chunks))
}

/** Parses the responses that a connection contained. */
export function parseAnswers(bytes: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = []
  for (let rest = bytes; rest.length > 0;) {
    const end = rest.indexOf('\r\n\r\n')
    if (end < 0) throw new Error(`not an HTTP response: ${rest.toString().slice(0, 200)}`)
    const [first = '', ...lines] = rest.subarray(0, end).toString('latin1').split('\r\n')
    const headers = new Map(lines.map((line) => headerOf(line)))
    const length = Number(headers.get('content-length') ?? 0)
    const body = rest.subarray(end + 4, end + 4 + length).toString()
    answers.push({ status: Number(first.split(' ')[1]), headers, body })
    rest = rest.subarray(end + 4 + length)
  }
  return answers
}

function headerOf(line: string): [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}
