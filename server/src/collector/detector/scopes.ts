// The sums of the detector: hosts, networks of fixed lengths around them (the ladder), and every prefix of a team; each
// for traffic to it and from it. Pure.
import { formatBits } from '../../net/bits-text.ts'
import { maskBits, type Bits } from '../../net/bits.ts'

/**
 * The owners of addresses, as in `collector/flow-owners.ts`. List 0 is empty; each other list belongs to a prefix of a
 * team.
 */
export type Owners = {
  readonly starts: Uint32Array
  readonly teamIds: Uint32Array
  readonly prefixIds: Uint32Array
  readonly words: Uint32Array
  readonly lengths: Uint8Array
  readonly parents: Uint32Array
  find(w0: number, w1: number, w2: number, w3: number): number
}

/** An address as four words, IPv4 as ::ffff:a.b.c.d. */
export type TargetWords = readonly [number, number, number, number]

export type Direction = 'incoming' | 'outgoing'

/** Kinds of sums, from the most to the least specific; the numbers between are the steps of the ladder. Sums of senders have `outgoing` added. */
export const scope = { host: 0, ladder: 1, holding: 4, outgoing: 8 } as const

/**
 * Lengths of the ladder, by step. A network of the ladder is added up only if it is longer than the most specific
 * prefix of a team.
 */
export const ladder = { 4: [24, 20, 16], 6: [64, 56, 48] } as const

export const is4 = (w0: number, w1: number, w2: number): boolean => w0 === 0 && w1 === 0 && w2 === 0xff_ff

export const directionOf = (kind: number): Direction => (kind & scope.outgoing ? 'outgoing' : 'incoming')

/** The network of a sum of this kind, from an address of it; of a holding `length` is its own. */
export function networkBits([w0, w1, w2, w3]: TargetWords, kind: number, length = 0): Bits {
  const bits: Bits = is4(w0, w1, w2)
    ? { family: 4, length: 32, w0: w3 | 0, w1: 0, w2: 0, w3: 0 }
    : { family: 6, length: 128, w0: w0 | 0, w1: w1 | 0, w2: w2 | 0, w3: w3 | 0 }
  const step = kind & ~scope.outgoing
  if (step === scope.host) return bits
  return maskBits({ ...bits, length: step === scope.holding ? length : ladder[bits.family][step - 1]! })
}

export const formatNetworkBits = (bits: Bits): string => `${formatBits(bits)}/${bits.length}`

/** The address of a step of the ladder that covers an address. */
export function ladderWords([w0, w1, w2, w3]: TargetWords, step: number): TargetWords {
  const { family, ...bits } = networkBits([w0, w1, w2, w3], step)
  return family === 4
    ? [0, 0, 0xff_ff, bits.w0 >>> 0]
    : [bits.w0 >>> 0, bits.w1 >>> 0, bits.w2 >>> 0, bits.w3 >>> 0]
}

/**
 * Returns the list of the most specific prefix that covers a whole network, which begins at an address; 0 without one.
 */
export function coveringListOf(owners: Owners, words: TargetWords, length: number): number {
  let list = owners.find(...words)
  while (list !== 0 && owners.lengths[list]! > length) list = owners.parents[list]!
  return list
}

/** The network of a list. */
export function holdingBits({ words, lengths }: Owners, list: number): Bits {
  const at = list * 4
  return networkBits(
    [words[at]!, words[at + 1]!, words[at + 2]!, words[at + 3]!],
    scope.holding,
    lengths[list]!,
  )
}
