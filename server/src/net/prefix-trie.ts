// The distinct prefixes of one family below a ROA table, as a path-compressed binary trie that changes in place: a prefix
// comes or goes without touching the others. It knows places, not what stands at a prefix: that is the caller's `head`.
//
// A search must take a few steps and not twenty, since each is a cache miss. Prefixes of some length and more therefore hang
// below one of many roots, chosen by their first bits; the shorter ones, which are few, below a root of their own.
import { maskBits } from './bits.ts'
import type { Bits, Family } from './bits.ts'
import { allocate, createPool, release } from './word-pool.ts'
import type { WordPool } from './word-pool.ts'

/**
 * `words` holds the roots and then nodes of eight words: two children, head, length, address. A place in it that holds the
 * place of a node is called a link. A node without a head is there only because two others part at it.
 */
export type PrefixTrie = WordPool

export const headAt = 2
export const lengthAt = 3
const addressAt = 4
const nodeWords = 8

/** From these lengths on: IPv4 has some ROAs in every /16, IPv6 many in a few /16 and some in most of the /32 in use. */
const rootLengths = { 4: 16, 6: 32 } as const
const rootBits = 16
/** The root of all shorter prefixes. */
export const shortRoot = 2 ** rootBits
const firstNode = shortRoot + nodeWords

export function createTrie(): PrefixTrie {
  return createPool(nodeWords, firstNode)
}

/**
 * The root of all other prefixes that begin like this address. Of IPv6, several beginnings share one: they part below it as
 * any two prefixes do.
 */
export function longRoot(family: Family, w0: number): number {
  return (family === 4 ? w0 : Math.imul(w0, 0x9e3779b1)) >>> (32 - rootBits)
}

/** The place of the very prefix, or 0. */
export function findNode({ words }: PrefixTrie, bits: Bits): number {
  let node = words[rootOf(bits)]!
  while (node !== 0 && words[node + lengthAt]! < bits.length) node = words[childLink(words, node, bits)]!
  return node !== 0 &&
    words[node + lengthAt] === bits.length &&
    commonLength(words, node, bits) >= bits.length
    ? node
    : 0
}

/** The place of the very prefix, which is made if it is not there. The prefix has no host bits. */
export function insertNode(trie: PrefixTrie, bits: Bits): number {
  let link = rootOf(bits)
  for (;;) {
    const { words } = trie
    const node = words[link]!
    if (node === 0) return hang(trie, link, bits)
    const length = words[node + lengthAt]!
    const common = Math.min(length, bits.length, commonLength(words, node, bits))
    if (common < length) return part(trie, link, common, bits)
    if (common === bits.length) return node
    link = childLink(words, node, bits)
  }
}

/** Takes away a prefix that is there and has no head any more, and the node above it if that parts nothing then. */
export function pruneNode(trie: PrefixTrie, bits: Bits): void {
  const { words } = trie
  let above = -1
  let link = rootOf(bits)
  while (words[words[link]! + lengthAt]! < bits.length) {
    above = link
    link = childLink(words, words[link]!, bits)
  }
  splice(trie, link)
  if (above >= 0) splice(trie, above)
}

function rootOf(bits: Bits): number {
  return bits.length < rootLengths[bits.family] ? shortRoot : longRoot(bits.family, bits.w0)
}

/** Where the node holds the place of its child on the way to `bits`, which are longer than the node. */
function childLink(words: Int32Array, node: number, bits: Bits): number {
  return node + bitAt(bits.w0, bits.w1, bits.w2, bits.w3, words[node + lengthAt]!)
}

/** A new node in the empty link. */
function hang(trie: PrefixTrie, link: number, bits: Bits): number {
  const node = createNode(trie, bits)
  trie.words[link] = node
  return node
}

/** A new node for `bits` where what hangs at the link has only `common` bits in common with them. */
function part(trie: PrefixTrie, link: number, common: number, bits: Bits): number {
  const below = trie.words[link]!
  const node = createNode(trie, bits)
  const above = common === bits.length ? node : createNode(trie, maskBits({ ...bits, length: common }))
  const { words } = trie
  const side = addressBit(words, below, common)
  words[above + side] = below
  if (above !== node) words[above + 1 - side] = node
  words[link] = above
  return node
}

function createNode(trie: PrefixTrie, bits: Bits): number {
  const node = allocate(trie)
  const { words } = trie
  words[node + lengthAt] = bits.length
  words[node + addressAt] = bits.w0
  words[node + addressAt + 1] = bits.w1
  words[node + addressAt + 2] = bits.w2
  words[node + addressAt + 3] = bits.w3
  return node
}

/** Takes out the node at the link if it has no head and at most one child, which takes its place. */
function splice(trie: PrefixTrie, link: number): void {
  const { words } = trie
  const node = words[link]!
  const left = words[node]!
  const right = words[node + 1]!
  if (words[node + headAt] !== 0 || (left !== 0 && right !== 0)) return
  words[link] = left === 0 ? right : left
  release(trie, node)
}

/** Whether the node's prefix, of this length, covers the address. */
export function nodeCovers(
  words: Int32Array,
  node: number,
  length: number,
  w0: number,
  w1: number,
  w2: number,
  w3: number,
): boolean {
  const d0 = words[node + addressAt]! ^ w0
  if (length <= 32) return length === 0 || d0 >>> (32 - length) === 0
  if (d0 !== 0) return false
  const d1 = words[node + addressAt + 1]! ^ w1
  if (length <= 64) return d1 >>> (64 - length) === 0
  if (d1 !== 0) return false
  const d2 = words[node + addressAt + 2]! ^ w2
  if (length <= 96) return d2 >>> (96 - length) === 0
  return d2 === 0 && (words[node + addressAt + 3]! ^ w3) >>> (128 - length) === 0
}

/** The bit behind the first `length` ones, of which there are fewer than 128. */
export function bitAt(w0: number, w1: number, w2: number, w3: number, length: number): number {
  const word = length < 64 ? (length < 32 ? w0 : w1) : length < 96 ? w2 : w3
  return (word >>> (31 - (length & 31))) & 1
}

function addressBit(words: Int32Array, node: number, length: number): number {
  return (words[node + addressAt + (length >>> 5)]! >>> (31 - (length & 31))) & 1
}

/** How many first bits the node's address and `bits` have in common. */
function commonLength(words: Int32Array, node: number, bits: Bits): number {
  const d0 = words[node + addressAt]! ^ bits.w0
  if (d0 !== 0) return Math.clz32(d0)
  const d1 = words[node + addressAt + 1]! ^ bits.w1
  if (d1 !== 0) return 32 + Math.clz32(d1)
  const d2 = words[node + addressAt + 2]! ^ bits.w2
  if (d2 !== 0) return 64 + Math.clz32(d2)
  return 96 + Math.clz32(words[node + addressAt + 3]! ^ bits.w3)
}

/** The node's prefix as numbers. */
export function nodeBits(words: Int32Array, node: number, family: Family): Bits {
  return {
    family,
    length: words[node + lengthAt]!,
    w0: words[node + addressAt]!,
    w1: words[node + addressAt + 1]!,
    w2: words[node + addressAt + 2]!,
    w3: words[node + addressAt + 3]!,
  }
}

/** Calls `visit` with every node of the trie that has a head, between two places; returns the next place, or 0 at the end. */
export function scanNodes(
  trie: PrefixTrie,
  from: number,
  nodesMax: number,
  visit: (node: number) => void,
): number {
  const start = Math.max(from, firstNode)
  const end = Math.min(trie.end, start + nodesMax * nodeWords)
  for (let node = start; node < end; node += nodeWords) if (trie.words[node + headAt] !== 0) visit(node)
  return end < trie.end ? end : 0
}
