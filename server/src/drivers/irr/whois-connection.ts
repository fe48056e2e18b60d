// One TCP connection to a whois server: lines out, answers in, one exchange at a time. It is closed after any error, because a
// later answer could not be distinguished from the missing one.
import { connect, type Socket } from 'node:net'
import { DriverError } from '../../runtime/driver-error.ts'
import { createWhoisDecoder, WhoisAnswerError, type WhoisAnswer, type WhoisDecoder } from './whois-answer.ts'

export type WhoisAddress = { readonly host: string; readonly port: number }

type Exchange = PromiseWithResolvers<WhoisAnswer[]> & {
  readonly wanted: number
  readonly answers: WhoisAnswer[]
}

/** A connection; `open` connects it. It closes when the server closes it. */
export class WhoisConnection {
  readonly #address: WhoisAddress
  readonly #decoder: WhoisDecoder
  #socket: Socket | undefined
  #exchange: Exchange | undefined
  #error: DriverError | undefined
  #onClose = (): void => {}

  constructor(address: WhoisAddress, answerBytesMax: number) {
    this.#address = address
    this.#decoder = createWhoisDecoder(answerBytesMax)
  }

  /** Rejects with a DriverError `unreachable`, or with the signal's reason. */
  async open(signal: AbortSignal, onClose: () => void): Promise<void> {
    const opened = Promise.withResolvers<void>()
    const socket = (this.#socket = connect({ ...this.#address, noDelay: true }))
    this.#onClose = onClose
    socket.once('connect', opened.resolve)
    socket.on('data', (bytes: Buffer) => this.#receive(bytes))
    // The reason comes first, then `close` in any case.
    socket.on('error', (error) => this.#fail(this.#unreachable(error.message, error)))
    socket.once('end', () => this.#fail(this.#unreachable('it closed the connection')))
    socket.once('close', () => {
      this.#fail(this.#unreachable('the connection is closed'))
      opened.reject(this.#error)
      this.#onClose()
    })
    await this.#until(signal, opened.promise)
  }

  get isOpen(): boolean {
    return this.#socket !== undefined && this.#error === undefined
  }

  /**
   * Sends all lines and resolves with the next `wanted` answers. Rejects with a DriverError, or with the signal's
   * reason; the connection is then closed.
   */
  async exchange(lines: readonly string[], wanted: number, signal: AbortSignal): Promise<WhoisAnswer[]> {
    if (this.#error) throw this.#error
    if (!this.#socket || this.#exchange) throw new Error('a whois connection has one exchange at a time')
    const exchange = (this.#exchange = { ...Promise.withResolvers<WhoisAnswer[]>(), wanted, answers: [] })
    this.#socket.write(`${lines.join('\n')}\n`)
    try {
      const answers = await this.#until(signal, exchange.promise)
      // Unrequested data may belong to another query.
      if (this.#error) throw this.#error
      return answers
    } finally {
      this.#exchange = undefined
    }
  }

  close(): void {
    this.#fail(this.#unreachable('the connection is closed'))
  }

  #receive(bytes: Uint8Array): void {
    if (this.#error) return
    try {
      for (const answer of this.#decoder.push(bytes)) this.#take(answer)
      if (!this.#exchange && this.#decoder.isInside) throw new WhoisAnswerError('garbage', 'unrequested data')
    } catch (error) {
      if (!(error instanceof WhoisAnswerError)) throw error
      const kind = error.reason === 'too_large' ? 'refused' : 'protocol'
      this.#fail(new DriverError(kind, this.#say(error.message), { cause: error }))
    }
  }

  #take(answer: WhoisAnswer): void {
    const exchange = this.#exchange
    if (!exchange || exchange.answers.length === exchange.wanted) {
      throw new WhoisAnswerError('garbage', 'an unrequested answer')
    }
    exchange.answers.push(answer)
    if (exchange.answers.length === exchange.wanted) exchange.resolve(exchange.answers)
  }

  #fail(error: DriverError): void {
    this.#error ??= error
    this.#exchange?.reject(this.#error)
    this.#socket?.destroy()
  }

  /** Settles with the promise or the signal, whichever is first; the signal closes the connection. */
  async #until<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
    const abort = Promise.withResolvers<never>()
    const onAbort = (): void => {
      abort.reject(signal.reason)
      this.close()
    }
    promise.catch(() => {})
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    try {
      return await Promise.race([abort.promise, promise])
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  #unreachable(what: string, cause?: unknown): DriverError {
    return new DriverError('unreachable', this.#say(what), { cause })
  }

  #say(what: string): string {
    return `whois server ${this.#address.host} port ${this.#address.port}: ${what}`
  }
}
