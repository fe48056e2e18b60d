// The canonical order of names (RFC 4034 section 6.1) for values in memory: a key as a string, whose plain comparison is that order.
import { nameKey, type DomainName } from '../../net/dns/name.ts'

/** Returns the name key as a string with one character per octet. */
export function orderKey(name: DomainName): string {
  const key = nameKey(name)
  return Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1')
}

export const compareKeys = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** A sorted list of distinct keys. Adding in ascending order and looking up are fast, other changes take a copy of the list's end. */
export class SortedKeys {
  readonly #keys: string[] = []

  get size(): number {
    return this.#keys.length
  }

  add(key: string): void {
    const last = this.#keys.at(-1)
    if (last === undefined || last < key) this.#keys.push(key)
    else {
      const at = this.#positionOf(key)
      if (this.#keys[at] !== key) this.#keys.splice(at, 0, key)
    }
  }

  delete(key: string): void {
    const at = this.#positionOf(key)
    if (this.#keys[at] === key) this.#keys.splice(at, 1)
  }

  /**
   * Returns the last key before `key`, or `key` itself if `inclusive`; wraps around to the last key. Undefined if the
   * list is empty.
   */
  before(key: string, inclusive: boolean): string | undefined {
    const at = this.#positionOf(key)
    const found = inclusive && this.#keys[at] === key ? at : at - 1
    return this.#keys.at(found)
  }

  /** Returns the keys that are longer than `prefix` and start with it, in order. */
  *startingWith(prefix: string): Generator<string> {
    for (let at = this.#positionOf(prefix); at < this.#keys.length; at++) {
      const key = this.#keys[at]!
      if (!key.startsWith(prefix)) return
      if (key.length > prefix.length) yield key
    }
  }

  /** Returns the position of the first key that is not before `key`. */
  #positionOf(key: string): number {
    let [low, high] = [0, this.#keys.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#keys[middle]! < key) low = middle + 1
      else high = middle
    }
    return low
  }
}
