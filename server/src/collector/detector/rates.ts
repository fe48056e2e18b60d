// Rates of rows on one array of 256 octets a row, so that a flow touches two cache lines without an allocation.
// `row-ticks.ts` has the places in a row, and the formulas.
import type { Measure } from './measure.ts'
import {
  added,
  addedFive,
  addedLongVariance,
  addedMinute,
  addedVariance,
  addedVectors,
  factorsOf,
  fast,
  filledAfter,
  five,
  hasLong,
  isFrozen,
  longMs,
  minute,
  place,
  recent,
  rowWords,
  short,
  tickRow,
  varianceMax,
  vectorRates,
  vectorSlots,
  veryLongMs,
  type RowArrays,
} from './row-ticks.ts'

export class Rates {
  readonly words: Uint32Array
  readonly #floats: Float32Array
  readonly #doubles: Float64Array
  readonly #arrays: RowArrays
  #factors = factorsOf(1)

  constructor(rows: number) {
    const buffer = new ArrayBuffer(rows * rowWords * 4)
    this.words = new Uint32Array(buffer)
    this.#floats = new Float32Array(buffer)
    this.#doubles = new Float64Array(buffer)
    this.#arrays = { words: this.words, f: this.#floats, doubles: this.#doubles }
  }

  /** Adds a flow, its counters multiplied by the sampling rate. */
  add(
    row: number,
    vector: number,
    octets: number,
    packets: number,
    samplingRate: number,
    durationMs: number,
  ): void {
    const at = row * rowWords
    let sums = added
    let variances = addedVariance
    if (durationMs >= longMs) {
      this.words[at + place.flags]! |= hasLong
      sums = durationMs < veryLongMs ? addedMinute : addedFive
      variances = durationMs < veryLongMs ? addedLongVariance : addedLongVariance + 2
    }
    const double = (at + sums) >>> 1
    this.#doubles[double]! += octets
    this.#doubles[double + 1]! += packets
    if (samplingRate > 1 && packets > 0) {
      const ofOctets = ((samplingRate - 1) * octets * octets) / packets
      this.#addVariance(at + variances, ofOctets)
      this.#addVariance(at + variances + 1, (samplingRate - 1) * packets)
    }
    const slot = this.#slotOf(at, vector)
    if (slot < 0) return
    this.#floats[at + addedVectors + slot * 2]! += octets
    this.#floats[at + addedVectors + slot * 2 + 1]! += packets
  }

  /** Adds the additions to a row since its last tick to another row. */
  addRow(from: number, to: number, target: Rates = this): void {
    const [at, other] = [from * rowWords, to * rowWords]
    const isLong = (this.words[at + place.flags]! & hasLong) !== 0
    for (const sums of isLong ? [added, addedMinute, addedFive] : [added]) {
      const double = sums >>> 1
      target.#doubles[(other >>> 1) + double]! += this.#doubles[(at >>> 1) + double]!
      target.#doubles[(other >>> 1) + double + 1]! += this.#doubles[(at >>> 1) + double + 1]!
    }
    if (isLong) target.words[other + place.flags]! |= hasLong
    for (let i = 0; i < 2; i++)
      target.#addVariance(other + addedVariance + i, this.#floats[at + addedVariance + i]!)
    if (isLong)
      for (let i = addedLongVariance; i < addedLongVariance + 4; i++)
        target.#addVariance(other + i, this.#floats[at + i]!)
    for (let slot = 0; slot < vectorSlots; slot++) {
      const place2 = at + addedVectors + slot * 2
      const packets = this.#floats[place2 + 1]!
      if (packets === 0 && this.#floats[place2] === 0) continue
      const vector = (this.words[at + place.vectors]! >>> (slot * 8)) & 255
      const taken = target.#slotOf(other, vector)
      if (taken < 0) continue
      target.#floats[other + addedVectors + taken * 2]! += this.#floats[place2]!
      target.#floats[other + addedVectors + taken * 2 + 1]! += packets
    }
  }

  #addVariance(at: number, variance: number): void {
    const sum = this.#floats[at]! + variance
    this.#floats[at] = sum < varianceMax ? sum : varianceMax
  }

  /** Octets and packets that were added since the last tick, whatever their duration. */
  addedOctets(row: number): number {
    const double = (row * rowWords) >>> 1
    return (
      this.#doubles[double + (added >>> 1)]! +
      this.#doubles[double + (addedMinute >>> 1)]! +
      this.#doubles[double + (addedFive >>> 1)]!
    )
  }

  addedPackets(row: number): number {
    const double = ((row * rowWords) >>> 1) + 1
    return (
      this.#doubles[double + (added >>> 1)]! +
      this.#doubles[double + (addedMinute >>> 1)]! +
      this.#doubles[double + (addedFive >>> 1)]!
    )
  }

  #slotOf(at: number, vector: number): number {
    const known = this.words[at + place.vectors]!
    for (let slot = 0; slot < vectorSlots; slot++) {
      const one = (known >>> (slot * 8)) & 255
      if (one === vector) return slot
      if (one !== 0) continue
      this.words[at + place.vectors]! |= vector << (slot * 8)
      return slot
    }
    return -1
  }

  /** The seconds since the last tick of the rows that are ticked next. */
  setSpan(seconds: number): void {
    if (this.#factors.seconds !== seconds) this.#factors = factorsOf(seconds)
  }

  /** Updates the rates of a row with its additions. */
  tick(row: number): void {
    tickRow(this.#arrays, row * rowWords, this.#factors)
  }

  freeze(row: number): void {
    this.words[row * rowWords + place.flags]! |= isFrozen
  }

  /** Bits per second. */
  bps(row: number): number {
    const at = row * rowWords
    return (this.#floats[at + short]! + this.#floats[at + minute + 2]! + this.#floats[at + five + 2]!) * 8
  }

  pps(row: number): number {
    const at = row * rowWords + 1
    return this.#floats[at + short]! + this.#floats[at + minute + 2]! + this.#floats[at + five + 2]!
  }

  measure(row: number): Measure {
    const at = row * rowWords
    const f = this.#floats
    return {
      bps: this.bps(row),
      pps: this.pps(row),
      bpsVariance: (f[at + short + 2]! + f[at + minute + 4]! + f[at + five + 4]!) * 64,
      ppsVariance: f[at + short + 3]! + f[at + minute + 5]! + f[at + five + 5]!,
    }
  }

  /** With the packets of short flows over two seconds. */
  fastMeasure(row: number): Measure {
    const at = row * rowWords
    const f = this.#floats
    return {
      ...this.measure(row),
      pps: f[at + fast]! + f[at + minute + 3]! + f[at + five + 3]!,
      ppsVariance: f[at + fast + 1]! + f[at + minute + 5]! + f[at + five + 5]!,
    }
  }

  /**
   * The average of the hour that ended some minutes ago, in bits and packets per second. `countedSeconds`: how long the
   * traffic was counted; a partly filled average is scaled up.
   */
  recent(row: number, countedSeconds: number): { readonly bps: number; readonly pps: number } {
    const at = row * rowWords + recent + 2
    const filled = filledAfter(countedSeconds)
    return { bps: (this.#floats[at]! * 8) / filled, pps: this.#floats[at + 1]! / filled }
  }

  /** Calls with each kind of traffic and its share of the octets and of the packets of the row. */
  visitVectors(row: number, visit: (vector: number, octets: number, packets: number) => void): void {
    const at = row * rowWords
    const f = this.#floats
    const known = this.words[at + place.vectors]!
    let [octets, packets] = [0, 0]
    for (let i = 0; i < vectorSlots * 2; i += 2) {
      octets += f[at + vectorRates + i]!
      packets += f[at + vectorRates + i + 1]!
    }
    for (let slot = 0; slot < vectorSlots; slot++) {
      const from = at + vectorRates + slot * 2
      const vector = (known >>> (slot * 8)) & 255
      if (vector !== 0) visit(vector, f[from]! / (octets || 1), f[from + 1]! / (packets || 1))
    }
  }

  /** Makes a row of another one, which stays as it is. */
  copy(from: number, to: number, source: Rates = this): void {
    this.words.set(source.words.subarray(from * rowWords, (from + 1) * rowWords), to * rowWords)
  }

  clear(row: number): void {
    this.words.fill(0, row * rowWords, (row + 1) * rowWords)
  }
}
