// The set of validated ROA payloads (VRPs) of one RPKI cache, and the test of RFC 6811 against it. It changes in place, by
// whole deltas; it does not know where the VRPs come from or how old they are.
import { vrpPrefix, type Vrp, type VrpBits } from './vrp.ts'
import { maskBits } from '../../net/bits.ts'
import type { Bits, Family } from '../../net/bits.ts'
import { prefixBits } from '../../net/prefix.ts'
import type { Prefix } from '../../net/prefix.ts'
import type { Columns } from '../../net/prefix-table.ts'
import {
  asnAt,
  createHash,
  findVrp,
  firstSetOf,
  headPlace,
  insertVrp,
  isAddress,
  lengthOf,
  lengthSets,
  lengthsUpTo,
  maxLengthOf,
  moreSetOf,
  removeVrp,
  scanVrps,
  vrpAt,
} from './vrp-hash.ts'
import type { VrpHash } from './vrp-hash.ts'

/**
 * RFC 6811 section 2, with its "invalid" told apart: `mismatch_length` when a covering VRP is of this ASN and only too short
 * a `maxLength` stands in the way, otherwise `mismatch_asn`. In the order of the numbers that `judgeMany` answers.
 */
export const roaStates = ['not_found', 'mismatch_asn', 'mismatch_length', 'valid'] as const
export type RoaState = (typeof roaStates)[number]

/** `covering`: the VRPs whose prefixes cover the announced one, of whatever ASN, most specific first; the first 1,000. */
export type RoaVerdict = { readonly state: RoaState; readonly covering: readonly Vrp[] }

/** In this order: what is withdrawn first may be announced again in the same delta. */
export type VrpDelta = { readonly withdrawn?: Iterable<VrpBits>; readonly announced?: Iterable<VrpBits> }

export type RoaTable = {
  /** How many VRPs it holds. */
  readonly size: number
  has(vrp: VrpBits): boolean
  /** False if it was there already. */
  add(vrp: VrpBits): boolean
  /** False if it was not there. */
  remove(vrp: VrpBits): boolean
  /** Without yielding; what is there already, or is not there to be withdrawn, is passed over. About 0.5 us a VRP. */
  apply(delta: VrpDelta): void
  judge(prefix: Prefix, asn: number): RoaVerdict
  /** Many announcements of one family at once, without host bits: the place of each one's state in `roaStates`. */
  judgeMany(family: Family, prefixes: Columns<Uint32Array>, asns: Uint32Array): Uint8Array
  /**
   * Visits some VRPs from a place on, 0 at first, and returns the place to go on from; 0 is the end. A change between two
   * calls leaves what it does not touch to be visited once.
   */
  scan(place: number, vrpsMax: number, visit: (vrp: VrpBits) => void): number
}

/** `seed`: any number that those who make ROAs do not know; it keeps them from making ones that are slow to hold. */
export function createRoaTable(vrps: Iterable<VrpBits> = [], seed = 0): RoaTable {
  const table = new HashedRoaTable(seed)
  table.apply({ announced: vrps })
  return table
}

const [notFound, mismatchAsn, mismatchLength, valid] = [0, 1, 2, 3] as const

/** Private state, because it is changed in place. */
class HashedRoaTable implements RoaTable {
  readonly #ipv4: VrpHash
  readonly #ipv6: VrpHash

  constructor(seed: number) {
    this.#ipv4 = createHash(4, seed)
    this.#ipv6 = createHash(6, seed)
  }

  get size(): number {
    return this.#ipv4.size + this.#ipv6.size
  }

  has(vrp: VrpBits): boolean {
    return findVrp(this.#side(vrp.family), vrp) !== 0
  }

  add(vrp: VrpBits): boolean {
    const side = this.#side(vrp.family)
    if (findVrp(side, vrp) !== 0) return false
    insertVrp(side, vrp)
    return true
  }

  remove(vrp: VrpBits): boolean {
    const side = this.#side(vrp.family)
    const record = findVrp(side, vrp)
    if (record === 0) return false
    removeVrp(side, record, vrp)
    return true
  }

  apply({ withdrawn = [], announced = [] }: VrpDelta): void {
    for (const vrp of withdrawn) this.remove(vrp)
    for (const vrp of announced) this.add(vrp)
  }

  judge(prefix: Prefix, asn: number): RoaVerdict {
    const bits = prefixBits(prefix)
    const { family, w0, w1, w2, w3, length } = bits
    const side = this.#side(family)
    const state = judge(side, w0, w1, w2, w3, length, asn | 0)
    return { state: roaStates[state]!, covering: state === notFound ? [] : covering(side, bits) }
  }

  judgeMany(family: Family, prefixes: Columns<Uint32Array>, asns: Uint32Array): Uint8Array {
    const { w0, w1, w2, w3, lengths } = prefixes
    const side = this.#side(family)
    const states = new Uint8Array(asns.length)
    for (let i = 0; i < states.length; i++) {
      // As signed 32-bit numbers, which V8 keeps unboxed.
      states[i] = judge(side, w0[i]! | 0, w1[i]! | 0, w2[i]! | 0, w3[i]! | 0, lengths[i]!, asns[i]! | 0)
    }
    return states
  }

  scan(place: number, vrpsMax: number, visit: (vrp: VrpBits) => void): number {
    // Even places are of IPv4, odd ones of IPv6: the place of a record is a multiple of eight.
    const isIpv4 = place % 2 === 0
    const next = scanVrps(this.#side(isIpv4 ? 4 : 6), place - (place % 2), vrpsMax, visit)
    if (next !== 0) return isIpv4 ? next : next + 1
    return isIpv4 ? 1 : 0
  }

  #side(family: Family): VrpHash {
    return family === 4 ? this.#ipv4 : this.#ipv6
  }
}

/** The hot path, on numbers alone; `asn` is signed. Every length that there may be is one look into the hash table. */
function judge(
  side: VrpHash,
  w0: number,
  w1: number,
  w2: number,
  w3: number,
  length: number,
  asn: number,
): number {
  const sets = side.lengths ?? lengthSets(side)
  let state: number = sets.hasDefault ? judgeAt(side, 0, 0, 0, 0, 0, length, asn) : notFound
  let rest = sets.first[firstSetOf(w0)]! & lengthsUpTo(length, 0)
  while (rest !== 0 && state !== valid) {
    const least = 32 - Math.clz32(rest & -rest)
    rest &= rest - 1
    state = Math.max(state, judgeAt(side, least, w0 & (-1 << (32 - least)), 0, 0, 0, length, asn))
  }
  return length <= 32 || state === valid ? state : judgeLonger(side, w0, w1, w2, w3, length, asn, state)
}

/** The VRPs of 33 to 128 bits, which only IPv6 has. */
function judgeLonger(
  side: VrpHash,
  w0: number,
  w1: number,
  w2: number,
  w3: number,
  length: number,
  asn: number,
  before: number,
): number {
  const { more } = lengthSets(side)
  const set = moreSetOf(w0)
  let state = before
  for (let word = 1; word < 4; word++) {
    let rest = more[set + word - 1]! & lengthsUpTo(length, word)
    while (rest !== 0 && state !== valid) {
      const least = 32 - Math.clz32(rest & -rest)
      rest &= rest - 1
      const mask = -1 << (32 - least)
      const [m1, m2, m3] = [
        word === 1 ? w1 & mask : w1,
        word === 1 ? 0 : word === 2 ? w2 & mask : w2,
        word === 3 ? w3 & mask : 0,
      ]
      state = Math.max(state, judgeAt(side, 32 * word + least, w0, m1, m2, m3, length, asn))
    }
  }
  return state
}

/**
 * By the VRPs of one covering prefix. AS 0 validates nothing (RFC 6811 section 2, RFC 7607), not even a route that claims to
 * come from it.
 */
function judgeAt(
  side: VrpHash,
  prefixLength: number,
  w0: number,
  w1: number,
  w2: number,
  w3: number,
  length: number,
  asn: number,
): number {
  const { heads } = side
  const { words } = side.records
  let state: number = notFound
  let record = heads[headPlace(heads, prefixLength, w0, w1, w2, w3)]!
  for (; record !== 0; record = words[record]!) {
    if (lengthOf(words, record) !== prefixLength || !isAddress(words, record, w0, w1, w2, w3)) continue
    if (words[record + asnAt] !== asn || asn === 0) state = Math.max(state, mismatchAsn)
    else if (length <= maxLengthOf(words, record)) return valid
    else state = mismatchLength
  }
  return state
}

/** More of them explain nothing more; a holder can make any number for one prefix. */
const coveringMax = 1_000

/** The VRPs that cover the prefix, most specific first. */
function covering(side: VrpHash, bits: Bits): Vrp[] {
  const { first, more, hasDefault } = lengthSets(side)
  const found: Vrp[] = []
  for (let length = bits.length; length > 0; length--) {
    const word = (length - 1) >>> 5
    const set = word === 0 ? first[firstSetOf(bits.w0)]! : more[moreSetOf(bits.w0) + word - 1]!
    if (((set >>> ((length - 1) & 31)) & 1) === 1) collect(side, maskBits({ ...bits, length }), found)
  }
  if (hasDefault) collect(side, maskBits({ ...bits, length: 0 }), found)
  return found
}

function collect(side: VrpHash, bits: Bits, found: Vrp[]): void {
  const { heads } = side
  const { words } = side.records
  const { length, w0, w1, w2, w3 } = bits
  let record = heads[headPlace(heads, length, w0, w1, w2, w3)]!
  for (; record !== 0 && found.length < coveringMax; record = words[record]!) {
    if (lengthOf(words, record) !== length || !isAddress(words, record, w0, w1, w2, w3)) continue
    const { maxLength, asn } = vrpAt(side, record)
    found.push({ prefix: vrpPrefix(bits), maxLength, asn })
  }
}
