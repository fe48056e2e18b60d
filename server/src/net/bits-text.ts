// Converts addresses between text and bits. It returns `undefined` for malformed text without a reason; callers decide
// about other restrictions and reasons.
import type { Bits, Family } from './bits.ts'

const dot = 46
const zero = 48
const colon = 58

/** The address in `text[0, end)` with the given prefix length, host bits and all; undefined if it is malformed. */
export function readBits(text: string, end: number, family: Family, length: number): Bits | undefined {
  if (family === 6) return readIpv6(text, end, length)
  const address = readIpv4(text, 0, end)
  return address < 0 ? undefined : { family, length, w0: address | 0, w1: 0, w2: 0, w3: 0 }
}

/** Four decimal octets without leading zeros as an unsigned number, or -1. */
function readIpv4(text: string, start: number, end: number): number {
  let address = 0
  let octets = 0
  let octet = -1
  for (let i = start; i <= end; i++) {
    const code = i < end ? text.charCodeAt(i) : dot
    if (code === dot) {
      if (octet < 0) return -1
      address = address * 256 + octet
      octets++
      octet = -1
      continue
    }
    const digit = code - zero
    if (digit < 0 || digit > 9 || octet === 0) return -1
    octet = octet < 0 ? digit : octet * 10 + digit
    if (octet > 255) return -1
  }
  return octets === 4 ? address : -1
}

/** RFC 4291 section 2.2, all three forms: full, with one `::`, and with a dotted IPv4 tail. */
function readIpv6(text: string, end: number, length: number): Bits | undefined {
  const groups = [0, 0, 0, 0, 0, 0, 0, 0]
  let count = 0
  let gap = -1
  let i = 0
  if (end >= 2 && text.charCodeAt(0) === colon && text.charCodeAt(1) === colon) {
    gap = 0
    i = 2
  }
  while (i < end) {
    if (count === 8) return undefined
    const start = i
    let group = 0
    for (let digit = hexDigit(text, i, end); digit >= 0; digit = hexDigit(text, i, end)) {
      group = group * 16 + digit
      i++
      if (i - start > 4) return undefined
    }
    if (i === start) return undefined
    if (i < end && text.charCodeAt(i) === dot) {
      const tail = count > 6 ? -1 : readIpv4(text, start, end)
      if (tail < 0) return undefined
      groups[count++] = tail >>> 16
      groups[count++] = tail & 0xffff
      break
    }
    groups[count++] = group
    if (i === end) break
    if (text.charCodeAt(i) !== colon || i + 1 === end) return undefined
    i++
    if (text.charCodeAt(i) === colon) {
      if (gap >= 0) return undefined
      gap = count
      i++
    }
  }
  return spread(groups, count, gap, length)
}

/** Returns the value of the hexadecimal digit at `i`, or -1. */
function hexDigit(text: string, i: number, end: number): number {
  if (i >= end) return -1
  const code = text.charCodeAt(i)
  if (code >= 48 && code <= 57) return code - 48
  const letter = code | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : -1
}

/** Moves the groups after the gap to the end; a gap replaces at least one group. */
function spread(groups: number[], count: number, gap: number, length: number): Bits | undefined {
  if (gap < 0 ? count !== 8 : count === 8) return undefined
  if (gap >= 0) {
    const behind = count - gap
    groups.copyWithin(8 - behind, gap, count)
    groups.fill(0, gap, 8 - behind)
  }
  const word = (i: number): number => (groups[i]! << 16) | groups[i + 1]!
  return { family: 6, length, w0: word(0), w1: word(2), w2: word(4), w3: word(6) }
}

/** The address alone: IPv4 dotted, IPv6 by RFC 5952 (lower case, first longest run of zeros compressed, no dotted tail). */
export function formatBits(bits: Bits): string {
  const { family, w0, w1, w2, w3 } = bits
  if (family === 4) return `${w0 >>> 24}.${(w0 >>> 16) & 255}.${(w0 >>> 8) & 255}.${w0 & 255}`
  const groups = [
    w0 >>> 16,
    w0 & 0xffff,
    w1 >>> 16,
    w1 & 0xffff,
    w2 >>> 16,
    w2 & 0xffff,
    w3 >>> 16,
    w3 & 0xffff,
  ]
  const gap = longestZeros(groups)
  if (gap === undefined) return hex(groups, 0, 8)
  return `${hex(groups, 0, gap.start)}::${hex(groups, gap.end, 8)}`
}

function hex(groups: readonly number[], start: number, end: number): string {
  let text = ''
  for (let i = start; i < end; i++)
    text += i === start ? groups[i]!.toString(16) : `:${groups[i]!.toString(16)}`
  return text
}

/** The first of the longest runs of two or more zero groups. */
function longestZeros(groups: readonly number[]): { start: number; end: number } | undefined {
  let longest: { start: number; end: number } | undefined
  for (let start = 0; start < 8; start++) {
    let end = start
    while (groups[end] === 0) end++
    if (end - start > (longest ? longest.end - longest.start : 1)) longest = { start, end }
    if (end > start) start = end
  }
  return longest
}
