// The number of rules that a scrubber can still get. Pure.
import type { Prefix } from '../net/prefix.ts'
import type { InstalledList } from './scrubber.ts'

export type ListSize = Pick<InstalledList, 'prefix' | 'ruleCount'>

/**
 * An installed list has its capacity reserved; only rules beyond it need free capacity. Rules removed from a list
 * become free capacity after their removal: so the scrubber never exceeds `rulesMax`, in whatever order lists change.
 */
export class RuleCapacity {
  readonly #held: ReadonlyMap<Prefix, number>
  #free: number

  constructor(rulesMax: number, held: readonly ListSize[]) {
    this.#held = new Map(held.map(({ prefix, ruleCount }) => [prefix, ruleCount]))
    this.#free = rulesMax - held.reduce((sum, { ruleCount }) => sum + ruleCount, 0)
  }

  /** Returns false without an effect if the free capacity is not sufficient for the list. */
  reserve(prefix: Prefix, ruleCount: number): boolean {
    const more = Math.max(0, ruleCount - (this.#held.get(prefix) ?? 0))
    if (more > 0 && more > this.#free) return false
    this.#free -= more
    return true
  }
}
