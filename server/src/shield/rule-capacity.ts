// How many rules a scrubber may still get. Pure.
import type { Prefix } from '../net/prefix.ts'
import type { InstalledList } from './scrubber.ts'

export type ListSize = Pick<InstalledList, 'prefix' | 'ruleCount'>

/**
 * A list that the scrubber holds has its place, whatever other lists want; only rules beyond it need room. The rules that a list gives up
 * are room for others once they are removed, not before: so the scrubber never holds more than `rulesMax`, in whatever order lists change.
 */
export class RuleCapacity {
  readonly #held: ReadonlyMap<Prefix, number>
  #free: number

  constructor(rulesMax: number, held: readonly ListSize[]) {
    this.#held = new Map(held.map(({ prefix, ruleCount }) => [prefix, ruleCount]))
    this.#free = rulesMax - held.reduce((sum, { ruleCount }) => sum + ruleCount, 0)
  }

  /** Returns false, and takes nothing, if there is no room for so many rules of the list. */
  reserve(prefix: Prefix, ruleCount: number): boolean {
    const more = Math.max(0, ruleCount - (this.#held.get(prefix) ?? 0))
    if (more > 0 && more > this.#free) return false
    this.#free -= more
    return true
  }
}
