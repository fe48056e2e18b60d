// Work that one process at a time does for all of them: an advisory lock on a connection of its own, given up with the
// connection. It must not be used where two at once would do harm: a paused holder does not learn that it lost the lock.
import type { Client } from 'pg'
import type { Postgres } from './postgres.ts'

/** First half of the advisory locks' keys, "phal"; the second is the name's hash. */
export const lockClass = 0x7068616c

/** The leadership of a named work. Inert until `hold()`. */
export class Leadership {
  readonly #postgres: Pick<Postgres, 'directConnection'>
  readonly #name: string
  #client: Client | undefined
  #held = false

  constructor(postgres: Pick<Postgres, 'directConnection'>, name: string) {
    this.#postgres = postgres
    this.#name = name
  }

  /** Whether this process leads, asking for it if need be. The connection stays open to ask again. */
  async hold(): Promise<boolean> {
    const client = (this.#client ??= await this.#connect())
    if (this.#held) return true
    const { rows } = await client.query<{ locked: boolean }>(
      'select pg_try_advisory_lock($1, hashtext($2)) as locked',
      [lockClass, this.#name],
    )
    return (this.#held = rows[0]?.locked === true && this.#client === client)
  }

  /** Lets another process lead. */
  async release(): Promise<void> {
    const client = this.#client
    this.#client = undefined
    this.#held = false
    await client?.end().catch(() => {})
  }

  async #connect(): Promise<Client> {
    const client = await this.#postgres.directConnection()
    client.once('end', () => {
      if (this.#client !== client) return
      this.#client = undefined
      this.#held = false
    })
    return client
  }
}
