// One TCP or TLS connection to an RTR cache (RFC 8210 section 9): decodes received PDUs and sends encoded ones, with a limit on
// every wait. It reports its end exactly once and does not reconnect.
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { decodePdu } from './pdu.ts'
import type { DecodedPdu } from './pdu.ts'
import type { RtrAddress } from './url.ts'

export type RtrConnectionOptions = {
  readonly address: RtrAddress
  readonly connectTimeoutMs: number
  /** Writes may start. */
  readonly onOpen: () => void
  /** An error thrown here ends the connection, like an error of `decodePdu`. */
  readonly onPdu: (decoded: DecodedPdu) => void
  /** With the reason; not called after `close`. */
  readonly onEnd: (reason: Error) => void
}

/** Connects in the constructor. */
export class RtrConnection {
  readonly #options: RtrConnectionOptions
  readonly #socket: Socket
  readonly #connecting: NodeJS.Timeout
  #answer: NodeJS.Timeout | undefined
  /** Octets of a PDU that is not complete. */
  #rest: Uint8Array = new Uint8Array(0)
  #ended = false

  constructor(options: RtrConnectionOptions) {
    this.#options = options
    const { connectTimeoutMs } = options
    this.#connecting = setTimeout(
      () => this.#end(new Error(`no connection within ${connectTimeoutMs} ms`)),
      connectTimeoutMs,
    )
    this.#socket = open(options.address, () => this.#opened())
    this.#socket.on('data', (chunk) => this.#take(chunk as Buffer))
    this.#socket.on('error', (error) => this.#end(error))
    this.#socket.on('close', () => this.#end(new Error('the cache closed the connection')))
  }

  send(octets: Uint8Array): void {
    if (!this.#ended) this.#socket.write(octets)
  }

  /** Ends the connection if no octets arrive within this time, until called with `undefined`. */
  expectWithin(timeoutMs: number | undefined): void {
    clearTimeout(this.#answer)
    if (timeoutMs === undefined || this.#ended) return
    this.#answer = setTimeout(() => this.#end(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
  }

  /** Closes the connection without calling `onEnd`; `last` is still sent. */
  close(last?: Uint8Array): void {
    if (this.#ended) return
    this.#ended = true
    clearTimeout(this.#connecting)
    clearTimeout(this.#answer)
    if (last === undefined) this.#socket.destroy()
    else {
      this.#socket.end(last)
      const timer = setTimeout(() => this.#socket.destroy(), reportTimeoutMs)
      this.#socket.once('close', () => clearTimeout(timer))
      this.#socket.resume()
    }
  }

  #opened(): void {
    clearTimeout(this.#connecting)
    // A cache may be silent for an hour: a broken connection must be noticed before the next query.
    this.#socket.setKeepAlive(true, 30_000)
    this.#socket.setNoDelay(true)
    if (!this.#ended) this.#options.onOpen()
  }

  #take(chunk: Uint8Array): void {
    if (this.#ended) return
    const octets = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    let at = 0
    try {
      for (let next = decodePdu(octets, at); next && !this.#ended; next = decodePdu(octets, at)) {
        at += next.octets.length
        this.#options.onPdu(next)
      }
    } catch (error) {
      this.#end(error as Error)
    }
    this.#rest = octets.subarray(at)
  }

  #end(reason: Error): void {
    if (this.#ended) return
    this.#options.onEnd(reason)
    this.close()
  }
}

const reportTimeoutMs = 1_000

function open({ host, port, tls }: RtrAddress, opened: () => void): Socket {
  if (!tls) return connectTcp({ host, port }, opened)
  // RFC 6066 section 3: no server name for an address; its certificate is checked against the address all the same.
  return connectTls(
    { host, port, servername: isIP(host) === 0 ? host : '', minVersion: 'TLSv1.2', ...tls },
    opened,
  )
}
