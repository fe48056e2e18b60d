// The set of validated ROA payloads (VRPs) of one RPKI cache, and the test of RFC 6811 against it. It changes in place, by
// whole deltas; it does not know where the VRPs come from or how old they are.
import { formatBits } from './bits-text.ts'
import type { Bits, Family } from './bits.ts'
import { prefixBits } from './prefix.ts'
import type { Prefix } from './prefix.ts'
import type { Columns } from './prefix-table.ts'
import {
  bitAt,
  createTrie,
  findNode,
  headAt,
  insertNode,
  lengthAt,
  longRoot,
  nodeBits,
  nodeCovers,
  pruneNode,
  scanNodes,
  shortRoot,
} from './prefix-trie.ts'
import type { PrefixTrie } from './prefix-trie.ts'
import { allocate, createPool, release } from './word-pool.ts'
import type { WordPool } from './word-pool.ts'

/** Validated ROA payload: `asn` may originate `prefix` and what is inside it, down to `maxLength`. AS 0: nobody may. */
export type Vrp = { readonly prefix: Prefix; readonly maxLength: number; readonly asn: number }

/** A VRP as numbers, as protocols carry it: the prefix has no host bits, `maxLength` is from its length to the family's. */
export type VrpBits = Bits & { readonly maxLength: number; readonly asn: number }

/**
 * RFC 6811 section 2, with its "invalid" told apart: `mismatch_length` when a covering VRP is of this ASN and only too short
 * a `maxLength` stands in the way, otherwise `mismatch_asn`. In the order of the numbers that `judgeMany` answers.
 */
export const roaStates = ['not_found', 'mismatch_asn', 'mismatch_length', 'valid'] as const
export type RoaState = (typeof roaStates)[number]

/** `covering`: every VRP whose prefix covers the announced one, of whatever ASN, most specific first. */
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
  scan(place: number, prefixesMax: number, visit: (vrp: VrpBits) => void): number
}

export function createRoaTable(vrps: Iterable<VrpBits> = []): RoaTable {
  const table = new TypedRoaTable()
  table.apply({ announced: vrps })
  return table
}

/** The VRP of a text source as numbers. */
export function vrpBits({ prefix, maxLength, asn }: Vrp): VrpBits {
  return { ...prefixBits(prefix), maxLength, asn }
}

/** The VRP's prefix as text. */
export function vrpPrefix(vrp: Bits): Prefix {
  return `${formatBits(vrp)}/${vrp.length}` as Prefix
}

const [notFound, mismatchAsn, mismatchLength, valid] = [0, 1, 2, 3] as const

/** A record of a VRP, in a list that starts at the head of its prefix's node: next, ASN, maxLength. */
const asnAt = 1
const maxLengthAt = 2
const recordWords = 3

/** One trie of prefixes for each family; the VRPs of a prefix are a list. Private state, because it is changed in place. */
class TypedRoaTable implements RoaTable {
  readonly #ipv4 = createTrie()
  readonly #ipv6 = createTrie()
  readonly #vrps = createPool(recordWords, recordWords)
  #size = 0

  get size(): number {
    return this.#size
  }

  has(vrp: VrpBits): boolean {
    const trie = this.#trieOf(vrp.family)
    const node = findNode(trie, vrp)
    return node !== 0 && findRecord(this.#vrps, trie.words[node + headAt]!, vrp) !== 0
  }

  add(vrp: VrpBits): boolean {
    const trie = this.#trieOf(vrp.family)
    const node = insertNode(trie, vrp)
    const head = trie.words[node + headAt]!
    if (findRecord(this.#vrps, head, vrp) !== 0) return false
    const record = allocate(this.#vrps)
    const { words } = this.#vrps
    words[record] = head
    words[record + asnAt] = vrp.asn
    words[record + maxLengthAt] = vrp.maxLength
    trie.words[node + headAt] = record
    this.#size++
    return true
  }

  remove(vrp: VrpBits): boolean {
    const trie = this.#trieOf(vrp.family)
    const node = findNode(trie, vrp)
    if (node === 0) return false
    const head = trie.words[node + headAt]!
    const record = findRecord(this.#vrps, head, vrp)
    if (record === 0) return false
    trie.words[node + headAt] = withoutRecord(this.#vrps, head, record)
    if (trie.words[node + headAt] === 0) pruneNode(trie, vrp)
    this.#size--
    return true
  }

  apply({ withdrawn = [], announced = [] }: VrpDelta): void {
    for (const vrp of withdrawn) this.remove(vrp)
    for (const vrp of announced) this.add(vrp)
  }

  judge(prefix: Prefix, asn: number): RoaVerdict {
    const bits = prefixBits(prefix)
    const { family, w0, w1, w2, w3, length } = bits
    const root = longRoot(family, w0)
    const state = judge(this.#trieOf(family), this.#vrps, root, w0, w1, w2, w3, length, asn | 0)
    return { state: roaStates[state]!, covering: state === notFound ? [] : this.#covering(bits) }
  }

  judgeMany(family: Family, prefixes: Columns<Uint32Array>, asns: Uint32Array): Uint8Array {
    const { w0, w1, w2, w3, lengths } = prefixes
    const trie = this.#trieOf(family)
    const vrps = this.#vrps
    const states = new Uint8Array(asns.length)
    for (let i = 0; i < states.length; i++) {
      // As signed 32-bit numbers, which V8 keeps unboxed.
      const word = w0[i]! | 0
      const [root, length, asn] = [longRoot(family, word), lengths[i]!, asns[i]! | 0]
      states[i] = judge(trie, vrps, root, word, w1[i]! | 0, w2[i]! | 0, w3[i]! | 0, length, asn)
    }
    return states
  }

  scan(place: number, prefixesMax: number, visit: (vrp: VrpBits) => void): number {
    // Even places are of IPv4, odd ones of IPv6: the place of a node is a multiple of eight.
    const family = place % 2 === 0 ? 4 : 6
    const trie = this.#trieOf(family)
    const next = scanNodes(trie, place - (place % 2), prefixesMax, (node) => {
      const bits = nodeBits(trie.words, node, family)
      for (const [asn, maxLength] of this.#records(trie.words[node + headAt]!))
        visit({ ...bits, asn, maxLength })
    })
    if (next !== 0) return family === 4 ? next : next + 1
    return family === 4 ? 1 : 0
  }

  #covering(bits: Bits): Vrp[] {
    const { words } = this.#trieOf(bits.family)
    const found: Vrp[] = []
    for (const root of [shortRoot, longRoot(bits.family, bits.w0)]) {
      let node = coveringNode(words, words[root]!, bits)
      while (node !== 0) {
        const prefix = vrpPrefix(nodeBits(words, node, bits.family))
        for (const [asn, maxLength] of this.#records(words[node + headAt]!))
          found.push({ prefix, maxLength, asn })
        node = coveringNode(words, nextNode(words, node, bits), bits)
      }
    }
    return found.reverse()
  }

  *#records(head: number): Generator<readonly [asn: number, maxLength: number]> {
    const { words } = this.#vrps
    for (let record = head; record !== 0; record = words[record]!)
      yield [words[record + asnAt]! >>> 0, words[record + maxLengthAt]!]
  }

  #trieOf(family: Family): PrefixTrie {
    return family === 4 ? this.#ipv4 : this.#ipv6
  }
}

function findRecord({ words }: WordPool, head: number, { asn, maxLength }: VrpBits): number {
  const signed = asn | 0
  let record = head
  while (record !== 0 && (words[record + asnAt] !== signed || words[record + maxLengthAt] !== maxLength))
    record = words[record]!
  return record
}

/** The head of the list after the record was given back. */
function withoutRecord(vrps: WordPool, head: number, record: number): number {
  const { words } = vrps
  const next = words[record]!
  let before = head
  if (head !== record) {
    while (words[before] !== record) before = words[before]!
    words[before] = next
  }
  release(vrps, record)
  return head === record ? next : head
}

/** The hot path, on numbers alone; `asn` is signed. The two roots are those whose prefixes can cover this one. */
function judge(
  trie: PrefixTrie,
  vrps: WordPool,
  root: number,
  w0: number,
  w1: number,
  w2: number,
  w3: number,
  length: number,
  asn: number,
): number {
  const long = judgeBelow(trie, vrps, root, w0, w1, w2, w3, length, asn)
  if (long === valid) return valid
  const short = judgeBelow(trie, vrps, shortRoot, w0, w1, w2, w3, length, asn)
  return long > short ? long : short
}

function judgeBelow(
  trie: PrefixTrie,
  vrps: WordPool,
  root: number,
  w0: number,
  w1: number,
  w2: number,
  w3: number,
  length: number,
  asn: number,
): number {
  const { words } = trie
  let state: number = notFound
  let node = words[root]!
  while (node !== 0) {
    const nodeLength = words[node + lengthAt]!
    if (nodeLength > length || !nodeCovers(words, node, nodeLength, w0, w1, w2, w3)) break
    const head = words[node + headAt]!
    if (head !== 0) state = Math.max(state, judgeRecords(vrps.words, head, length, asn))
    if (state === valid || nodeLength === length) break
    node = words[node + bitAt(w0, w1, w2, w3, nodeLength)]!
  }
  return state
}

/** AS 0 validates nothing (RFC 6811 section 2, RFC 7607), not even a route that claims to come from it. */
function judgeRecords(words: Int32Array, head: number, length: number, asn: number): number {
  let state: number = mismatchAsn
  for (let record = head; record !== 0; record = words[record]!) {
    if (words[record + asnAt] !== asn || asn === 0) continue
    if (length <= words[record + maxLengthAt]!) return valid
    state = mismatchLength
  }
  return state
}

/** From a node downwards: the first that covers `bits` and has VRPs, or 0. */
function coveringNode(words: Int32Array, from: number, bits: Bits): number {
  let node = from
  while (node !== 0 && words[node + lengthAt]! <= bits.length) {
    const { w0, w1, w2, w3 } = bits
    if (!nodeCovers(words, node, words[node + lengthAt]!, w0, w1, w2, w3)) return 0
    if (words[node + headAt] !== 0) return node
    node = nextNode(words, node, bits)
  }
  return 0
}

/** The child on the way to `bits`; 0 at their full length. */
function nextNode(words: Int32Array, node: number, { w0, w1, w2, w3, length }: Bits): number {
  const nodeLength = words[node + lengthAt]!
  return nodeLength >= length ? 0 : words[node + bitAt(w0, w1, w2, w3, nodeLength)]!
}
