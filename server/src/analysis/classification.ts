// The classes of attacks: a closed list, so that filters and colours can rely on it. Labels are shown to users; the API
// filters by key.

export const classifications = {
  'udp.flood': 'UDP flood',
  'udp.amplification.chargen': 'UDP amplification (CHARGEN)',
  'udp.amplification.cldap': 'UDP amplification (CLDAP)',
  'udp.amplification.dns': 'UDP amplification (DNS)',
  'udp.amplification.mdns': 'UDP amplification (mDNS)',
  'udp.amplification.memcached': 'UDP amplification (memcached)',
  'udp.amplification.netbios': 'UDP amplification (NetBIOS)',
  'udp.amplification.ntp': 'UDP amplification (NTP)',
  'udp.amplification.portmap': 'UDP amplification (portmapper)',
  'udp.amplification.qotd': 'UDP amplification (QOTD)',
  'udp.amplification.rdp': 'UDP amplification (RDP)',
  'udp.amplification.sip': 'UDP amplification (SIP)',
  'udp.amplification.snmp': 'UDP amplification (SNMP)',
  'udp.amplification.ssdp': 'UDP amplification (SSDP)',
  'udp.amplification.wsd': 'UDP amplification (WS-Discovery)',
  'tcp.flood': 'TCP flood',
  'tcp.syn_flood': 'TCP SYN flood',
  'tcp.ack_flood': 'TCP ACK flood',
  'tcp.rst_flood': 'TCP RST flood',
  'icmp.flood': 'ICMP flood',
  'ip.flood': 'IP flood',
  'ip.fragment': 'IP fragment flood',
  'carpet.udp': 'carpet bombing (UDP)',
  'carpet.tcp': 'carpet bombing (TCP)',
  'carpet.icmp': 'carpet bombing (ICMP)',
  'carpet.mixed': 'carpet bombing',
  unknown: 'attack of unknown kind',
} as const satisfies Record<string, string>

export type Classification = keyof typeof classifications

export function isClassification(word: string): word is Classification {
  return Object.hasOwn(classifications, word)
}

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

/** Returns the amplification that traffic from this UDP source port is; undefined if it is none. */
export function amplificationOf(sourcePort: number): Classification | undefined {
  return amplifiers[sourcePort]
}
