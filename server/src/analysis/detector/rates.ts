// Rates of rows on one array of 256 octets a row, so that a flow touches two cache lines and allocates nothing. A rate is the sum of three
// averages: of flows of less than 10 s over 8 s; what a longer flow reports was sent over its whole duration, mostly one or five minutes, and
// would be a peak that never was: it passes two averages of as many seconds in a chain. Beside a rate is the variance that sampling gives it.

/** What a row has, as places in its 64 words. Places of octets are followed by those of packets. */
export const rowWords = 64
export const place = {
  /** Four words of the address; `tag` is its kind + 1, and 0 for a free row. */
  address: 0,
  tag: 4,
  /** Of its owners. */
  list: 5,
  /** A byte for each kind of traffic that is counted separately; 0 is free. */
  vectors: 6,
  flags: 7,
} as const
const [added, addedVariance, fast, addedVectors] = [8, 12, 14, 16]
const [addedMinute, addedFive, addedLongVariance] = [24, 28, 32]
const [vectorRates, short, minute, five, recent] = [36, 44, 48, 54, 60]

/** It is, or has within it, an attack: its usual traffic is not updated. */
export const isFrozen = 1
const hasLong = 2

export const vectorSlots = 4
/** A kind of traffic below this part of the row gives its place to another one. */
const vectorShareMin = 0.02

/** Of the average of short flows. */
export const shortSeconds = 8
/** Of packets of short flows: a flood of small packets is seen sooner. */
const fastSeconds = 2
const longMs = 10_000
const veryLongMs = 90_000
const [minuteSeconds, fiveSeconds] = [60, 300]
/** The squared response of a chain of two averages over T seconds is below 0.2406 / T^2 * e^(-t / 2T), which one state can follow. */
const chainGain = 0.2406
const [recentSeconds, recentDelaySeconds] = [3600, 300]
/** Sums of squares stay finite in 32 bits. */
const varianceMax = 1e30

/** L is so many standard deviations below the rate: the true rate is above it in 99.5 % of samplings. */
export const deviations = 2.58

/** Bits and packets per second, with their variances. */
export type Measure = {
  readonly bps: number
  readonly pps: number
  readonly bpsVariance: number
  readonly ppsVariance: number
}

export const noMeasure: Measure = { bps: 0, pps: 0, bpsVariance: 0, ppsVariance: 0 }

export const add = (a: number, b: number): number => a + b

export const combine = (a: Measure, b: Measure, by: (a: number, b: number) => number): Measure => ({
  bps: by(a.bps, b.bps),
  pps: by(a.pps, b.pps),
  bpsVariance: by(a.bpsVariance, b.bpsVariance),
  ppsVariance: by(a.ppsVariance, b.ppsVariance),
})

/** The rates that the true ones are above, with the error of sampling. */
export function lowerOf({ bps, pps, bpsVariance, ppsVariance }: Measure): {
  readonly bps: number
  readonly pps: number
} {
  return { bps: bps - deviations * Math.sqrt(bpsVariance), pps: pps - deviations * Math.sqrt(ppsVariance) }
}

const factorsOf = (seconds: number) => ({
  seconds,
  short: Math.exp(-seconds / shortSeconds),
  fast: Math.exp(-seconds / fastSeconds),
  minute: Math.exp(-seconds / minuteSeconds),
  five: Math.exp(-seconds / fiveSeconds),
  minuteVariance: Math.exp(-seconds / (2 * minuteSeconds)),
  fiveVariance: Math.exp(-seconds / (2 * fiveSeconds)),
  recent: Math.exp(-seconds / recentSeconds),
  recentDelay: Math.exp(-seconds / recentDelaySeconds),
})

/** The part of the average of an hour that is filled after a time without any traffic before. */
function filledAfter(seconds: number): number {
  const [slow, fast] = [recentSeconds, recentDelaySeconds]
  return 1 - (slow * Math.exp(-seconds / slow) - fast * Math.exp(-seconds / fast)) / (slow - fast)
}

export class Rates {
  readonly words: Uint32Array
  readonly #floats: Float32Array
  readonly #doubles: Float64Array
  #factors = factorsOf(1)

  constructor(rows: number) {
    const buffer = new ArrayBuffer(rows * rowWords * 4)
    this.words = new Uint32Array(buffer)
    this.#floats = new Float32Array(buffer)
    this.#doubles = new Float64Array(buffer)
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

  /** Adds what was added to a row since its last tick to another one. */
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

  /** Updates the rates of a row with what was added to it. */
  tick(row: number): void {
    const at = row * rowWords
    const f = this.#floats
    const factors = this.#factors
    const double = (at + added) >>> 1
    const gain = (1 - factors.short) / factors.seconds
    const fastGain = (1 - factors.fast) / factors.seconds
    f[at + fast] = f[at + fast]! * factors.fast + this.#doubles[double + 1]! * fastGain
    f[at + fast + 1] = f[at + fast + 1]! * factors.fast ** 2 + f[at + addedVariance + 1]! * fastGain ** 2
    const isLong = (this.words[at + place.flags]! & hasLong) !== 0
    for (let i = 0; i < 2; i++) {
      f[at + short + i] = f[at + short + i]! * factors.short + this.#doubles[double + i]! * gain
      f[at + short + 2 + i] =
        f[at + short + 2 + i]! * factors.short * factors.short + f[at + addedVariance + i]! * gain * gain
      this.#doubles[double + i] = 0
      f[at + addedVariance + i] = 0
    }
    if (isLong) this.#tickLong(at)
    this.#tickVectors(at, gain)
    this.#tickRecent(at)
  }

  #tickLong(at: number): void {
    const { seconds, ...factors } = this.#factors
    const doubles = this.#doubles
    const f = this.#floats
    for (let i = 0; i < 4; i++) {
      const isMinute = i < 2
      const packet = i & 1
      const [base, kept] = isMinute ? [at + minute, factors.minute] : [at + five, factors.five]
      const keptVariance = isMinute ? factors.minuteVariance : factors.fiveVariance
      const span = isMinute ? minuteSeconds : fiveSeconds
      const sum = ((at + (isMinute ? addedMinute : addedFive)) >>> 1) + packet
      const first = (f[base + packet]! = f[base + packet]! * kept + (doubles[sum]! / seconds) * (1 - kept))
      f[base + 2 + packet] = f[base + 2 + packet]! * kept + first * (1 - kept)
      const variance = at + addedLongVariance + i
      f[base + 4 + packet] = f[base + 4 + packet]! * keptVariance + (f[variance]! * chainGain) / (span * span)
      doubles[sum] = 0
      f[variance] = 0
    }
    const left = f[at + minute]! + f[at + minute + 2]! + f[at + five]! + f[at + five + 2]!
    if (left >= 0.01) return
    f.fill(0, at + minute, at + recent)
    this.words[at + place.flags]! &= ~hasLong
  }

  #tickVectors(at: number, gain: number): void {
    const f = this.#floats
    const kept = this.#factors.short
    const sums = [0, 0]
    for (let i = 0; i < vectorSlots * 2; i++) {
      const rate = f[at + vectorRates + i]! * kept + f[at + addedVectors + i]! * gain
      f[at + vectorRates + i] = rate
      f[at + addedVectors + i] = 0
      sums[i & 1]! += rate
    }
    for (let slot = 0; slot < vectorSlots; slot++) {
      const from = at + vectorRates + slot * 2
      if (f[from]! >= sums[0]! * vectorShareMin && f[from + 1]! >= sums[1]! * vectorShareMin) continue
      if (Math.max(f[from]! / (sums[0]! || 1), f[from + 1]! / (sums[1]! || 1)) >= vectorShareMin) continue
      f[from] = f[from + 1] = 0
      this.words[at + place.vectors]! &= ~(255 << (slot * 8))
    }
  }

  /** Of an hour, after an average of 5 minutes: what began a minute ago is not in it. */
  #tickRecent(at: number): void {
    if ((this.words[at + place.flags]! & isFrozen) !== 0) {
      this.words[at + place.flags]! &= ~isFrozen
      return
    }
    const f = this.#floats
    const { recent: slow, recentDelay: fast } = this.#factors
    for (let i = 0; i < 2; i++) {
      const rate = f[at + short + i]! + f[at + minute + 2 + i]! + f[at + five + 2 + i]!
      const delayed = (f[at + recent + i]! = f[at + recent + i]! * fast + rate * (1 - fast))
      f[at + recent + 2 + i] = f[at + recent + 2 + i]! * slow + delayed * (1 - slow)
    }
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

  /** The average of the hour that ended some minutes ago, if traffic was counted for so many seconds; in bits and packets per second. */
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
