// The UDP source ports of amplified responses. The contract defines the classes.
import type { Classification } from '@pharos/contract/events/classification'

/** Services whose responses are larger than the request, by the UDP source port of the responses. */
const amplifiers: Readonly<Record<number, Classification>> = {
  17: 'udp.amplification.qotd',
  19: 'udp.amplification.chargen',
  53: 'udp.amplification.dns',
  111: 'udp.amplification.portmap',
  123: 'udp.amplification.ntp',
  137: 'udp.amplification.netbios',
  161: 'udp.amplification.snmp',
  389: 'udp.amplification.cldap',
  1900: 'udp.amplification.ssdp',
  3389: 'udp.amplification.rdp',
  3702: 'udp.amplification.wsd',
  5060: 'udp.amplification.sip',
  5353: 'udp.amplification.mdns',
  11211: 'udp.amplification.memcached',
}

/** Returns the kind of amplification for traffic from this UDP source port; undefined for other ports. */
export function amplificationOf(sourcePort: number): Classification | undefined {
  return amplifiers[sourcePort]
}
