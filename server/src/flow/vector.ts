// The kinds of traffic that the detector counts separately towards a destination under suspicion. Each is a class of the dictionary of events.
import type { Classification } from '@pharos/contract/events/classification'

/** By index; index 0 is all traffic of a destination together. */
export const vectors = [
  'unknown',
  'udp.flood',
  'tcp.flood',
  'tcp.syn_flood',
  'tcp.ack_flood',
  'tcp.rst_flood',
  'icmp.flood',
  'ip.flood',
  'ip.fragment',
  'udp.amplification.chargen',
  'udp.amplification.cldap',
  'udp.amplification.dns',
  'udp.amplification.mdns',
  'udp.amplification.memcached',
  'udp.amplification.netbios',
  'udp.amplification.ntp',
  'udp.amplification.portmap',
  'udp.amplification.qotd',
  'udp.amplification.rdp',
  'udp.amplification.sip',
  'udp.amplification.snmp',
  'udp.amplification.ssdp',
  'udp.amplification.wsd',
] as const satisfies readonly Classification[]

export type Vector = (typeof vectors)[number]

const indexOf = (vector: Vector): number => vectors.indexOf(vector)

/** Source ports of services that answer with more than they are asked, by the class of an attack with their answers. */
export const amplifierPorts: ReadonlyMap<string, number> = new Map<Vector, number>([
  ['udp.amplification.qotd', 17],
  ['udp.amplification.chargen', 19],
  ['udp.amplification.dns', 53],
  ['udp.amplification.portmap', 111],
  ['udp.amplification.ntp', 123],
  ['udp.amplification.netbios', 137],
  ['udp.amplification.snmp', 161],
  ['udp.amplification.cldap', 389],
  ['udp.amplification.ssdp', 1900],
  ['udp.amplification.rdp', 3389],
  ['udp.amplification.wsd', 3702],
  ['udp.amplification.sip', 5060],
  ['udp.amplification.mdns', 5353],
  ['udp.amplification.memcached', 11_211],
])

/** Index of the vector by the source port. */
const amplifiers = new Uint8Array(65_536)
for (const [vector, port] of amplifierPorts) amplifiers[port] = indexOf(vector as Vector)

const [udp, tcp, syn, ack, rst, icmp, ip, fragment] = (
  [
    'udp.flood',
    'tcp.flood',
    'tcp.syn_flood',
    'tcp.ack_flood',
    'tcp.rst_flood',
    'icmp.flood',
    'ip.flood',
    'ip.fragment',
  ] as const
).map(indexOf) as [number, number, number, number, number, number, number, number]

/** Returns the index of the vector that a flow belongs to. TCP flags of a flow are all that its packets had. */
export function vectorOf(protocol: number, srcPort: number, tcpFlags: number, isFragment: number): number {
  switch (protocol) {
    case 17:
      if (isFragment !== 0 && srcPort === 0) return fragment
      return amplifiers[srcPort]! || udp
    case 6:
      if (isFragment !== 0 && srcPort === 0) return fragment
      // SYN without ACK; RST; ACK without data is not visible in flows.
      if ((tcpFlags & 0x16) === 0x02) return syn
      if ((tcpFlags & 0x04) !== 0 && (tcpFlags & 0x0a) === 0) return rst
      return (tcpFlags & 0x3f) === 0x10 ? ack : tcp
    case 1:
    case 58:
      return icmp
    default:
      return isFragment === 0 ? ip : fragment
  }
}

/** The class of an attack on a whole network. */
export function carpetOf(vector: Vector | undefined): Classification {
  if (vector?.startsWith('udp.')) return 'carpet.udp'
  if (vector?.startsWith('tcp.')) return 'carpet.tcp'
  return vector === 'icmp.flood' ? 'carpet.icmp' : 'carpet.mixed'
}

const quicPort = 443

/** Returns whether traffic from a host may be an attack by the host; responses of servers are not. */
export function isAttackOfSender(vector: number, srcPort: number): boolean {
  return attacksOfSenders[vector] === 1 && !(vector === udp && srcPort === quicPort)
}

const attacksOfSenders = Uint8Array.from(vectors, (vector, index) =>
  [udp, syn, icmp, fragment].includes(index) || vector.startsWith('udp.amplification.') ? 1 : 0,
)
