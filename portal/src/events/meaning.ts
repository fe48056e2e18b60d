// The effect of an attack, in one sentence for each kind. Pure.
import { words } from './words.ts'

const { meanings } = words

const services: Readonly<Record<string, string>> = {
  chargen: 'CHARGEN',
  cldap: 'CLDAP',
  dns: 'DNS',
  mdns: 'mDNS',
  memcached: 'memcached',
  netbios: 'NetBIOS',
  ntp: 'NTP',
  portmap: 'portmapper',
  qotd: 'QOTD',
  rdp: 'RDP',
  sip: 'SIP',
  snmp: 'SNMP',
  ssdp: 'SSDP',
  wsd: 'WS-Discovery',
}

/** Returns the sentence for a classification; an unknown one gets a sentence too. */
export function meaningOf(key: string): string {
  const [family = '', kind, service = ''] = key.split('.')
  if (kind === 'amplification' && services[service] !== undefined)
    return meanings.amplification(services[service])
  if (family === 'carpet') return meanings.carpet
  const sentence = (meanings as Readonly<Record<string, unknown>>)[key]
  return typeof sentence === 'string' ? sentence : meanings.unknown
}
