// The set of validated ROA payloads (VRPs) of one RPKI cache, and route origin validation against it (RFC 6811). It is changed in
// place, by whole deltas; it does not know the source or the age of the VRPs.
import { vrpPrefix, type Vrp, type VrpBits } from './vrp.ts'
import { maskBits } from '../../net/bits.ts'
import type { Bits, Family } from '../../net/bits.ts'
import { prefixBits } from '../../net/prefix.ts'
import type { Prefix } from '../../net/prefix.ts'
import type { TableColumns } from '../../net/prefix-table.ts'
import {
  asnAt,
  createHash,
  findVrp,
  firstSetOf,
  headPlace,
  insertVrp,
  isAddress,
  recordLengthOf,
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
 * The states of RFC 6811 section 2, with "invalid" split: `mismatch_length` if a covering VRP has this ASN and only its
 * `maxLength` is too short, otherwise `mismatch_asn`. In the order of the numbers that `judgeMany` returns.
 */
export const roaStates = ['not_found', 'mismatch_asn', 'mismatch_length', 'valid'] as const
export type RoaState = (typeof roaStates)[number]

/** `covering`: the VRPs whose prefixes cover the announced one, of any ASN, most specific first; at most 1,000. */
export type RoaVerdict = { readonly state: RoaState; readonly covering: readonly Vrp[] }

/** Applied in this order: a withdrawn VRP may be announced again in the same delta. */
export type VrpDelta = { readonly withdrawn?: Iterable<VrpBits>; readonly announced?: Iterable<VrpBits> }

export type RoaTable = {
  /** The number of VRPs. */
  readonly size: number
  has(vrp: VrpBits): boolean
  /** Returns false if it exists already. */
  add(vrp: VrpBits): boolean
  /** Returns false if it does not exist. */
  remove(vrp: VrpBits): boolean
  /** Applies a delta synchronously; ignores existing announcements and absent withdrawals. About 0.5 us per VRP. */
  apply(delta: VrpDelta): void
  judge(prefix: Prefix, asn: number): RoaVerdict
  /** Judges many announcements of one family, without host bits. Returns the index in `roaStates` for each. */
  judgeMany(family: Family, prefixes: TableColumns<Uint32Array>, asns: Uint32Array): Uint8Array
  /**
   * Visits some VRPs from a position on, 0 at first, and returns the position to continue from; 0 is the end. If the table
   * changes between two calls, VRPs that did not change are still visited once.
   */
  scan(place: number, vrpsMax: number, visit: (vrp: VrpBits) => void): number
}

/** `seed`: a number unknown to holders who create ROAs, so that they cannot create collisions in the hash table. */
export function createRoaTable(vrps: Iterable<VrpBits> = [], seed = 0): RoaTable {
  const table = new HashedRoaTable(seed)
  table.apply({ announced: vrps })
  return table
}

const [notFound, mismatchAsn, mismatchLength, valid] = [0, 1, 2, 3] as const

/** Private state, because it is mutable. */
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

  judgeMany(family: Family, prefixes: TableColumns<Uint32Array>, asns: Uint32Array): Uint8Array {
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
    // Even positions belong to IPv4, odd positions to IPv6: the index of a record is a multiple of eight.
    const isIpv4 = place % 2 === 0
    const next = scanVrps(this.#side(isIpv4 ? 4 : 6), place - (place % 2), vrpsMax, visit)
    if (next !== 0) return isIpv4 ? next : next + 1
    return isIpv4 ? 1 : 0
  }

  #side(family: Family): VrpHash {
    return family === 4 ? this.#ipv4 : this.#ipv6
  }
}

/** The hot path, on numbers only; `asn` is signed. One hash table probe per possible length. */
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

/** Judges by the VRPs of 33 to 128 bits, which only IPv6 has. */
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
 * Judges by the VRPs of one covering prefix. AS 0 makes no route valid (RFC 6811 section 2, RFC 7607), not even a route
 * whose origin is AS 0.
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
    if (recordLengthOf(words, record) !== prefixLength || !isAddress(words, record, w0, w1, w2, w3)) continue
    if (words[record + asnAt] !== asn || asn === 0) state = Math.max(state, mismatchAsn)
    else if (length <= maxLengthOf(words, record)) return valid
    else state = mismatchLength
  }
  return state
}

/** More would not explain more; a holder can create any number for one prefix. */
const coveringMax = 1_000

/** Returns the VRPs that cover the prefix, most specific first. */
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
    if (recordLengthOf(words, record) !== length || !isAddress(words, record, w0, w1, w2, w3)) continue
    const { maxLength, asn } = vrpAt(side, record)
    found.push({ prefix: vrpPrefix(bits), maxLength, asn })
  }
}
