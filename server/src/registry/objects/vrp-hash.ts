// The VRPs of one address family of a ROA table: a hash table of records by prefix, and for each range of addresses the
// prefix lengths in use, so that a search probes only these. The probes are independent of each other, so their memory
// accesses overlap; a tree of the same VRPs, where each step waits for memory, took 1.5 (IPv4) to 3 times (IPv6) as
// long.
import type { Bits, Family } from '../../net/bits.ts'
import type { VrpBits } from './vrp.ts'
import { allocate, createPool, release } from './word-pool.ts'
import type { WordPool } from './word-pool.ts'

export type VrpHash = {
  readonly family: Family
  /** A record is a VRP: next and previous of its chain, ASN, lengths, address. */
  readonly records: WordPool
  /** The chains of records, by hash of the prefix: a power of two, two to eight times the number of records. */
  heads: Int32Array
  /**
   * Same number of slots for records by hash of the whole VRP, with open addressing: one prefix may have VRPs of a
   * hundred thousand ASNs, if its holder creates them, and an insert must not traverse all of them.
   */
  places: Int32Array
  /** Unknown to holders who create ROAs, so that they cannot create collisions. */
  readonly seed: number
  size: number
  /** Built by the first search, or while that is still fast: small tables are often never searched. */
  lengths: LengthSets | undefined
}

const previousAt = 1
export const asnAt = 2
const lengthsAt = 3
const addressAt = 4
const recordWords = 8

/**
 * The prefix lengths that may exist, as bits: length n is bit n - 1. `first` has lengths up to 32 by the first 20 bits
 * of the address, 4 MiB; `more` has lengths from 33 to 128, three words for each hash of its first 32 bits. A length
 * stays set when its last VRP is withdrawn: that costs a futile probe, and tables are rebuilt every hour.
 */
type LengthSets = { readonly first: Int32Array; readonly more: Int32Array; hasDefault: boolean }

/** The number of records up to which building the sets is deferred. */
const unsearchedMax = 4_096
const firstBits = 20
const moreBits = 16

export function createHash(family: Family, seed: number): VrpHash {
  const records = createPool(recordWords, recordWords)
  const [heads, places] = [new Int32Array(chainsAtFirst), new Int32Array(chainsAtFirst)]
  return { family, records, heads, places, seed, size: 0, lengths: undefined }
}

const chainsAtFirst = 512

/** Returns the index of the record, or 0. */
export function findVrp(hash: VrpHash, vrp: VrpBits): number {
  return hash.places[indexOf(hash, vrp)]!
}

/** Adds a VRP that does not exist yet. */
export function insertVrp(hash: VrpHash, vrp: VrpBits): void {
  if (2 * ++hash.size > hash.heads.length) grow(hash)
  const record = allocate(hash.records)
  const { words } = hash.records
  words[record + asnAt] = vrp.asn
  words[record + lengthsAt] = lengthsOf(vrp)
  words[record + addressAt] = vrp.w0
  words[record + addressAt + 1] = vrp.w1
  words[record + addressAt + 2] = vrp.w2
  words[record + addressAt + 3] = vrp.w3
  hash.places[indexOf(hash, vrp)] = record
  chain(words, hash.heads, headOf(hash.heads, vrp), record)
  if (hash.lengths) noteLength(hash.lengths, vrp)
  else if (hash.size >= unsearchedMax) lengthSets(hash)
}

/** Removes the VRP at this index. */
export function removeVrp(hash: VrpHash, record: number, vrp: VrpBits): void {
  const { words } = hash.records
  const [next, previous] = [words[record]!, words[record + previousAt]!]
  if (previous === 0) hash.heads[headOf(hash.heads, vrp)] = next
  else words[previous] = next
  if (next !== 0) words[next + previousAt] = previous
  emptyPlace(hash, indexOf(hash, vrp))
  release(hash.records, record)
  hash.size--
}

/** Inserts the record at the head of its chain. */
function chain(words: Int32Array, heads: Int32Array, head: number, record: number): void {
  const next = heads[head]!
  words[record] = next
  words[record + previousAt] = 0
  if (next !== 0) words[next + previousAt] = record
  heads[head] = record
}

/** Returns the slot of the VRP, or the empty slot for it. */
function indexOf({ places, records: { words }, seed }: VrpHash, vrp: VrpBits): number {
  let index = placeOf(seed, lengthsOf(vrp), vrp.asn, vrp.w0, vrp.w1, vrp.w2, vrp.w3) & (places.length - 1)
  while (places[index] !== 0 && !isVrp(words, places[index]!, vrp)) index = (index + 1) & (places.length - 1)
  return index
}

/** Clears a slot and moves up the following entries that would become unreachable. */
function emptyPlace({ places, records: { words }, seed }: VrpHash, start: number): void {
  const mask = places.length - 1
  let empty = start
  for (let index = (empty + 1) & mask; places[index] !== 0; index = (index + 1) & mask) {
    const home = placeOfRecord(seed, words, places[index]!) & mask
    if (((index - home) & mask) < ((index - empty) & mask)) continue
    places[empty] = places[index]!
    empty = index
  }
  places[empty] = 0
}

function placeOfRecord(seed: number, words: Int32Array, record: number): number {
  const at = record + addressAt
  const [lengths, asn] = [words[record + lengthsAt]!, words[record + asnAt]!]
  return placeOf(seed, lengths, asn, words[at]!, words[at + 1]!, words[at + 2]!, words[at + 3]!)
}

function placeOf(
  seed: number,
  lengths: number,
  asn: number,
  w0: number,
  w1: number,
  w2: number,
  w3: number,
): number {
  let hash = mix(seed, asn)
  hash = mix(hash, lengths)
  hash = mix(hash, w0)
  if (w1 !== 0) hash = mix(hash, w1)
  if ((w2 | w3) !== 0) hash = mix(mix(hash, w2), w3)
  return hash ^ (hash >>> 13)
}

function mix(hash: number, word: number): number {
  const mixed = Math.imul(hash ^ word, 0x85ebca6b)
  return Math.imul(mixed ^ (mixed >>> 15), 0xc2b2ae35)
}

function grow(hash: VrpHash): void {
  const length = hash.heads.length * 4
  const { words, end } = hash.records
  hash.heads = new Int32Array(length)
  hash.places = new Int32Array(length)
  for (let record = recordWords; record < end; record += recordWords) {
    if (words[record + lengthsAt] === 0) continue
    chain(words, hash.heads, headOfRecord(hash.heads, words, record), record)
    let index = placeOfRecord(hash.seed, words, record) & (length - 1)
    while (hash.places[index] !== 0) index = (index + 1) & (length - 1)
    hash.places[index] = record
  }
}

function isVrp(words: Int32Array, record: number, vrp: VrpBits): boolean {
  return (
    words[record + asnAt] === (vrp.asn | 0) &&
    words[record + lengthsAt] === lengthsOf(vrp) &&
    isAddress(words, record, vrp.w0, vrp.w1, vrp.w2, vrp.w3)
  )
}

export function isAddress(
  words: Int32Array,
  record: number,
  w0: number,
  w1: number,
  w2: number,
  w3: number,
): boolean {
  return (
    words[record + addressAt] === w0 &&
    words[record + addressAt + 1] === w1 &&
    words[record + addressAt + 2] === w2 &&
    words[record + addressAt + 3] === w3
  )
}

/** Both lengths, and a bit that distinguishes a record in use, even of 0.0.0.0/0, from a free one. */
function lengthsOf({ length, maxLength }: VrpBits): number {
  return (1 << 16) | (maxLength << 8) | length
}

export function recordLengthOf(words: Int32Array, record: number): number {
  return words[record + lengthsAt]! & 255
}

export function maxLengthOf(words: Int32Array, record: number): number {
  return (words[record + lengthsAt]! >>> 8) & 255
}

export function vrpAt({ family, records: { words } }: VrpHash, record: number): VrpBits {
  return {
    family,
    length: recordLengthOf(words, record),
    w0: words[record + addressAt]!,
    w1: words[record + addressAt + 1]!,
    w2: words[record + addressAt + 2]!,
    w3: words[record + addressAt + 3]!,
    maxLength: maxLengthOf(words, record),
    asn: words[record + asnAt]! >>> 0,
  }
}

function headOf(heads: Int32Array, { length, w0, w1, w2, w3 }: Bits): number {
  return headPlace(heads, length, w0, w1, w2, w3)
}

function headOfRecord(heads: Int32Array, words: Int32Array, record: number): number {
  const at = record + addressAt
  return headPlace(
    heads,
    recordLengthOf(words, record),
    words[at]!,
    words[at + 1]!,
    words[at + 2]!,
    words[at + 3]!,
  )
}

/** Returns the chain of a prefix. */
export function headPlace(
  heads: Int32Array,
  length: number,
  w0: number,
  w1: number,
  w2: number,
  w3: number,
): number {
  let hash = Math.imul(w0 ^ Math.imul(length, 0x85ebca6b), 0x9e3779b1)
  if (length > 32) hash = Math.imul(hash ^ (hash >>> 15) ^ w1, 0xc2b2ae35)
  if (length > 64) hash = Math.imul(hash ^ (hash >>> 15) ^ w2, 0x27d4eb2f) ^ Math.imul(w3, 0x165667b1)
  return (hash ^ (hash >>> 15)) & (heads.length - 1)
}

/** Built on first use. */
export function lengthSets(hash: VrpHash): LengthSets {
  if (hash.lengths) return hash.lengths
  const sets = {
    first: new Int32Array(2 ** firstBits),
    more: new Int32Array(hash.family === 4 ? 0 : 3 * 2 ** moreBits),
    hasDefault: false,
  }
  const { words, end } = hash.records
  for (let record = recordWords; record < end; record += recordWords)
    if (words[record + lengthsAt] !== 0) noteLength(sets, vrpAt(hash, record))
  hash.lengths = sets
  return sets
}

export function firstSetOf(w0: number): number {
  return w0 >>> (32 - firstBits)
}

export function moreSetOf(w0: number): number {
  return 3 * (Math.imul(w0, 0x9e3779b1) >>> (32 - moreBits))
}

function noteLength(sets: LengthSets, { length, w0 }: Bits): void {
  if (length === 0) sets.hasDefault = true
  else if (length <= 32) {
    const start = firstSetOf(w0)
    const end = start + 2 ** Math.max(0, firstBits - length)
    for (let set = start; set < end; set++) sets.first[set]! |= bitOf(length)
  } else sets.more[moreSetOf(w0) + ((length - 33) >>> 5)]! |= bitOf(length)
}

function bitOf(length: number): number {
  return 1 << ((length - 1) & 31)
}

/** The bits of the lengths from 32 * word + 1 to `length`. */
export function lengthsUpTo(length: number, word: number): number {
  const count = length - 32 * word
  if (count >= 32) return -1
  return count <= 0 ? 0 : (1 << count) - 1
}

/** Calls `visit` with some VRPs from a position on, 0 at first. Returns the next position, or 0 at the end. */
export function scanVrps(
  hash: VrpHash,
  from: number,
  recordsMax: number,
  visit: (vrp: VrpBits) => void,
): number {
  const { words, end } = hash.records
  const start = Math.max(from, recordWords)
  const stop = Math.min(end, start + recordsMax * recordWords)
  for (let record = start; record < stop; record += recordWords)
    if (words[record + lengthsAt] !== 0) visit(vrpAt(hash, record))
  return stop < end ? stop : 0
}
