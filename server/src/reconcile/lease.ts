// The lease of a target outside of the database, such as the routers of a region: an advisory lock on a separate connection, and an epoch in
// the row of the target that each new holder of the lock raises. The lock excludes a second process; the epoch stops a paused one that
// has lost its lock. It knows no target: each passes its statements.
import type { RawBuilder } from 'kysely'
import type { HeartbeatConnection } from '../db/heartbeat-connection.ts'
import type { Db, Postgres, Trx } from '../db/postgres.ts'
import { SessionLock, type LockKey } from '../db/session-lock.ts'

/** How long a paused process can block a takeover before PostgreSQL ends its transaction. */
const fenceTimeout = '15s'
/** Longer than `fenceTimeout`: a takeover waits for a process that is paused while it sends. */
const raiseTimeoutMs = 20_000

export type LeaseTarget = {
  /** For messages, such as `region 4`. */
  readonly name: string
  readonly lock: LockKey
  /** Raises the epoch in the row of the target and returns it; no row if the target does not exist. */
  readonly raise: { readonly text: string; readonly values: unknown[] }
  /** Locks the row in shared mode, reads its epoch and sets the limit of an idle transaction. */
  readonly share: (fenceTimeout: string) => RawBuilder<{ epoch: number }>
}

/** Guards what must not happen after another process has taken over. */
export interface Fence {
  readonly epoch: number
  /**
   * Calls `work` while the row of the target is locked in shared mode at the epoch of the lease. A takeover must raise the epoch, so it
   * waits for `work`. Throws LeaseLost if the epoch has been raised already.
   */
  fence<T>(db: Db, work: (trx: Trx) => Promise<T>): Promise<T>
}

/** The right to change the target, while the connection of the lock lives and the epoch is unchanged. */
export interface Lease extends Fence {
  /** Queries on the connection of the lock: a process that has lost the lock gets no answer. */
  query<Row extends object>(text: string, values: unknown[]): Promise<Row[]>
}

/** Another process has taken over the target: this run must not change anything. */
export class LeaseLost extends Error {
  constructor(target: string) {
    super(`${target} was taken over by another reconciler`)
    this.name = 'LeaseLost'
  }
}

/** The lock of one target. Inert until `hold()`. */
export class TargetLock {
  readonly #target: LeaseTarget
  readonly #lock: SessionLock
  #current: { readonly connection: HeartbeatConnection; readonly lease: Lease } | undefined

  /** Calls `onAcquired` when this process takes over the lock from another one: `hold()` now succeeds. */
  constructor(
    postgres: Pick<Postgres, 'directConnection'>,
    target: LeaseTarget,
    onAcquired?: (() => void) | undefined,
  ) {
    this.#target = target
    this.#lock = new SessionLock(postgres, target.lock, onAcquired)
  }

  /** Returns the lease; undefined while another process holds the lock. The connection stays open for the next call. */
  async hold(): Promise<Lease | undefined> {
    const connection = await this.#lock.hold()
    if (!connection) return undefined
    if (this.#current?.connection === connection) return this.#current.lease
    try {
      const lease = leaseOf(this.#target, connection, await raiseEpoch(connection, this.#target))
      this.#current = { connection, lease }
      return lease
    } catch (error) {
      await this.release()
      throw error
    }
  }

  /** Releases the lock by closing its connection; `hold()` opens another one. */
  async release(): Promise<void> {
    this.#current = undefined
    await this.#lock.release()
  }
}

/** Waits for a process that is sending now: it locks the row until everything is sent. */
async function raiseEpoch(connection: HeartbeatConnection, { name, raise }: LeaseTarget): Promise<number> {
  const [row] = await connection.query<{ epoch: number }>(raise.text, raise.values, raiseTimeoutMs)
  if (!row) throw new Error(`${name} does not exist`)
  return row.epoch
}

const leaseOf = (target: LeaseTarget, connection: HeartbeatConnection, epoch: number): Lease => ({
  epoch,
  query: (text, values) => connection.query(text, values),
  fence: (db, work) =>
    db.transaction().execute(async (trx) => {
      const { rows } = await target.share(fenceTimeout).execute(trx)
      if (rows[0]?.epoch !== epoch) throw new LeaseLost(target.name)
      return work(trx)
    }),
})
