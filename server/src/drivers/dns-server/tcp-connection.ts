// One connection of DNS over TCP (RFC 7766): messages with a length prefix of two octets. Requests are answered one
// after the other. A peer that is silent, slow or does not read is disconnected.
import type { Socket } from 'node:net'

export type TcpLimits = {
  /** Idle time after which the connection ends. */
  readonly idleMs: number
  /** Maximum time from the first octet of a message to its last one. */
  readonly messageMs: number
  /** For the peer to take one message. */
  readonly writeMs: number
  /** Limit of waiting requests on a connection; further requests are not read. */
  readonly waiting: number
}

export type TcpReply = Uint8Array | undefined | AsyncIterable<Uint8Array>

/** Serves a connection until it ends; never rejects. A reply of undefined disconnects. */
export function serveConnection(
  socket: Socket,
  limits: TcpLimits,
  handle: (wire: Uint8Array) => TcpReply | Promise<TcpReply>,
): void {
  const connection = new Connection(socket, limits, handle)
  socket.setNoDelay(true)
  socket.on('data', (octets: Buffer) => connection.receive(octets))
  socket.on('error', () => socket.destroy())
  socket.on('end', () => connection.end())
}

class Connection {
  readonly #socket: Socket
  readonly #limits: TcpLimits
  readonly #handle: (wire: Uint8Array) => TcpReply | Promise<TcpReply>
  readonly #requests: Uint8Array[] = []
  #received: Buffer = Buffer.alloc(0)
  #isAnswering = false
  #hasEnded = false
  #timer: NodeJS.Timeout | undefined
  #timerIsForMessage = false

  constructor(socket: Socket, limits: TcpLimits, handle: (wire: Uint8Array) => TcpReply | Promise<TcpReply>) {
    this.#socket = socket
    this.#limits = limits
    this.#handle = handle
    socket.once('close', () => clearTimeout(this.#timer))
    this.#watch()
  }

  receive(octets: Buffer): void {
    this.#received = this.#received.length === 0 ? octets : Buffer.concat([this.#received, octets])
    while (this.#received.length >= 2) {
      const length = this.#received.readUInt16BE(0)
      if (this.#received.length < 2 + length) break
      this.#requests.push(new Uint8Array(this.#received.subarray(2, 2 + length)))
      this.#received = this.#received.subarray(2 + length)
    }
    if (this.#requests.length >= this.#limits.waiting) this.#socket.pause()
    this.#watch()
    void this.#answerAll()
  }

  /** The peer has ended its side; its requests are still answered. */
  end(): void {
    this.#hasEnded = true
    if (!this.#isAnswering) this.#socket.end()
  }

  /** The timer of a message is not restarted by its octets: a peer that sends them one by one is slow. */
  #watch(): void {
    const isMessage = this.#received.length > 0
    if (isMessage && this.#timerIsForMessage) return
    clearTimeout(this.#timer)
    this.#timerIsForMessage = isMessage
    if (this.#isAnswering && !isMessage) return
    this.#timer = setTimeout(
      () => this.#socket.destroy(),
      isMessage ? this.#limits.messageMs : this.#limits.idleMs,
    )
  }

  async #answerAll(): Promise<void> {
    if (this.#isAnswering) return
    this.#isAnswering = true
    try {
      for (let wire = this.#requests.shift(); wire; wire = this.#requests.shift()) {
        await this.#answer(wire)
        if (this.#socket.isPaused() && this.#requests.length < this.#limits.waiting) this.#socket.resume()
      }
    } catch {
      // A transfer that fails must not end like a complete one: the connection is reset.
      this.#socket.resetAndDestroy()
    }
    this.#isAnswering = false
    if (this.#hasEnded) this.#socket.end()
    else this.#watch()
  }

  async #answer(wire: Uint8Array): Promise<void> {
    const reply = await this.#handle(wire)
    if (reply === undefined) this.#socket.destroy()
    else if (reply instanceof Uint8Array) await this.#send(reply)
    else for await (const message of reply) await this.#send(message)
  }

  #send(message: Uint8Array): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const timer = setTimeout(() => reject(new Error('the peer takes nothing')), this.#limits.writeMs)
    const framed = Buffer.allocUnsafe(2 + message.length)
    framed.writeUInt16BE(message.length, 0)
    framed.set(message, 2)
    this.#socket.write(framed, (error) => (error ? reject(error) : resolve()))
    this.#socket.once('close', reject)
    return promise.finally(() => {
      clearTimeout(timer)
      this.#socket.off('close', reject)
    })
  }
}
