// Caches credentials for a few seconds, so that a busy client does not cost two queries per call. A change of sessions, users,
// members, teams or tokens invalidates it at once through the database's notification. While notifications are not received, nothing
// is cached: a revoked credential must not keep working because a notification was lost.
import type { Waker } from '../db/wake.ts'

const ttlMs = 5_000
const entriesMax = 50_000

export class CredentialCache<T> {
  readonly #waker: Pick<Waker, 'connected'>
  readonly #entries = new Map<string, { value: T; until: number }>()
  /** Incremented by every `clear`: a value that was loaded before it must not be stored after it. */
  #generation = 0

  constructor(waker: Pick<Waker, 'connected' | 'on'>) {
    this.#waker = waker
    waker.on('actors', () => this.clear())
  }

  /** Returns a cached value; undefined if there is none. */
  find(key: string): T | undefined {
    const entry = this.#entries.get(key)
    return entry && this.#waker.connected && entry.until > performance.now() ? entry.value : undefined
  }

  async get(key: string, load: () => Promise<T>): Promise<T> {
    const cached = this.find(key)
    if (cached !== undefined) return cached
    const generation = this.#generation
    const value = await load()
    if (this.#waker.connected && generation === this.#generation) this.#keep(key, value)
    return value
  }

  invalidate(key: string): void {
    this.#entries.delete(key)
  }

  clear(): void {
    this.#generation += 1
    this.#entries.clear()
  }

  #keep(key: string, value: T): void {
    if (this.#entries.size >= entriesMax) this.#entries.clear()
    this.#entries.set(key, { value, until: performance.now() + ttlMs })
  }
}
