/** How often each rate is announced, so that the only one is found without reading all. */
export class RateCounts {
  readonly #counts = new Map<number, number>()

  /** Adds the rate once more, or with -1 once less. */
  add(rate: number, by: 1 | -1): void {
    const count = (this.#counts.get(rate) ?? 0) + by
    if (count > 0) this.#counts.set(rate, count)
    else this.#counts.delete(rate)
  }

  get isEmpty(): boolean {
    return this.#counts.size === 0
  }

  /** 0 if there is none, or if they differ. */
  get only(): number {
    return this.#counts.size === 1 ? this.#counts.keys().next().value! : 0
  }
}
