// Rates per destination as an open addressing table on typed arrays: adding a flow allocates nothing. Rates are moving averages in two
// parts. Flows of less than 10 s are averaged over 8 s; what a longer flow reports was sent over its whole duration, mostly a minute, and
// would be a peak that never was: it is averaged over a minute (one flow a minute then shows at most 1.6 times its rate instead of 60).

/** A flow that lasted as long, in milliseconds, is averaged over a minute. */
export const longFlowMs = 10_000

/** Of the moving average of short flows. */
export const shortSeconds = 8
const longSeconds = 60

/** The destination of a row: one address, or a whole network. */
export const scope = { host: 0, network: 1 } as const

export class RateTable {
  readonly capacity: number
  /** Rows in use. */
  size = 0
  /** Flows that found no row. */
  overflows = 0
  readonly #mask: number
  /** Four words of the address, and scope * 256 + vector + 1; 0 is a free row. */
  readonly #words: Uint32Array
  readonly #kinds: Uint16Array
  /** Added since the last tick: octets and packets of short flows, then of long ones. */
  readonly #added: Float64Array
  /** Octets and packets a second, in the same order. */
  readonly #rates: Float64Array
  /** Whether the vectors of the destination are counted. */
  readonly #watched: Uint8Array

  /** `capacity`: a power of 2; 85 octets for each. */
  constructor(capacity: number) {
    this.capacity = capacity
    this.#mask = capacity - 1
    this.#words = new Uint32Array(capacity * 4)
    this.#kinds = new Uint16Array(capacity)
    this.#added = new Float64Array(capacity * 4)
    this.#rates = new Float64Array(capacity * 4)
    this.#watched = new Uint8Array(capacity)
  }

  /** Adds a flow; returns its row, or -1 if the table is full. */
  add(
    w0: number,
    w1: number,
    w2: number,
    w3: number,
    kind: number,
    octets: number,
    packets: number,
    isLong: boolean,
  ): number {
    const row = this.find(w0, w1, w2, w3, kind)
    if (row < 0) {
      this.overflows++
      return -1
    }
    const at = row * 4 + (isLong ? 2 : 0)
    this.#added[at]! += octets
    this.#added[at + 1]! += packets
    return row
  }

  /** The row of a key, a new one if it has none; -1 if the table is full. */
  find(w0: number, w1: number, w2: number, w3: number, kind: number): number {
    const row = this.#probe(w0, w1, w2, w3, kind)
    if (this.#kinds[row] !== 0) return row
    // Never more than three quarters full: probes stay short.
    if (this.size >= this.capacity * 0.75) return -1
    this.size++
    this.#kinds[row] = kind + 1
    this.#words[row * 4] = w0
    this.#words[row * 4 + 1] = w1
    this.#words[row * 4 + 2] = w2
    this.#words[row * 4 + 3] = w3
    return row
  }

  /** The row of a key; -1 if it has none. */
  peek(w0: number, w1: number, w2: number, w3: number, kind: number): number {
    const row = this.#probe(w0, w1, w2, w3, kind)
    return this.#kinds[row] === 0 ? -1 : row
  }

  kind(row: number): number {
    return this.#kinds[row]! - 1
  }

  /** The row of a key, or the free one in which it would be. */
  #probe(w0: number, w1: number, w2: number, w3: number, kind: number): number {
    const tag = kind + 1
    let row = hash(w0, w1, w2, w3, kind) & this.#mask
    for (; this.#kinds[row] !== 0; row = (row + 1) & this.#mask) {
      const at = row * 4
      if (
        this.#kinds[row] === tag &&
        this.#words[at + 3] === w3 &&
        this.#words[at + 2] === w2 &&
        this.#words[at + 1] === w1 &&
        this.#words[at] === w0
      ) {
        break
      }
    }
    return row
  }

  isWatched(row: number): boolean {
    return this.#watched[row] !== 0
  }

  watch(row: number): void {
    this.#watched[row] = 1
  }

  /** Bits per second. */
  bps(row: number): number {
    return (this.#rates[row * 4]! + this.#rates[row * 4 + 2]!) * 8
  }

  pps(row: number): number {
    return this.#rates[row * 4 + 1]! + this.#rates[row * 4 + 3]!
  }

  words(row: number): [number, number, number, number] {
    const at = row * 4
    return [this.#words[at]!, this.#words[at + 1]!, this.#words[at + 2]!, this.#words[at + 3]!]
  }

  /** Updates all rates with what was added in `seconds`, and calls `visit` for each row at or above one of both limits. */
  tick(seconds: number, bpsMin: number, ppsMin: number, visit: (row: number, kind: number) => void): void {
    const short = Math.exp(-seconds / shortSeconds)
    const long = Math.exp(-seconds / longSeconds)
    const factors = [short, short, long, long]
    for (let row = 0; row < this.capacity; row++) {
      if (this.#kinds[row] === 0) continue
      for (let i = 0; i < 4; i++) {
        const at = row * 4 + i
        this.#rates[at] = this.#rates[at]! * factors[i]! + (this.#added[at]! / seconds) * (1 - factors[i]!)
        this.#added[at] = 0
      }
    }
    this.visit(bpsMin, ppsMin, visit)
  }

  /** Calls `visit` for each row at or above one of both limits. */
  visit(bpsMin: number, ppsMin: number, visit: (row: number, kind: number) => void): void {
    for (let row = 0; row < this.capacity; row++) {
      const tag = this.#kinds[row]!
      if (tag !== 0 && (this.bps(row) >= bpsMin || this.pps(row) >= ppsMin)) visit(row, tag - 1)
    }
  }

  /** Drops rows below both limits if the table is half full. Returns whether rows have moved. */
  compact(bpsMin: number, ppsMin: number): boolean {
    if (this.size < this.capacity / 2) return false
    const kept: { words: [number, number, number, number]; kind: number; row: number }[] = []
    for (let row = 0; row < this.capacity; row++) {
      if (this.#kinds[row] === 0 || (this.bps(row) < bpsMin && this.pps(row) < ppsMin)) continue
      kept.push({ words: this.words(row), kind: this.#kinds[row]! - 1, row })
    }
    const rates = kept.map(({ row }) => this.#rates.slice(row * 4, row * 4 + 4))
    const watched = kept.map(({ row }) => this.#watched[row]!)
    this.#kinds.fill(0)
    this.#rates.fill(0)
    this.#added.fill(0)
    this.#watched.fill(0)
    this.size = 0
    kept.forEach(({ words, kind }, i) => {
      const row = this.find(...words, kind)
      if (row < 0) return
      this.#rates.set(rates[i]!, row * 4)
      this.#watched[row] = watched[i]!
    })
    return true
  }
}

function hash(w0: number, w1: number, w2: number, w3: number, kind: number): number {
  let value = Math.imul(w3 ^ kind, 0x9e_37_79_b1)
  value = Math.imul(value ^ (value >>> 15) ^ w2, 0x85_eb_ca_6b)
  value = Math.imul(value ^ (value >>> 13) ^ w1, 0xc2_b2_ae_35)
  value = Math.imul(value ^ (value >>> 16) ^ w0, 0x27_d4_eb_2f)
  return value ^ (value >>> 15)
}
