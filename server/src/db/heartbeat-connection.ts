// A direct connection on which both sides detect within seconds that the other one vanished: a machine without power or
// network does not close connections, and TCP alone reports it after 15 minutes to two hours. The client sends a
// heartbeat and destroys the socket if it gets no answer; the server ends a session that is idle for longer than the
// heartbeat interval. The client stops first, so that no other session gets its locks while it still relies on them.
import type { Client } from 'pg'
import { socketOf } from './connection.ts'
import type { Postgres } from './postgres.ts'

/** Time between heartbeats, in milliseconds. */
const intervalMs = 5_000
/** Time limit for a heartbeat, and for any query without its own limit. */
const answerMs = 8_000
/** When the server ends an idle session: after the client has stopped (13 s), and well within a takeover's minute. */
const idleSessionMs = 20_000
/** Closing does not wait longer than this for the server. */
const closeMs = 1_000

export type HeartbeatOptions = {
  /** The heartbeat's query, if an empty statement is not enough. */
  readonly beat?: (connection: HeartbeatConnection) => Promise<unknown>
}

/** Opened by `open`, and not reopened after a loss: open another one. */
export class HeartbeatConnection {
  /** Resolves when the connection is closed, by either side. */
  readonly lost: Promise<void>
  readonly #client: Client
  readonly #timer: NodeJS.Timeout
  #isLost = false
  #pending = 0
  /** Of performance.now(). */
  #answeredMs = performance.now()

  private constructor(
    client: Client,
    { beat = (connection) => connection.query('select') }: HeartbeatOptions,
  ) {
    this.#client = client
    this.#timer = setInterval(() => {
      // A query in progress has its own limit, and the session is not idle in the meantime.
      if (this.#pending === 0) beat(this).catch(() => this.#destroy())
    }, intervalMs)
    this.lost = new Promise((resolve) => {
      client.once('end', () => {
        this.#isLost = true
        clearInterval(this.#timer)
        resolve()
      })
    })
  }

  static async open(
    postgres: Pick<Postgres, 'directConnection'>,
    options: HeartbeatOptions = {},
  ): Promise<HeartbeatConnection> {
    const connection = new HeartbeatConnection(await postgres.directConnection(), options)
    try {
      await connection.query(`set idle_session_timeout = ${idleSessionMs}`)
      return connection
    } catch (error) {
      await connection.close()
      throw error
    }
  }

  /** False if the session may have ended: it was closed, or this process was paused for longer than the time limit. */
  get isAlive(): boolean {
    const silentMs = performance.now() - this.#answeredMs
    if (!this.#isLost && this.#pending === 0 && silentMs > intervalMs + answerMs) this.#destroy()
    return !this.#isLost
  }

  /** Rejects with the database's error; closes the connection if there is no answer within `timeoutMs`. */
  async query<Row extends object>(
    text: string,
    values: unknown[] = [],
    timeoutMs = answerMs,
  ): Promise<Row[]> {
    let isAnswered = false
    // After a pause of the process, timer and answer arrive in the same turn: the answer counts.
    const timer = setTimeout(() => setImmediate(() => isAnswered || this.#destroy()), timeoutMs)
    this.#pending++
    try {
      const { rows } = await this.#client.query<Row>(text, values)
      this.#answeredMs = performance.now()
      return rows
    } finally {
      isAnswered = true
      clearTimeout(timer)
      this.#pending--
    }
  }

  /** Calls `listener` with the payload of each notification on the channel. */
  async listen(channel: string, listener: (payload: string) => void): Promise<void> {
    this.#client.on('notification', ({ payload = '' }) => listener(payload))
    await this.query(`listen ${channel}`)
  }

  /** Ends the session; resolves when it is closed on this side, which takes a second if the server does not answer. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    if (this.#isLost) return
    const timer = setTimeout(() => this.#destroy(), closeMs)
    await this.#client.end().catch(() => {})
    clearTimeout(timer)
  }

  #destroy(): void {
    this.#isLost = true
    clearInterval(this.#timer)
    socketOf(this.#client).destroy()
  }
}
