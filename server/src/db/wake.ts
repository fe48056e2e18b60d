// Wakes the loops of other processes through the database. A notification contains only a name: the work is in the tables, and a
// loop without notifications still runs by its timer.
import { sql } from 'kysely'
import { setTimeout as sleep } from 'node:timers/promises'
import { HeartbeatConnection } from './heartbeat-connection.ts'
import type { Db, Postgres, Trx } from './postgres.ts'
import { executeLater } from './team-transactions.ts'

export type WakeName =
  | 'announcements'
  | 'deliveries'
  | 'ownership'
  | 'actors'
  /** An approval about routes was decided. */
  | 'approvals'
  | 'approval-alerts'
  /** The deletions of an import were decided. */
  | 'imports'
  /** Black holes have ended, or routers show others. */
  | 'blackholes'
  | 'routers'
  | 'validations'
  | 'mails'
  | 'domains'
  /** A monthly report is due. */
  | 'reports'
  | 'webhooks'
  | 'devices'
  /** Settings of exporters have changed. */
  | 'flows'
  | 'outbox'
  /** Rule lists were changed, or an approval about them was decided. */
  | 'shield'
  /** Scrubbers hold other rules. */
  | 'shield-applied'
  /** Zones have versions that are not published, were created or deleted. */
  | 'dns'
  /** Zones have a new serial, or the catalog has. */
  | 'dns-published'
  /** TSIG keys, or their limits. */
  | 'dns-access'

export type Waker = {
  /** Calls `listener` when `name` is woken, and once after every reconnection. It must not throw; returns "unsubscribe". */
  on(name: WakeName, listener: () => void): () => void
  /** Whether notifications arrive now. */
  readonly connected: boolean
  /** Resolves after the first connection, or immediately if the database is down: it keeps trying. */
  start(): Promise<void>
  stop(): Promise<void>
}

const CHANNEL = 'pharos'
const RETRY_MIN_MS = 100
const RETRY_MAX_MS = 5_000

/** Notifies at commit, and not at all if the transaction is rolled back. The same name twice notifies once. */
export async function wake(trx: Db | Trx, name: WakeName): Promise<void> {
  await executeLater(trx, sql`select ${waking(name)}`)
}

/** Like `wake`, in the select list of another statement with one row, which notifies. */
export const waking = (name: WakeName) => sql`pg_notify(${CHANNEL}, ${name})`

/** One listening connection for the whole process. */
export function createWaker(postgres: Pick<Postgres, 'directConnection'>): Waker {
  return new ListeningWaker(postgres)
}

class ListeningWaker implements Waker {
  readonly #postgres: Pick<Postgres, 'directConnection'>
  readonly #listeners = new Map<string, Set<() => void>>()
  readonly #stopping = new AbortController()
  #connection: HeartbeatConnection | undefined
  #run: Promise<void> | undefined
  #listening = false

  constructor(postgres: Pick<Postgres, 'directConnection'>) {
    this.#postgres = postgres
  }

  get connected(): boolean {
    return this.#listening
  }

  on(name: WakeName, listener: () => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set()
    this.#listeners.set(name, listeners.add(listener))
    return () => void listeners.delete(listener)
  }

  async start(): Promise<void> {
    if (this.#run !== undefined) return
    const { promise: tried, resolve } = Promise.withResolvers<void>()
    this.#run = this.#keepListening(resolve)
    await tried
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#connection?.close()
    await this.#run
  }

  async #keepListening(tried: () => void): Promise<void> {
    let retryMs = RETRY_MIN_MS
    for (let first = true; !this.#stopping.signal.aborted; first = false) {
      try {
        const { lost } = await this.#listen()
        retryMs = RETRY_MIN_MS
        // Notifications during the disconnection are lost: wake every listener.
        if (!first) this.#notifyAll()
        tried()
        await lost
      } catch {
        // The database is unreachable, which `connected` reports.
        await this.#connection?.close()
      }
      this.#listening = false
      tried()
      await sleep(retryMs * (0.5 + Math.random()), undefined, { signal: this.#stopping.signal }).catch(
        () => {},
      )
      retryMs = Math.min(retryMs * 2, RETRY_MAX_MS)
    }
  }

  /** Resolves when listening; `lost` is wrapped, since awaiting a promise of a promise would wait for both. */
  async #listen(): Promise<{ lost: Promise<void> }> {
    const connection = await HeartbeatConnection.open(this.#postgres)
    this.#connection = connection
    if (this.#stopping.signal.aborted) await connection.close()
    await connection.listen(CHANNEL, (name) => this.#call(name))
    this.#listening = true
    return { lost: connection.lost }
  }

  #call(name: string): void {
    for (const listener of this.#listeners.get(name) ?? []) listener()
  }

  #notifyAll(): void {
    for (const name of this.#listeners.keys()) this.#call(name)
  }
}
