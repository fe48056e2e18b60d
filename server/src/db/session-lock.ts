// An advisory lock that belongs to a session: work that one process at a time does for all of them. The session has a
// heartbeat, so that the lock of a process or machine that vanished is free within half a minute; waiting sessions try again
// with every heartbeat. A paused holder may have lost it unknowingly: work that must not be done twice needs a fence too.
import { HeartbeatConnection } from './heartbeat-connection.ts'
import type { Postgres } from './postgres.ts'

/** The two halves of the key: the user and the purpose; a name is hashed. */
export type LockKey = readonly [use: number, object: number | string]

/** Inert until `hold()`. */
export class SessionLock {
  readonly #postgres: Pick<Postgres, 'directConnection'>
  readonly #key: LockKey
  readonly #onAcquired: () => void
  #connection: HeartbeatConnection | undefined
  /** The connection with the lock. */
  #holder: HeartbeatConnection | undefined
  /**
   * The last call: two concurrent calls would open two sessions, of which one could keep the lock without being used.
   */
  #last: Promise<unknown> = Promise.resolve()

  /** Calls `onAcquired` when a lock that `hold()` did not get is acquired later. */
  constructor(postgres: Pick<Postgres, 'directConnection'>, key: LockKey, onAcquired: () => void = () => {}) {
    this.#postgres = postgres
    this.#key = key
    this.#onAcquired = onAcquired
  }

  /**
   * Returns the connection whose session has the lock, after trying to acquire it; undefined while another session has
   * it. The connection stays open for further attempts.
   */
  hold(): Promise<HeartbeatConnection | undefined> {
    return this.#inTurn(async () => {
      try {
        const connection = await this.#connect()
        return (await this.#tryLock(connection)) ? connection : undefined
      } catch (error) {
        await this.#close()
        throw error
      }
    })
  }

  /** Releases the lock by ending its session, after a `hold()` that is under way; `hold()` acquires it again. */
  release(): Promise<void> {
    return this.#inTurn(() => this.#close())
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => {})
    return result
  }

  async #close(): Promise<void> {
    const connection = this.#connection
    this.#connection = undefined
    this.#holder = undefined
    await connection?.close()
  }

  async #connect(): Promise<HeartbeatConnection> {
    if (this.#connection?.isAlive) return this.#connection
    const beat = (connection: HeartbeatConnection) => this.#beat(connection)
    return (this.#connection = await HeartbeatConnection.open(this.#postgres, { beat }))
  }

  async #tryLock(connection: HeartbeatConnection): Promise<boolean> {
    if (this.#holder === connection) return true
    const [use, object] = this.#key
    const [row] = await connection.query<{ locked: boolean }>(
      `select pg_try_advisory_lock($1, ${typeof object === 'string' ? 'hashtext($2)' : '$2'}) as locked`,
      [use, object],
    )
    if (row?.locked !== true || this.#connection !== connection) return false
    this.#holder = connection
    return connection.isAlive
  }

  async #beat(connection: HeartbeatConnection): Promise<void> {
    if (this.#holder === connection) return void (await connection.query('select'))
    if (await this.#tryLock(connection)) this.#onAcquired()
  }
}
