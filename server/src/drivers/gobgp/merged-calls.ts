// Merges many notifications into few calls: the first of a burst is passed on soon, and an endless burst with a growing delay.
// Two programs that undo each other's routes must not cause hundreds of changes a minute for a neighbor.

export type MergedCallsOptions = {
  /** Delay from the first notification to the call. */
  readonly delayMs: number
  /** The delay doubles with each call, up to this value, and is reset after that time without a call. */
  readonly delayMsMax: number
}

/** Calls at least once after each notification. */
export class MergedCalls {
  readonly #call: () => void
  readonly #options: MergedCallsOptions
  #delayMs: number
  #pending: NodeJS.Timeout | undefined
  #resetTimer: NodeJS.Timeout | undefined

  constructor(call: () => void, options: MergedCallsOptions) {
    this.#call = call
    this.#options = options
    this.#delayMs = options.delayMs
  }

  notify(): void {
    this.#pending ??= setTimeout(() => this.#callNow(), this.#delayMs)
  }

  /** Discards pending notifications. */
  cancel(): void {
    clearTimeout(this.#pending)
    clearTimeout(this.#resetTimer)
    this.#pending = undefined
    this.#delayMs = this.#options.delayMs
  }

  #callNow(): void {
    const { delayMs, delayMsMax } = this.#options
    this.#pending = undefined
    this.#delayMs = Math.min(this.#delayMs * 2, delayMsMax)
    clearTimeout(this.#resetTimer)
    this.#resetTimer = setTimeout(() => (this.#delayMs = delayMs), this.#delayMs + delayMsMax).unref()
    this.#call()
  }
}
