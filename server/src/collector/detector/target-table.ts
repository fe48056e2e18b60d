// The exact table of the detector: rows of hosts and networks by their address, found by an open addressing table. Rows
// are without gaps, so that a few rows use a few pages of memory. Removing a row moves the last one: the number of a
// row is valid until then.
import type { TargetWords } from './scopes.ts'
import { Rates } from './rates.ts'
import { place, rowWords } from './row-ticks.ts'

/** Never more full: probes stay short. */
const fullRatio = 0.75
/** Rows are removed from here on. */
const removeRatio = 0.5

export class TargetTable {
  readonly capacity: number
  readonly rates: Rates
  /** Rows in use. */
  size = 0
  /** Flows that found no row, and rows that were removed although they were of some size. */
  overflows = 0
  readonly #mask: number
  readonly #words: Uint32Array
  /** The hash of a key, 0 for a free slot, and its row. */
  readonly #slots: Int32Array

  /** `capacity`: a power of 2; 264 octets for each. */
  constructor(capacity: number) {
    this.capacity = capacity
    this.#mask = capacity - 1
    this.rates = new Rates(capacity)
    this.#words = this.rates.words
    this.#slots = new Int32Array(capacity * 2)
  }

  /** Returns the row of a key; -1 if missing. `hash` is the hash of the key. */
  find(w0: number, w1: number, w2: number, w3: number, kind: number, hash: number): number {
    const slots = this.#slots
    const words = this.#words
    const mark = hash | 1
    for (let slot = hash & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const found = slots[slot * 2]!
      if (found === 0) return -1
      if (found !== mark) continue
      const row = slots[slot * 2 + 1]!
      const at = row * rowWords
      if (
        words[at + place.tag] === kind + 1 &&
        words[at + 3] === w3 &&
        words[at + 2] === w2 &&
        words[at + 1] === w1 &&
        words[at] === w0
      )
        return row
    }
  }

  /** Returns the row of a key, a new one if missing; -1 if the table is full. */
  get(w0: number, w1: number, w2: number, w3: number, kind: number, list: number, hash: number): number {
    const known = this.find(w0, w1, w2, w3, kind, hash)
    if (known >= 0) return known
    if (this.size >= this.capacity * fullRatio) {
      this.overflows++
      return -1
    }
    const row = this.size++
    const words = this.#words
    let slot = hash & this.#mask
    while (this.#slots[slot * 2] !== 0) slot = (slot + 1) & this.#mask
    this.#slots[slot * 2] = hash | 1
    this.#slots[slot * 2 + 1] = row
    const at = row * rowWords
    words[at] = w0
    words[at + 1] = w1
    words[at + 2] = w2
    words[at + 3] = w3
    words[at + place.tag] = kind + 1
    words[at + place.list] = list
    return row
  }

  addressOf(row: number): TargetWords {
    const at = row * rowWords
    return [this.#words[at]!, this.#words[at + 1]!, this.#words[at + 2]!, this.#words[at + 3]!]
  }

  kindOf(row: number): number {
    return this.#words[row * rowWords + place.tag]! - 1
  }

  listOf(row: number): number {
    return this.#words[row * rowWords + place.list]!
  }

  setList(row: number, list: number): void {
    this.#words[row * rowWords + place.list] = list
  }

  /**
   * Removes rows, farthest below their limit first, if the table is half full. `shareOf` is the reached part of a row's
   * limit; rows below `shareMin` are not needed, and others count as overflows.
   */
  removeSmallest(shareMin: number, shareOf: (row: number) => number): void {
    if (this.size < this.capacity * removeRatio) return
    this.#remove((row) => shareOf(row) < shareMin)
    const excess = this.size - this.capacity * removeRatio
    if (excess <= 0) return
    const shares: number[] = []
    for (let row = 0; row < this.size; row++) shares.push(shareOf(row))
    const limit = shares.toSorted((a, b) => a - b)[Math.floor(excess)]!
    const before = this.size
    this.#remove((row) => shareOf(row) < limit)
    this.overflows += before - this.size
  }

  #remove(isRemoved: (row: number) => boolean): void {
    // From the last row on: the row that moves is never a removed one.
    for (let row = this.size - 1; row >= 0; row--) if (isRemoved(row)) this.#removeRow(row)
  }

  #removeRow(row: number): void {
    this.#freeSlot(this.#slotOf(row))
    const last = --this.size
    if (row !== last) {
      this.#slots[this.#slotOf(last) * 2 + 1] = row
      this.rates.copy(last, row)
    }
    this.rates.clear(last)
  }

  #homeOf(row: number): number {
    return hashOf(...this.addressOf(row), this.kindOf(row)) & this.#mask
  }

  #slotOf(row: number): number {
    let slot = this.#homeOf(row)
    while (this.#slots[slot * 2] === 0 || this.#slots[slot * 2 + 1] !== row) slot = (slot + 1) & this.#mask
    return slot
  }

  /** Moves the slots behind it so that all are found from the place of their hash on. */
  #freeSlot(slot: number): void {
    const slots = this.#slots
    let free = slot
    for (let next = (slot + 1) & this.#mask; slots[next * 2] !== 0; next = (next + 1) & this.#mask) {
      const home = this.#homeOf(slots[next * 2 + 1]!)
      if (((next - home) & this.#mask) < ((next - free) & this.#mask)) continue
      slots[free * 2] = slots[next * 2]!
      slots[free * 2 + 1] = slots[next * 2 + 1]!
      free = next
    }
    slots[free * 2] = 0
  }
}

export function hashOf(w0: number, w1: number, w2: number, w3: number, kind: number): number {
  let value = Math.imul(w3 ^ kind, 0x9e_37_79_b1)
  value = Math.imul(value ^ (value >>> 15) ^ w2, 0x85_eb_ca_6b)
  value = Math.imul(value ^ (value >>> 13) ^ w1, 0xc2_b2_ae_35)
  value = Math.imul(value ^ (value >>> 16) ^ w0, 0x27_d4_eb_2f)
  return value ^ (value >>> 15)
}
