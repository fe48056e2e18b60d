// Token buckets per credential, in memory of the process: n processes allow n times as much, which is stated in the
// operating guide. A bucket that is full again is forgotten, so memory is bounded by who called lately.
import { fail, type Failure } from './error.ts'

export type Rate = { readonly perSecond: number; readonly burst: number }
export type RateState = { readonly limit: number; readonly remaining: number; readonly resetSeconds: number }

type Bucket = { tokens: number; at: number }

const bucketsMax = 100_000
const lookEveryMs = 5_000

export class RateLimiter {
  readonly #rate: Rate
  readonly #now: () => number
  readonly #buckets = new Map<string, Bucket>()
  /** Goes on where it was: a new iterator would first have to pass everything that was deleted. */
  #byAge = this.#buckets.keys()
  #lookedAt = -Infinity

  /** `now` gives milliseconds of a clock that never goes back. */
  constructor(rate: Rate, now: () => number = () => performance.now()) {
    this.#rate = rate
    this.#now = now
  }

  /** Takes one token of the key's bucket; throws `rate_limited` with the time to wait when there is none. */
  take(key: string): RateState {
    const bucket = this.#refilled(key)
    if (bucket.tokens < 1) throw limited((1 - bucket.tokens) / this.#rate.perSecond)
    bucket.tokens -= 1
    return this.#stateOf(bucket)
  }

  /** Gives one token back: what it was taken for turned out not to count. */
  giveBack(key: string): void {
    const bucket = this.#refilled(key)
    bucket.tokens = Math.min(this.#rate.burst, bucket.tokens + 1)
  }

  /** How many keys are remembered. */
  get size(): number {
    return this.#buckets.size
  }

  #refilled(key: string): Bucket {
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
    if (this.#buckets.size >= bucketsMax) this.#makeRoom(now)
    const bucket = { tokens: this.#rate.burst, at: now }
    this.#buckets.set(key, bucket)
    return bucket
  }

  /**
   * Full buckets mean nothing and go, but looking for them is not for every new key: somebody who spreads over keys
   * would make us look all the time. Until the next look the longest known goes, which gains him one burst at most.
   */
  #makeRoom(now: number): void {
    if (now - this.#lookedAt >= lookEveryMs) this.#forgetFull(now)
    if (this.#buckets.size < bucketsMax) return
    const { value: oldest } = this.#byAge.next()
    if (oldest === undefined) this.#byAge = this.#buckets.keys()
    else this.#buckets.delete(oldest)
  }

  #forgetFull(now: number): void {
    this.#lookedAt = now
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

export function limited(waitSeconds: number): Failure {
  const seconds = Math.max(1, Math.ceil(waitSeconds))
  return fail(
    'rate_limited',
    'requests',
    { seconds },
    {
      retryAfterSeconds: seconds,
    },
  )
}
