// One keep-alive connection that sends a request and waits for its answer, on a bare socket: on two cores every
// microsecond of the client is taken from the measured server, and pgbench, with which it is compared, is C.
// It supports the answers of this product (Content-Length, no chunks) and throws on anything else.
import { connect, type Socket } from 'node:net'

/** `length` in bytes; the body as latin1, one character for each byte, so that no character is cut in two. */
export type Answered = (status: number, length: number, body: string | undefined) => void

const RECEIVE_BYTES = 256 * 1024
const HEAD_MAX_BYTES = 16 * 1024

/** A client of one server; `open` resolves when connected. */
export class HttpConnection {
  readonly #socket: Socket
  #answered: Answered | undefined
  #wantsBody = false
  #head = ''
  #status = 0
  #length = 0
  /** Remaining bytes of the body; negative while the head is read. */
  #rest = -1
  #body = ''
  #closed: Error | undefined

  private constructor(url: URL, connected: () => void, failed: (error: Error) => void) {
    const buffer = Buffer.allocUnsafe(RECEIVE_BYTES)
    this.#socket = connect({
      host: url.hostname,
      port: Number(url.port),
      noDelay: true,
      onread: {
        buffer,
        callback: (length) => {
          this.#take(buffer.subarray(0, length))
          return true
        },
      },
    })
    this.#socket.once('connect', connected)
    this.#socket.on('error', (error) => {
      this.#closed = error
      failed(error)
    })
    this.#socket.on('close', () => {
      this.#closed ??= new Error('the server closed the connection')
      if (this.#answered) throw this.#closed
    })
  }

  static open(url: string): Promise<HttpConnection> {
    return new Promise((resolve, reject) => {
      const connection: HttpConnection = new HttpConnection(new URL(url), () => resolve(connection), reject)
    })
  }

  /** One request at a time; the body of the answer is kept only on request. */
  send(request: string, wantsBody: boolean, answered: Answered): void {
    if (this.#closed) throw this.#closed
    this.#answered = answered
    this.#wantsBody = wantsBody
    this.#socket.write(request, 'latin1')
  }

  /** A server closes idle connections. */
  get isClosed(): boolean {
    return this.#closed !== undefined
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    const body = this.#rest < 0 ? this.#takeHead(chunk) : chunk
    if (body === undefined) return
    this.#rest -= body.length
    if (this.#wantsBody) this.#body += body.toString('latin1')
    if (this.#rest === 0) this.#finish()
    else if (this.#rest < 0) throw new Error('the answer is longer than its content-length')
  }

  /** The bytes after the head; undefined while the head is incomplete. */
  #takeHead(chunk: Buffer): Buffer | undefined {
    const text = this.#head + chunk.toString('latin1', 0, Math.min(chunk.length, HEAD_MAX_BYTES))
    const end = text.indexOf('\r\n\r\n')
    if (end < 0) {
      if (text.length > HEAD_MAX_BYTES) throw new Error('the head of an answer is too long')
      this.#head = text
      return undefined
    }
    const before = this.#head.length
    this.#head = ''
    this.#readHead(text.slice(0, end))
    return chunk.subarray(end + 4 - before)
  }

  #readHead(head: string): void {
    this.#status = Number(head.slice(9, 12))
    const length = /\r\ncontent-length: (\d+)/i.exec(head)
    if (!length) throw new Error(`an answer without Content-Length: ${head}`)
    this.#length = Number(length[1])
    this.#rest = this.#length
  }

  #finish(): void {
    this.#rest = -1
    const answered = this.#answered
    if (!answered) {
      this.#closed ??= new Error('the server closed an idle connection')
      return this.close()
    }
    const body = this.#wantsBody ? this.#body : undefined
    this.#body = ''
    this.#answered = undefined
    answered(this.#status, this.#length, body)
  }
}

export type HttpRequest = {
  readonly method: string
  readonly path: string
  readonly authorization?: string
  /** As set by a proxy. */
  readonly forwardedFor?: string
  readonly body?: string
}

/** The bytes of a request; `body` must be ASCII. */
export function renderRequest(host: string, request: HttpRequest): string {
  const { method, path, authorization, forwardedFor, body } = request
  const credential = authorization === undefined ? '' : `Authorization: ${authorization}\r\n`
  const from = forwardedFor === undefined ? '' : `X-Forwarded-For: ${forwardedFor}\r\n`
  const head = `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${credential}${from}`
  if (body === undefined) return `${head}\r\n`
  return `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

/** One request, with the body of its answer. */
export function ask(connection: HttpConnection, request: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve) =>
    connection.send(request, true, (status, _length, body) =>
      resolve({ status, body: Buffer.from(body ?? '', 'latin1').toString() }),
    ),
  )
}
