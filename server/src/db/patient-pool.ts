// A pool that waits for one of its connections if the server has none left: other processes, tools and replicas take them too.
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool, type PoolClient } from 'pg'
import { CONNECT_TIMEOUT_MS } from './connection.ts'
import { isServerFull } from './failure.ts'

/** A connection of another process that ends is noticed after this time, one of the pool at once. */
const pauseMs = 100

export class PatientPool extends Pool {
  override connect(): Promise<PoolClient>
  override connect(callback: Parameters<Pool['connect']>[0]): void
  override connect(callback?: Parameters<Pool['connect']>[0]): Promise<PoolClient> | void {
    return callback ? super.connect(callback) : this.#connect()
  }

  /** Rejects with the refusal of the server after the time that a connection may take. */
  async #connect(): Promise<PoolClient> {
    for (const deadline = performance.now() + CONNECT_TIMEOUT_MS; ;) {
      try {
        return await super.connect()
      } catch (error) {
        if (!isServerFull(error) || this.ending || performance.now() > deadline) throw error
        await this.#nextRelease()
      }
    }
  }

  async #nextRelease(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const onRelease = () => resolve()
    this.once('release', onRelease)
    await Promise.race([promise, sleep(pauseMs)])
    this.off('release', onRelease)
  }
}
