// The places of a row of rates, and the change of a row by a second. A rate is the sum of three averages: of flows of
// less than 10 s over 8 s; the traffic of a longer flow was sent over its whole duration, mostly one or five minutes,
// and would look like a peak: it passes two averages of this duration in a chain. Each rate is followed by its sampling
// variance.

/** The places of a row in its 64 words. Places of octets are followed by places of packets. */
export const rowWords = 64
export const place = {
  /** Four words of the address; `tag` is its kind + 1, and 0 for a free row. */
  address: 0,
  tag: 4,
  /** List of its owners. */
  list: 5,
  /** A byte for each kind of traffic that is counted separately; 0 is free. */
  vectors: 6,
  flags: 7,
} as const
export const [added, addedVariance, fast, addedVectors] = [8, 12, 14, 16]
export const [addedMinute, addedFive, addedLongVariance] = [24, 28, 32]
export const [vectorRates, short, minute, five, recent] = [36, 44, 48, 54, 60]

/** The target is, or contains, an attack: its usual traffic is not updated. */
export const isFrozen = 1
export const hasLong = 2

export const vectorSlots = 4
/** A kind of traffic below this part of the row gives its place to another one. */
const vectorShareMin = 0.02

/** Seconds of the average of short flows. */
export const shortSeconds = 8
/** Seconds of the average of packets of short flows: a flood of small packets is detected sooner. */
const fastSeconds = 2
export const longMs = 10_000
export const veryLongMs = 90_000
const [minuteSeconds, fiveSeconds] = [60, 300]
/** The squared response of a chain of two averages over T seconds is below 0.2406 / T^2 * e^(-t / 2T), which one state can follow. */
const chainGain = 0.2406
const [recentSeconds, recentDelaySeconds] = [3600, 300]
/** Three views of the memory of all rows. */
export type RowArrays = {
  readonly words: Uint32Array
  readonly f: Float32Array
  readonly doubles: Float64Array
}

export type Factors = ReturnType<typeof factorsOf>

/** Sums of squares stay finite in 32 bits. */
export const varianceMax = 1e30

export const factorsOf = (seconds: number) => ({
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
export function filledAfter(seconds: number): number {
  const [slow, fast] = [recentSeconds, recentDelaySeconds]
  return 1 - (slow * Math.exp(-seconds / slow) - fast * Math.exp(-seconds / fast)) / (slow - fast)
}

/** Updates the rates of a row with its additions. */
export function tickRow(arrays: RowArrays, at: number, factors: Factors): void {
  const { words, f, doubles } = arrays
  const double = (at + added) >>> 1
  const gain = (1 - factors.short) / factors.seconds
  const fastGain = (1 - factors.fast) / factors.seconds
  f[at + fast] = f[at + fast]! * factors.fast + doubles[double + 1]! * fastGain
  f[at + fast + 1] = f[at + fast + 1]! * factors.fast ** 2 + f[at + addedVariance + 1]! * fastGain ** 2
  const isLong = (words[at + place.flags]! & hasLong) !== 0
  for (let i = 0; i < 2; i++) {
    f[at + short + i] = f[at + short + i]! * factors.short + doubles[double + i]! * gain
    f[at + short + 2 + i] =
      f[at + short + 2 + i]! * factors.short * factors.short + f[at + addedVariance + i]! * gain * gain
    doubles[double + i] = 0
    f[at + addedVariance + i] = 0
  }
  if (isLong) tickLong(arrays, at, factors)
  tickVectors(arrays, at, factors.short, gain)
  tickRecent(arrays, at, factors)
}

function tickLong({ words, f, doubles }: RowArrays, at: number, factors: Factors): void {
  const { seconds } = factors
  for (let i = 0; i < 4; i++) {
    const isMinute = i < 2
    const packet = i & 1
    const [base, kept] = isMinute ? [at + minute, factors.minute] : [at + five, factors.five]
    const keptVariance = isMinute ? factors.minuteVariance : factors.fiveVariance
    const span = isMinute ? minuteSeconds : fiveSeconds
    const sum = ((at + (isMinute ? addedMinute : addedFive)) >>> 1) + packet
    const first = f[base + packet]! * kept + (doubles[sum]! / seconds) * (1 - kept)
    f[base + packet] = first
    f[base + 2 + packet] = f[base + 2 + packet]! * kept + first * (1 - kept)
    const variance = at + addedLongVariance + i
    f[base + 4 + packet] = f[base + 4 + packet]! * keptVariance + (f[variance]! * chainGain) / (span * span)
    doubles[sum] = 0
    f[variance] = 0
  }
  const left = f[at + minute]! + f[at + minute + 2]! + f[at + five]! + f[at + five + 2]!
  if (left >= 0.01) return
  f.fill(0, at + minute, at + recent)
  words[at + place.flags]! &= ~hasLong
}

function tickVectors({ words, f }: RowArrays, at: number, kept: number, gain: number): void {
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
    words[at + place.vectors]! &= ~(255 << (slot * 8))
  }
}

/** The average of an hour, after an average of 5 minutes: it excludes the last minutes. */
function tickRecent({ words, f }: RowArrays, at: number, factors: Factors): void {
  if ((words[at + place.flags]! & isFrozen) !== 0) {
    words[at + place.flags]! &= ~isFrozen
    return
  }
  const { recent: slow, recentDelay: soon } = factors
  for (let i = 0; i < 2; i++) {
    const rate = f[at + short + i]! + f[at + minute + 2 + i]! + f[at + five + 2 + i]!
    const delayed = f[at + recent + i]! * soon + rate * (1 - soon)
    f[at + recent + i] = delayed
    f[at + recent + 2 + i] = f[at + recent + 2 + i]! * slow + delayed * (1 - slow)
  }
}
