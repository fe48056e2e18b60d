// The NLRI of FlowSpec (RFC 8955 section 4, RFC 8956 section 3) and its order (RFC 8955 section 5.1, RFC 8956 section 3.8). The encoder
// writes components by rising type, without host bits; the decoder accepts no octets that it cannot express as conditions.
import { type Bits, type Family, maskBits, sameBits, widthOf } from '../bits.ts'
import { formatBits } from '../bits-text.ts'
import { type FlowMatch, rangeMax } from '../flow-match.ts'
import { type Prefix, parsePrefix, prefixBits } from '../prefix.ts'
import { canonicalRanges, intersectRanges, type Range, type Ranges } from '../ranges.ts'

/**
 * Most octets of the components. From 240 on the length takes two octets, which GoBGP 3.10 refuses ("not all flowspec component bytes
 * available").
 */
export const componentOctetsMax = 239

const type = {
  destination: 1,
  source: 2,
  protocol: 3,
  destinationPort: 5,
  sourcePort: 6,
  icmpType: 7,
  icmpCode: 8,
  tcpFlags: 9,
  packetLength: 10,
  dscp: 11,
  fragment: 12,
} as const

const rangeTypes = {
  3: 'protocol',
  5: 'destinationPort',
  6: 'sourcePort',
  7: 'icmpType',
  8: 'icmpCode',
  10: 'packetLength',
  11: 'dscp',
} as const

// Operators, RFC 8955 section 4.2.1.
const endOfList = 0x80
const and = 0x40
const lengthShift = 4
const less = 4
const greater = 2
const equal = 1
const not = 2
const match = 1

/** Bits of the fragment component: `isLater` is set for all fragments but the first (RFC 8955 section 4.2.2.12). */
const isLater = 2
const isFirst = 4

// Operands of one bit each: not every router accepts more.
const anyFragment = [
  [match, isLater],
  [match, isFirst],
] as const
const noFragment = [
  [not | match, isLater],
  [and | not | match, isFirst],
] as const

/** Returns the components by rising type, each with its type as the first octet. */
export function encodeComponents(conditions: FlowMatch): number[][] {
  const components = [[type.destination, ...prefixOctets(conditions.destination)]]
  if (conditions.source) components.push([type.source, ...prefixOctets(conditions.source)])
  for (const [number, name] of Object.entries(rangeTypes)) {
    const ranges = conditions[name]
    if (ranges) components.push([Number(number), ...rangeOctets(ranges, rangeMax[name])])
  }
  if (conditions.tcpFlags) {
    const { set, unset } = conditions.tcpFlags
    const terms: number[][] = []
    if (set !== 0) terms.push([match, set])
    if (unset !== 0) terms.push([(set === 0 ? 0 : and) | not, unset])
    components.push([type.tcpFlags, ...listOctets(terms)])
  }
  if (conditions.fragment === true) components.push([type.fragment, ...listOctets(anyFragment)])
  if (conditions.fragment === false) components.push([type.fragment, ...listOctets(noFragment)])
  return components.toSorted((a, b) => a[0]! - b[0]!)
}

/** Returns the length of the components in octets. */
export function componentOctets(conditions: FlowMatch): number {
  return encodeComponents(conditions).reduce((sum, component) => sum + component.length, 0)
}

/** Throws RangeError if the components are longer than `componentOctetsMax`. */
export function encodeFlowspec(conditions: FlowMatch): Uint8Array {
  const octets = encodeComponents(conditions).flat()
  if (octets.length > componentOctetsMax)
    throw new RangeError(`${octets.length} octets of conditions; at most ${componentOctetsMax}`)
  return Uint8Array.of(octets.length, ...octets)
}

/**
 * Returns a negative number if `a` is evaluated before `b`, 0 if they have the same components. Both are of one family. `a` and `b` are
 * the components of `encodeComponents`.
 */
export function compareFlowspec(
  a: readonly (readonly number[])[],
  b: readonly (readonly number[])[],
): number {
  const count = Math.max(a.length, b.length)
  for (let at = 0; at < count; at++) {
    const x = a[at]
    const y = b[at]
    if (!x || !y) return x ? -1 : 1
    if (x[0] !== y[0]) return x[0]! - y[0]!
    const order = x[0]! <= type.source ? comparePrefixOctets(x, y) : compareOctets(x, y)
    if (order !== 0) return order
  }
  return 0
}

/** The more specific of overlapping prefixes is first; otherwise the lower address. */
function comparePrefixOctets(a: readonly number[], b: readonly number[]): number {
  // After the type: length, for IPv6 the offset (always 0 here), pattern. A pattern has no host bits.
  const [lengthA, lengthB] = [a[1]!, b[1]!]
  const common = Math.min(lengthA, lengthB)
  const start = a.length - ((lengthA + 7) >>> 3)
  for (let bit = 0; bit < common; bit += 8) {
    const index = start + (bit >>> 3)
    const mask = common - bit >= 8 ? 255 : (255 << (8 - (common - bit))) & 255
    const difference = (a[index]! & mask) - (b[index]! & mask)
    if (difference !== 0) return difference
  }
  return lengthB - lengthA
}

/** memcmp; the longer list is first if it begins with the other. */
function compareOctets(a: readonly number[], b: readonly number[]): number {
  const common = Math.min(a.length, b.length)
  for (let at = 0; at < common; at++) if (a[at] !== b[at]) return a[at]! - b[at]!
  return b.length - a.length
}

/** Throws TypeError on octets that violate the RFCs, or that these conditions cannot express. */
export function decodeFlowspec(octets: Uint8Array, family: Family): FlowMatch {
  if (octets.length < 1 || octets[0]! > componentOctetsMax || octets.length !== octets[0]! + 1)
    throw new TypeError('not the NLRI of one FlowSpec rule')
  const reader = { octets, at: 1 }
  const conditions: { -readonly [Key in keyof FlowMatch]: FlowMatch[Key] } = {} as FlowMatch
  let before = 0
  while (reader.at < octets.length) {
    const code = next(reader)
    if (code <= before) throw new TypeError('components are not in order')
    before = code
    if (code === type.destination) conditions.destination = readPrefixComponent(reader, family)
    else if (code === type.source) conditions.source = readPrefixComponent(reader, family)
    else if (code === type.tcpFlags) conditions.tcpFlags = readTcpFlags(reader)
    else if (code === type.fragment) conditions.fragment = readFragment(reader)
    else if (code in rangeTypes) {
      const name = rangeTypes[code as keyof typeof rangeTypes]
      conditions[name] = readRangeComponent(reader, rangeMax[name])
    } else throw new TypeError(`a component of type ${code}`)
  }
  if (!conditions.destination) throw new TypeError('no destination')
  return conditions
}

function prefixOctets(prefix: Prefix): number[] {
  const { family, length, w0, w1, w2, w3 } = maskBits(prefixBits(prefix))
  const octets = (family === 4 ? [w0] : [w0, w1, w2, w3]).flatMap((word) => [
    word >>> 24,
    (word >>> 16) & 255,
    (word >>> 8) & 255,
    word & 255,
  ])
  return [length, ...(family === 4 ? [] : [0]), ...octets.slice(0, (length + 7) >>> 3)]
}

function rangeOctets(ranges: Ranges, max: number): number[] {
  const terms: number[][] = []
  for (const [first, last] of ranges) {
    if (first === last) terms.push([equal, first])
    else if (last === max) terms.push([greater | equal, first])
    else if (first === 0) terms.push([less | equal, last])
    else terms.push([greater | equal, first], [and | less | equal, last])
  }
  return listOctets(terms)
}

/** Terms of an operator and its operand. */
function listOctets(terms: readonly (readonly number[])[]): number[] {
  return terms.flatMap(([operator, value], at) => {
    const end = at === terms.length - 1 ? endOfList : 0
    return value! < 256
      ? [operator! | end, value!]
      : [operator! | end | (1 << lengthShift), value! >>> 8, value! & 255]
  })
}

type Reader = { readonly octets: Uint8Array; at: number }

function next(reader: Reader): number {
  const octet = reader.octets[reader.at++]
  if (octet === undefined) throw new TypeError('a component is cut off')
  return octet
}

function readPrefixComponent(reader: Reader, family: Family): Prefix {
  const length = next(reader)
  if (length > widthOf(family)) throw new TypeError('a prefix is too long')
  if (family === 6 && next(reader) !== 0) throw new TypeError('a prefix with an offset')
  const words = [0, 0, 0, 0]
  for (let at = 0; at < (length + 7) >>> 3; at++) words[at >>> 2]! |= next(reader) << (24 - 8 * (at & 3))
  const bits: Bits = { family, length, w0: words[0]!, w1: words[1]!, w2: words[2]!, w3: words[3]! }
  if (!sameBits(bits, maskBits(bits), 128)) throw new TypeError('a prefix with host bits')
  return parsePrefix(`${formatBits(bits)}/${length}`)
}

type Term = { readonly operator: number; readonly value: number }

/** Reads terms up to the end of the list. */
function readTerms(reader: Reader): Term[] {
  for (const terms: Term[] = []; ;) {
    const operator = next(reader)
    let value = 0
    for (let count = 1 << ((operator >>> lengthShift) & 3); count > 0; count--)
      value = value * 256 + next(reader)
    terms.push({ operator, value })
    if ((operator & endOfList) !== 0) return terms
  }
}

/** A union of intersections: AND binds to the term before it. */
function readRangeComponent(reader: Reader, max: number): Ranges {
  const union: Range[] = []
  let group: Ranges | undefined
  for (const [at, { operator, value }] of readTerms(reader).entries()) {
    if (value > max || (operator & 8) !== 0) throw new TypeError('a number outside of its range')
    const isAnd = at > 0 && (operator & and) !== 0
    const ranges = termRanges(operator & 7, value, max)
    if (!isAnd && group) union.push(...group)
    group = isAnd ? group && intersectRanges(group, ranges) : ranges
    if (!group) throw new TypeError('a condition that no number meets')
  }
  return canonicalRanges([...union, ...(group ?? [])])!
}

function termRanges(comparison: number, value: number, max: number): Ranges {
  const ranges: Range[] = []
  if ((comparison & less) !== 0 && value > 0) ranges.push([0, value - 1])
  if ((comparison & equal) !== 0) ranges.push([value, value])
  if ((comparison & greater) !== 0 && value < max) ranges.push([value + 1, max])
  const canonical = canonicalRanges(ranges)
  if (!canonical) throw new TypeError('a condition that no number meets')
  return canonical
}

/** Only a conjunction of set and unset bits. */
function readTcpFlags(reader: Reader): { set: number; unset: number } {
  let set = 0
  let unset = 0
  for (const [at, { operator, value }] of readTerms(reader).entries()) {
    const isConjunction = at === 0 || (operator & and) !== 0
    if (!isConjunction || value < 1 || value > 255) throw new TypeError('TCP flags are not a conjunction')
    const kind = operator & 15
    if (kind === match) set |= value
    else if (kind === not) unset |= value
    else throw new TypeError('TCP flags are not a conjunction')
  }
  if ((set & unset) !== 0) throw new TypeError('TCP flags that no packet has')
  return { set, unset }
}

function readFragment(reader: Reader): boolean {
  const terms = readTerms(reader).map(({ operator, value }) => [operator & ~endOfList, value])
  const text = JSON.stringify(terms)
  if (text === JSON.stringify(anyFragment)) return true
  if (text === JSON.stringify(noFragment)) return false
  throw new TypeError('fragment bits that are neither any nor none')
}
