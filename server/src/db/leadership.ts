// Work that one process at a time does for all of them: a lock with a name. It must not be used if two concurrent runs
// would do harm: a paused holder does not notice that it lost the lock.
import { lockClass } from './lock-class.ts'
import type { Postgres } from './postgres.ts'
import { SessionLock } from './session-lock.ts'

/** The leadership of a named work. Inert until `hold()`. */
export class Leadership {
  readonly #lock: SessionLock

  constructor(postgres: Pick<Postgres, 'directConnection'>, name: string) {
    this.#lock = new SessionLock(postgres, [lockClass.leadership, name])
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
