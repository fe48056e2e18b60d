// The classes of attacks: a closed list, so that filters and colours can rely on it. The API filters by key; labels are
// shown to users.

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

export const classificationKeys = Object.keys(classifications) as Classification[]

export function isClassification(word: string): word is Classification {
  return Object.hasOwn(classifications, word)
}

/** Returns the label of a class with a capital letter; the key itself if the class is not in the list. */
export function classificationLabel(key: string): string {
  if (!isClassification(key)) return key
  const label = classifications[key]
  return label.charAt(0).toUpperCase() + label.slice(1)
}
