// BGP communities as canonical text and as the numbers of a path attribute. Their meaning for routers is not known here; names such as
// `no-export` are not parsed.
import { readDecimal } from './decimal.ts'

declare const brand: unique symbol
/** RFC 1997, two 16-bit numbers: `65000:100`. */
export type Community = string & { readonly [brand]: 'Community' }
/** RFC 8092, three 32-bit numbers: `64500:1:2`. */
export type LargeCommunity = string & { readonly [brand]: 'LargeCommunity' }

/** Global administrator, local part 1, local part 2. */
export type LargeCommunityNumbers = readonly [global: number, local1: number, local2: number]

/** `message` is public text. */
export class CommunityError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CommunityError'
  }
}

/** BLACKHOLE (RFC 7999 section 5): the packets of the route are to be discarded. */
export const blackholeCommunity = '65535:666' as Community

const max16 = 65_535
const max32 = 4_294_967_295

/** Parses two decimal numbers of 16 bits; throws CommunityError on anything else. */
export function parseCommunity(text: string): Community {
  if (readParts(text, 2, max16) === undefined) {
    throw new CommunityError('a community is two numbers from 0 to 65535, as in 65000:100')
  }
  return text as Community
}

/** Parses three decimal numbers of 32 bits (RFC 8092 section 5); throws CommunityError on anything else. */
export function parseLargeCommunity(text: string): LargeCommunity {
  if (readParts(text, 3, max32) === undefined) {
    throw new CommunityError('a large community is three numbers from 0 to 4294967295, as in 64500:1:2')
  }
  return text as LargeCommunity
}

/** Returns the unsigned 32-bit value of the COMMUNITIES attribute. */
export function communityToNumber(community: Community): number {
  const [high, low] = readParts(community, 2, max16) as [number, number]
  return high * 65_536 + low
}

/** Throws CommunityError unless it is an unsigned 32-bit whole number. */
export function communityFromNumber(value: number): Community {
  if (!isUint32(value)) throw new CommunityError('a community is a whole number from 0 to 4294967295')
  return `${value >>> 16}:${value & 0xffff}` as Community
}

export function largeCommunityToNumbers(community: LargeCommunity): LargeCommunityNumbers {
  return readParts(community, 3, max32) as [number, number, number]
}

/** Throws CommunityError unless each is an unsigned 32-bit whole number. */
export function largeCommunityFromNumbers(numbers: LargeCommunityNumbers): LargeCommunity {
  if (!numbers.every(isUint32)) {
    throw new CommunityError('the parts of a large community are whole numbers from 0 to 4294967295')
  }
  return numbers.join(':') as LargeCommunity
}

function isUint32(value: number): boolean {
  return value === value >>> 0
}

/** Parses exactly `count` numbers separated by colons; undefined for anything else. */
function readParts(text: string, count: number, max: number): readonly number[] | undefined {
  const parts: number[] = []
  let start = 0
  for (let i = 1; i <= count; i++) {
    const end = i < count ? text.indexOf(':', start) : text.length
    const part = readDecimal(text, start, end, max)
    if (part < 0) return undefined
    parts.push(part)
    start = end + 1
  }
  return parts
}
