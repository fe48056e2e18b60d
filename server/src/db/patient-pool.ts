// A pool that waits for one of its own connections if the server has no free connection: other processes, tools and
// replicas use them too.
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool, type PoolClient } from 'pg'
import { CONNECT_TIMEOUT_MS } from './connection.ts'
import { isServerFull } from './failure.ts'

/** Pause between attempts of a pool without connections. */
const pauseMs = 100
/** Time for which a pool does not open connections after a refusal: its callers wait in turn for the existing ones. */
const lowMs = 1_000

export class PatientPool extends Pool {
  #isLow = false

  override connect(): Promise<PoolClient>
  override connect(callback: Parameters<Pool['connect']>[0]): void
  override connect(callback?: Parameters<Pool['connect']>[0]): Promise<PoolClient> | void {
    return callback ? super.connect(callback) : this.#connect()
  }

  /**
   * Rejects with the refusal of the server if the pool gets no connection within the connection timeout. With open
   * connections, the caller waits in turn, regardless of the time of the refusal: the pool limits that wait.
   */
  async #connect(): Promise<PoolClient> {
    for (const deadline = performance.now() + CONNECT_TIMEOUT_MS; ;) {
      try {
        return await super.connect()
      } catch (error) {
        if (!isServerFull(error) || this.ending) throw error
        if (this.totalCount > 0) this.#lower()
        else if (performance.now() < deadline) await sleep(pauseMs)
        else throw error
      }
    }
  }

  #lower(): void {
    const options = this.options as { max: number }
    const { max } = options
    options.max = this.totalCount
    if (this.#isLow) return
    this.#isLow = true
    setTimeout(() => {
      this.#isLow = false
      options.max = max
    }, lowMs).unref()
  }
}
