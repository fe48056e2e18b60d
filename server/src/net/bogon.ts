// Address space that no network can have: the special-purpose registries as data. It returns the overlapping block of a
// prefix; callers decide whether to reject it.
import { covers, parsePrefix } from './prefix.ts'
import type { Prefix } from './prefix.ts'
import { createPrefixMap } from './prefix-map.ts'

export type Bogon = {
  /** Name in the registry, with its RFC. */
  readonly name: string
  /** The registry's block that overlaps the prefix. */
  readonly block: Prefix
  /** The whole prefix is documentation space (RFC 5737, 3849, 9637): real in examples and demos only. */
  readonly documentation: boolean
}

type Kind = 'special' | 'documentation' | 'announced'

/**
 * IANA, IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890, 8190), multicast, and all other space that is not
 * global unicast. Blocks longer than /24 or /48 are omitted if a shorter one here contains them. Kind 'announced':
 * globally reachable blocks that networks do announce (AS112, AMT), listed if they are inside another block.
 */
const blocks: readonly (readonly [block: string, name: string, kind?: Kind])[] = [
  ['0.0.0.0/8', '"This network" (RFC 791)'],
  ['10.0.0.0/8', 'private use (RFC 1918)'],
  ['100.64.0.0/10', 'shared address space (RFC 6598)'],
  ['127.0.0.0/8', 'loopback (RFC 1122)'],
  ['169.254.0.0/16', 'link local (RFC 3927)'],
  ['172.16.0.0/12', 'private use (RFC 1918)'],
  ['192.0.0.0/24', 'IETF protocol assignments (RFC 6890)'],
  ['192.0.2.0/24', 'documentation, TEST-NET-1 (RFC 5737)', 'documentation'],
  ['192.88.99.0/24', 'deprecated 6to4 relay anycast (RFC 7526)'],
  ['192.168.0.0/16', 'private use (RFC 1918)'],
  ['198.18.0.0/15', 'benchmarking (RFC 2544)'],
  ['198.51.100.0/24', 'documentation, TEST-NET-2 (RFC 5737)', 'documentation'],
  ['203.0.113.0/24', 'documentation, TEST-NET-3 (RFC 5737)', 'documentation'],
  ['224.0.0.0/4', 'multicast (RFC 5771)'],
  ['240.0.0.0/4', 'reserved, class E (RFC 1112)'],
  ['255.255.255.255/32', 'limited broadcast (RFC 8190)'],
  ['::/3', 'not global unicast (RFC 4291)'],
  ['::/128', 'unspecified address (RFC 4291)'],
  ['::1/128', 'loopback (RFC 4291)'],
  ['64:ff9b::/96', 'IPv4-IPv6 translation (RFC 6052)'],
  ['64:ff9b:1::/48', 'IPv4-IPv6 translation (RFC 8215)'],
  ['100::/64', 'discard-only (RFC 6666)'],
  ['100:0:0:1::/64', 'dummy prefix (RFC 9780)'],
  ['2001::/23', 'IETF protocol assignments (RFC 2928)'],
  ['2001::/32', 'Teredo (RFC 4380)'],
  ['2001:2::/48', 'benchmarking (RFC 5180)'],
  ['2001:3::/32', 'AMT (RFC 7450)', 'announced'],
  ['2001:4:112::/48', 'AS112 (RFC 7535)', 'announced'],
  ['2001:10::/28', 'deprecated ORCHID (RFC 4843)'],
  ['2001:20::/28', 'ORCHIDv2 (RFC 7343)'],
  ['2001:30::/28', 'drone remote identification (RFC 9374)'],
  ['2001:db8::/32', 'documentation (RFC 3849)', 'documentation'],
  ['2002::/16', '6to4 (RFC 3056)'],
  ['3ffe::/16', 'former 6bone (RFC 3701)'],
  ['3fff::/20', 'documentation (RFC 9637)', 'documentation'],
  ['4000::/2', 'not global unicast (RFC 4291)'],
  ['5f00::/16', 'SRv6 segment identifiers (RFC 9602)'],
  ['8000::/1', 'not global unicast (RFC 4291)'],
  ['fc00::/7', 'unique local (RFC 4193)'],
  ['fe80::/10', 'link-local unicast (RFC 4291)'],
  ['fec0::/10', 'deprecated site-local (RFC 3879)'],
  ['ff00::/8', 'multicast (RFC 4291)'],
]

const registry = createPrefixMap(
  blocks.map(([text, name, kind = 'special']) => {
    const block = parsePrefix(text)
    return [block, { name, block, kind }] as const
  }),
)

/**
 * Returns the most specific block that contains the prefix; else the first block inside the prefix, because allocated
 * address space never contains a reserved part. Undefined if it overlaps no block. A default route overlaps the first
 * block.
 */
export function bogonOf(prefix: Prefix): Bogon | undefined {
  const found = registry.covering(prefix)[0] ?? registry.coveredBy(prefix, 1)[0]
  if (found === undefined || found.kind === 'announced') return undefined
  const { name, block, kind } = found
  return { name, block, documentation: kind === 'documentation' && covers(block, prefix) }
}
