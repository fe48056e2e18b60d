// The addresses of a captured packet, which decide the teams that may read it. Pure. A packet that cannot be parsed has
// no addresses, and no team with a part of the event gets it.
import type { Prefix } from '../../net/prefix.ts'
import { parsePrefix } from '../../net/prefix.ts'

export type PacketAddresses = { readonly source: Prefix; readonly destination: Prefix }

/** Returns the addresses of the outermost IP header as host prefixes; undefined without one. */
export function addressesOf(linkType: number, bytes: Uint8Array): PacketAddresses | undefined {
  const start = networkHeader(linkType, bytes)
  if (start === undefined) return undefined
  const version = (bytes[start] ?? 0) >> 4
  if (version === 4 && bytes.length >= start + 20)
    return { source: ipv4(bytes, start + 12), destination: ipv4(bytes, start + 16) }
  if (version === 6 && bytes.length >= start + 40)
    return { source: ipv6(bytes, start + 8), destination: ipv6(bytes, start + 24) }
  return undefined
}

const u16 = (bytes: Uint8Array, at: number): number => ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)

/** Where the IP header begins, by the registry of link types (tcpdump.org/linktypes). */
function networkHeader(linkType: number, bytes: Uint8Array): number | undefined {
  switch (linkType) {
    case 1:
      return afterEthertype(bytes, 12)
    case 113: // Linux cooked
      return afterEthertype(bytes, 14)
    case 276: // Linux cooked, version 2
      return afterEthertype(bytes, 0, 20)
    case 12: // Raw IP, as numbered by BSD, OpenBSD, and the registry.
    case 14:
    case 101:
    case 228:
    case 229:
      return 0
    case 0: // Loopback: an address family in 4 bytes.
    case 108:
      return 4
    default:
      return undefined
  }
}

const vlanTypes: ReadonlySet<number> = new Set([0x8100, 0x88a8, 0x9100])
const tagsMax = 8

/** Skips VLAN tags and MPLS labels behind the type at `at`; `start`: where the payload begins, if not behind the type. */
function afterEthertype(bytes: Uint8Array, at: number, start = at + 2): number | undefined {
  let type = u16(bytes, at)
  for (let tags = 0; vlanTypes.has(type) && tags < tagsMax; tags++) {
    type = u16(bytes, start + 2)
    start += 4
  }
  if (type === 0x8847 || type === 0x8848) return afterLabels(bytes, start)
  return type === 0x0800 || type === 0x86dd ? start : undefined
}

function afterLabels(bytes: Uint8Array, start: number): number | undefined {
  for (let label = 0; label < tagsMax; label++) {
    const isLast = ((bytes[start + label * 4 + 2] ?? 1) & 1) === 1
    if (isLast) return start + label * 4 + 4
  }
  return undefined
}

const ipv4 = (bytes: Uint8Array, at: number): Prefix =>
  parsePrefix(`${bytes[at]}.${bytes[at + 1]}.${bytes[at + 2]}.${bytes[at + 3]}/32`)

function ipv6(bytes: Uint8Array, at: number): Prefix {
  const groups = Array.from({ length: 8 }, (_, group) => u16(bytes, at + group * 2).toString(16))
  const text = groups.join(':')
  // A mapped address is not valid as a prefix and belongs to no team.
  return parsePrefix(text.startsWith('0:0:0:0:0:ffff:') ? '::/128' : `${text}/128`)
}
