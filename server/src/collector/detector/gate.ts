// The filter before the exact table of the detector: sums by two hashes, in which millions of addresses take no row. An address passes
// when its traffic of the last seconds is a small part of its limit; a collision lets it pass too early, never too late.

/** Seconds at the limit that pass: in two generations of four seconds, 1 to 2 % of it. */
const passing = 0.08
const generationSeconds = 4
/** Both cells of an address are in one cache line: eight cells, each with a sum of both generations. */
const lineBits = 3

export class DetectionGate {
  readonly #mask: number
  readonly #sums: Float32Array
  #generation = 0
  #turned = 0

  /** `cells`: a power of 2, at least 8; 8 octets for each. */
  constructor(cells: number) {
    this.#mask = (cells >>> lineBits) - 1
    this.#sums = new Float32Array(cells * 2)
  }

  /** Adds the share of a flow in the limit of a second, and returns whether the sum passes. */
  add(hash: number, share: number): boolean {
    const mixed = Math.imul(hash ^ (hash >>> 16), 0x7f_eb_35_2d)
    const line = ((mixed ^ (mixed >>> 15)) & this.#mask) << (lineBits + 1)
    const first = line + ((hash >>> 26) & 7) * 2
    const second = line + ((hash >>> 29) & 7) * 2
    const sums = this.#sums
    const generation = this.#generation
    sums[first + generation]! += share
    if (second !== first) sums[second + generation]! += share
    return sums[first]! + sums[first + 1]! >= passing && sums[second]! + sums[second + 1]! >= passing
  }

  /** Forgets the generation before the last one, once it is over. */
  tick(second: number): void {
    const generations = Math.floor(second / generationSeconds) - this.#turned
    if (generations === 0) return
    this.#turned += generations
    this.#generation ^= 1
    if (generations !== 1) this.#sums.fill(0)
    else for (let cell = this.#generation; cell < this.#sums.length; cell += 2) this.#sums[cell] = 0
  }
}
