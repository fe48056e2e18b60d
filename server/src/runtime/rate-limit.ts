// Token buckets per credential, in memory of the process: n processes allow n times as much, as the operating guide
// states. A full bucket is deleted, so memory is bounded by the number of recent callers.
import { fail, type Failure, type RateState } from './error.ts'

export type Rate = { readonly perSecond: number; readonly burst: number }

type Bucket = { tokens: number; at: number }

const bucketsMax = 100_000
const sweepIntervalMs = 5_000

export class RateLimiter {
  readonly #rate: Rate
  readonly #now: () => number
  readonly #buckets = new Map<string, Bucket>()
  /** Continues at its position: a new iterator would first have to skip all deleted entries. */
  #byAge = this.#buckets.keys()
  #lastSweep = -Infinity

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(rate: Rate, now: () => number = () => performance.now()) {
    this.#rate = rate
    this.#now = now
  }

  /** Takes one token from the key's bucket; throws `rate_limited` with the time to wait if it is empty. */
  take(key: string): RateState {
    const bucket = this.#refill(key)
    if (bucket.tokens < 1) throw limited((1 - bucket.tokens) / this.#rate.perSecond, this.#stateOf(bucket))
    bucket.tokens -= 1
    return this.#stateOf(bucket)
  }

  /** Returns one token, for an operation that should not count. */
  giveBack(key: string): void {
    const bucket = this.#refill(key)
    bucket.tokens = Math.min(this.#rate.burst, bucket.tokens + 1)
  }

  /** Number of stored keys. */
  get size(): number {
    return this.#buckets.size
  }

  #refill(key: string): Bucket {
    const now = this.#now()
    const bucket = this.#buckets.get(key) ?? this.#add(key, now)
    bucket.tokens = Math.min(
      this.#rate.burst,
      bucket.tokens + ((now - bucket.at) / 1000) * this.#rate.perSecond,
    )
    bucket.at = now
    return bucket
  }

  #add(key: string, now: number): Bucket {
    if (this.#buckets.size >= bucketsMax) this.#evict(now)
    const bucket = { tokens: this.#rate.burst, at: now }
    this.#buckets.set(key, bucket)
    return bucket
  }

  /**
   * Full buckets carry no state and are deleted, but not with every new key: a caller that uses many keys would cause a
   * search each time. Until the next search the oldest entry is deleted, which gains its caller at most one burst.
   */
  #evict(now: number): void {
    if (now - this.#lastSweep >= sweepIntervalMs) this.#deleteFull(now)
    if (this.#buckets.size < bucketsMax) return
    const { value: oldest } = this.#byAge.next()
    if (oldest === undefined) this.#byAge = this.#buckets.keys()
    else this.#buckets.delete(oldest)
  }

  #deleteFull(now: number): void {
    this.#lastSweep = now
    const fullAfterMs = (this.#rate.burst / this.#rate.perSecond) * 1000
    for (const [key, bucket] of this.#buckets) if (now - bucket.at >= fullAfterMs) this.#buckets.delete(key)
  }

  #stateOf(bucket: Bucket): RateState {
    const { burst, perSecond } = this.#rate
    return {
      limit: burst,
      remaining: Math.floor(bucket.tokens),
      resetSeconds: Math.ceil((burst - bucket.tokens) / perSecond),
    }
  }
}

/** Returns the failure for a limit; `rate` is its state, if it is a token bucket. */
export function limited(waitSeconds: number, rate?: RateState): Failure {
  const seconds = Math.max(1, Math.ceil(waitSeconds))
  const details = { retryAfterSeconds: seconds, ...(rate ? { rate } : {}) }
  return fail('rate_limited', 'requests', { seconds }, details)
}
