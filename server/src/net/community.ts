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

/** The IANA registry of well-known communities: RFC 1997, 3765, 7611, 7999, 8326, 9026, 9494. */
const wellKnown: Readonly<Record<string, string>> = {
  '65535:0': 'GRACEFUL_SHUTDOWN',
  '65535:1': 'ACCEPT_OWN',
  '65535:2': 'ROUTE_FILTER_TRANSLATED_v4',
  '65535:3': 'ROUTE_FILTER_v4',
  '65535:4': 'ROUTE_FILTER_TRANSLATED_v6',
  '65535:5': 'ROUTE_FILTER_v6',
  '65535:6': 'LLGR_STALE',
  '65535:7': 'NO_LLGR',
  '65535:8': 'accept-own-nexthop',
  '65535:9': 'Standby PE',
  [blackholeCommunity]: 'BLACKHOLE',
  '65535:65281': 'NO_EXPORT',
  '65535:65282': 'NO_ADVERTISE',
  '65535:65283': 'NO_EXPORT_SUBCONFED',
  '65535:65284': 'NOPEER',
}

/**
 * Returns the name of a community with a standard meaning, which no network may define: 65535:0 to 65535:65535 (RFC
 * 1997), and large communities of the global administrators 0, 65535 and 4294967295 (RFC 8092 section 5). Routers act
 * on the well-known ones without any configuration: a route with NO_EXPORT stays in the neighbor's network. Undefined
 * for any other. 0:1 to 0:65535 are reserved as well, but in use at exchanges to select peers.
 */
export function reservedCommunity(text: string): string | undefined {
  const [global, ...rest] = text.split(':')
  if (rest.length === 1) return global === '65535' ? (wellKnown[text] ?? 'reserved') : undefined
  return global === '0' || global === '65535' || global === '4294967295' ? 'reserved' : undefined
}

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
