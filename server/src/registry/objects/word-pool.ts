// Allocates records of a few 32-bit words in one typed array, for mutable structures in which an object per record
// would use too much memory. Index 0 is never allocated and means "no record".

export type WordPool = {
  /** Replaced by a longer one when it is full: read it again after each `allocate`. */
  words: Int32Array
  /** The end of the last record that was ever allocated. */
  end: number
  /** The first free record; each contains the index of the next one in its first word. */
  free: number
  readonly stride: number
}

/** The first record is at `start`, which is above 0; the words before it belong to the caller. */
export function createPool(stride: number, start: number): WordPool {
  return { words: new Int32Array(start + stride * recordsAtFirst), end: start, free: 0, stride }
}

const recordsAtFirst = 256

/** Returns the index of a record of zeros. */
export function allocate(pool: WordPool): number {
  const reused = pool.free
  if (reused !== 0) {
    pool.free = pool.words[reused]!
    pool.words[reused] = 0
    return reused
  }
  const place = pool.end
  if (place + pool.stride > pool.words.length) grow(pool)
  pool.end = place + pool.stride
  return place
}

export function release(pool: WordPool, place: number): void {
  pool.words.fill(0, place, place + pool.stride)
  pool.words[place] = pool.free
  pool.free = place
}

function grow(pool: WordPool): void {
  const longer = new Int32Array(Math.ceil(pool.words.length * 1.5))
  longer.set(pool.words)
  pool.words = longer
}
