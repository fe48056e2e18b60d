// A few connections to one whois server, kept open between queries, so that each query is one round trip. It
// initializes connections, and does not know the queries.
import { DriverError } from '../../runtime/driver-error.ts'
import { Failure } from '../../runtime/error.ts'
import { createSemaphore, type Semaphore } from '../../runtime/semaphore.ts'
import type { WhoisAnswer } from './whois-answer.ts'
import { type WhoisAddress, WhoisConnection } from './whois-connection.ts'
import { openingLines } from './whois-query.ts'

export type WhoisPoolConfig = WhoisAddress & {
  /** The registries to search, in order; an empty list means all registries of the server. */
  readonly sources: readonly string[]
  /** Timeout of one query, including the wait for a connection and connecting. */
  readonly timeoutMs: number
  readonly connectionsMax: number
  /** Idle connections are closed after this time. */
  readonly idleMs: number
  readonly answerBytesMax: number
}

const waitingMax = 10_000

/** The connections; opened by queries. */
export class WhoisPool {
  readonly #config: WhoisPoolConfig
  readonly #room: Semaphore
  readonly #idle: { readonly connection: WhoisConnection; readonly timer: NodeJS.Timeout }[] = []
  readonly #all = new Set<WhoisConnection>()
  readonly #closing = new AbortController()

  constructor(config: WhoisPoolConfig) {
    this.#config = config
    this.#room = createSemaphore({
      permits: config.connectionsMax,
      waiting: waitingMax,
      retryAfterSeconds: 1,
    })
  }

  /** Resolves with the answer to one line. Rejects with a DriverError, or with the signal's reason. */
  async query(line: string, signal: AbortSignal): Promise<WhoisAnswer> {
    const timeout = AbortSignal.timeout(this.#config.timeoutMs)
    const any = AbortSignal.any([signal, timeout, this.#closing.signal])
    try {
      return await this.#room.run(() => this.#queryOne(line, any), any)
    } catch (error) {
      if (signal.aborted) throw signal.reason
      throw this.#explain(error, timeout)
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new DriverError('unreachable', `${this.#name}: the client is closed`))
    for (const { timer } of this.#idle.splice(0)) clearTimeout(timer)
    for (const connection of this.#all) connection.close()
  }

  /** The server may have closed an idle connection. This is detected when it is used, and the query uses a new connection. */
  async #queryOne(line: string, signal: AbortSignal): Promise<WhoisAnswer> {
    for (let kept = this.#takeIdle(); kept; kept = this.#takeIdle()) {
      const answer = await this.#exchange(kept, line, signal).catch((error: unknown) => {
        if (signal.aborted || !(error instanceof DriverError) || error.kind !== 'unreachable') throw error
      })
      if (answer) return answer
    }
    return this.#exchange(await this.#open(signal), line, signal)
  }

  async #exchange(connection: WhoisConnection, line: string, signal: AbortSignal): Promise<WhoisAnswer> {
    const [answer] = await connection.exchange([line], 1, signal)
    this.#keep(connection)
    return answer!
  }

  async #open(signal: AbortSignal): Promise<WhoisConnection> {
    const { sources, idleMs, answerBytesMax, host, port } = this.#config
    const connection = new WhoisConnection({ host, port }, answerBytesMax)
    this.#all.add(connection)
    await connection.open(signal, () => this.#all.delete(connection))
    const lines = openingLines(sources, idleMs / 1_000 + 10)
    const answers = await connection.exchange(lines, lines.length - 1, signal)
    const selected = answers.at(-1)!
    if (sources.length > 0 && selected.kind !== 'none') {
      connection.close()
      const why = selected.kind === 'refused' ? selected.message : selected.kind
      throw new DriverError(
        'protocol',
        `${this.#name} does not have the sources ${sources.join(',')}: ${why}`,
      )
    }
    return connection
  }

  #takeIdle(): WhoisConnection | undefined {
    for (let kept = this.#idle.pop(); kept; kept = this.#idle.pop()) {
      clearTimeout(kept.timer)
      if (kept.connection.isOpen) return kept.connection
    }
    return undefined
  }

  #keep(connection: WhoisConnection): void {
    if (this.#closing.signal.aborted) return connection.close()
    const timer = setTimeout(() => {
      this.#idle.splice(
        this.#idle.findIndex((kept) => kept.connection === connection),
        1,
      )
      connection.close()
    }, this.#config.idleMs)
    timer.unref()
    this.#idle.push({ connection, timer })
  }

  #explain(error: unknown, timeout: AbortSignal): unknown {
    if (error instanceof DriverError) return error
    if (timeout.aborted) {
      return new DriverError('unreachable', `${this.#name}: no answer within ${this.#config.timeoutMs} ms`)
    }
    if (error instanceof Failure) {
      return new DriverError('refused', `${this.#name}: too many queries are waiting`, { cause: error })
    }
    return error
  }

  get #name(): string {
    return `whois server ${this.#config.host} port ${this.#config.port}`
  }
}
