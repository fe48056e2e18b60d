// Work that one process at a time does for all of them: a lock with a name. It must not be used if two at once would do
// harm: a paused holder does not notice that it lost the lock.
import type { Postgres } from './postgres.ts'
import { SessionLock } from './session-lock.ts'

/** First half of the advisory locks' keys, "phal"; the second is the name's hash. */
export const lockClass = 0x7068616c

/** The leadership of a named work. Inert until `hold()`. */
export class Leadership {
  readonly #lock: SessionLock

  constructor(postgres: Pick<Postgres, 'directConnection'>, name: string) {
    this.#lock = new SessionLock(postgres, [lockClass, name])
  }

  /** Whether this process leads; tries to acquire the lock if it does not. Rejects if the database does not answer. */
  async hold(): Promise<boolean> {
    return (await this.#lock.hold()) !== undefined
  }

  /** Lets another process lead. */
  release(): Promise<void> {
    return this.#lock.release()
  }
}
