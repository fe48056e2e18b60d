// Values of flow keys as people write them: names of protocols, ports, flags and objects of the inventory. Pure.
import type { FlowKey } from '@pharos/contract/flow/flow-key'
import type { Prefix } from '../net/prefix.ts'

/** Names that flow keys refer to, limited to the caller's access. */
export type FlowNames = {
  readonly prefixes: readonly { readonly id: number; readonly prefix: Prefix }[]
  readonly devices: readonly {
    readonly id: number
    readonly name: string
    readonly exporterIds: readonly number[]
  }[]
  readonly ports: readonly { readonly id: number; readonly name: string }[]
  /** By AS number, for the returned AS numbers. */
  readonly asns: ReadonlyMap<string, string>
}

/** IANA's assigned protocol numbers, limited to protocols in use on networks. */
const protocolNames: Readonly<Record<number, string>> = {
  1: 'icmp',
  2: 'igmp',
  4: 'ipip',
  6: 'tcp',
  17: 'udp',
  33: 'dccp',
  41: 'ipv6',
  46: 'rsvp',
  47: 'gre',
  50: 'esp',
  51: 'ah',
  58: 'icmpv6',
  88: 'eigrp',
  89: 'ospf',
  97: 'etherip',
  103: 'pim',
  112: 'vrrp',
  115: 'l2tp',
  132: 'sctp',
  136: 'udplite',
  137: 'mpls',
}
const protocolNumbers = new Map(Object.entries(protocolNames).map(([number, name]) => [name, Number(number)]))

export const knownProtocols: readonly string[] = [...protocolNumbers.keys()]

/** Returns the number of a protocol that is a number or a name, whatever its case. */
export function protocolNumber(value: string | number): number | undefined {
  const text = String(value).toLowerCase()
  const known = protocolNumbers.get(text)
  if (known !== undefined) return known
  return /^(0|[1-9][0-9]{0,2})$/.test(text) && Number(text) <= 255 ? Number(text) : undefined
}

/**
 * Common names of services by port, as registered by IANA or in general use, including ports of amplification attacks.
 */
const serviceNames: Readonly<Record<number, string>> = {
  17: 'QOTD',
  19: 'CHARGEN',
  20: 'FTP data',
  21: 'FTP',
  22: 'SSH',
  23: 'Telnet',
  25: 'SMTP',
  53: 'DNS',
  67: 'DHCP',
  69: 'TFTP',
  80: 'HTTP',
  110: 'POP3',
  111: 'portmap',
  123: 'NTP',
  137: 'NetBIOS',
  143: 'IMAP',
  161: 'SNMP',
  179: 'BGP',
  389: 'LDAP',
  443: 'HTTPS',
  445: 'SMB',
  465: 'SMTPS',
  500: 'IKE',
  514: 'syslog',
  520: 'RIP',
  554: 'RTSP',
  587: 'Submission',
  636: 'LDAPS',
  853: 'DNS over TLS',
  873: 'rsync',
  993: 'IMAPS',
  995: 'POP3S',
  1194: 'OpenVPN',
  1433: 'SQL Server',
  1723: 'PPTP',
  1812: 'RADIUS',
  1900: 'SSDP',
  1935: 'RTMP',
  2049: 'NFS',
  2055: 'NetFlow',
  3283: 'ARMS',
  3306: 'MySQL',
  3389: 'RDP',
  3478: 'STUN',
  3702: 'WS-Discovery',
  4500: 'IPsec NAT-T',
  4739: 'IPFIX',
  5060: 'SIP',
  5061: 'SIP over TLS',
  5353: 'mDNS',
  5432: 'PostgreSQL',
  5683: 'CoAP',
  6343: 'sFlow',
  6379: 'Redis',
  8080: 'HTTP alternate',
  8443: 'HTTPS alternate',
  9418: 'Git',
  11_211: 'memcached',
  25_565: 'Minecraft',
  27_015: 'Steam',
  30_120: 'FiveM',
}
export const knownServices: readonly (readonly [port: number, name: string])[] = Object.entries(
  serviceNames,
).map(([port, name]) => [Number(port), name])

/** In the order of their bits, from the lowest. */
export const tcpFlagNames = ['FIN', 'SYN', 'RST', 'PSH', 'ACK', 'URG', 'ECE', 'CWR'] as const

const flagsText = (bits: number): string =>
  tcpFlagNames.filter((_, at) => (bits >> at) & 1).join('+') || 'none'

/** Parses a number, `none`, or names such as `SYN+ACK`, also with commas. */
export function parseTcpFlags(value: string | number): number | undefined {
  if (typeof value === 'number' || /^[0-9]+$/.test(value)) {
    const bits = Number(value)
    return Number.isInteger(bits) && bits >= 0 && bits <= 255 ? bits : undefined
  }
  if (value.toLowerCase() === 'none') return 0
  const places = value.split(/[+,]/).map((name) => tcpFlagNames.indexOf(name.trim().toUpperCase() as never))
  return places.includes(-1) ? undefined : places.reduce((bits, at) => bits | (1 << at), 0)
}

const unmapped = (address: string): string => address.replace(/^::ffff:(?=[0-9.]+$)/, '')

/** Returns the value of a key for filters, from its text in the store. */
export function keyValue(key: FlowKey, stored: string, { prefixes }: FlowNames): string {
  switch (key) {
    case 'protocol':
      return protocolNames[Number(stored)] ?? stored
    case 'prefix':
      return prefixes.find(({ id }) => id === Number(stored))?.prefix ?? ''
    case 'tcp_flags':
      return flagsText(Number(stored))
    case 'remote_country':
    case 'src_country':
    case 'dst_country':
      return stored.replaceAll('\0', '').trim()
    case 'remote_address':
    case 'local_address':
    case 'src_address':
    case 'dst_address':
      return unmapped(stored)
    default:
      return stored
  }
}

const byId = (
  list: readonly { readonly id: number; readonly name: string }[],
  value: string,
): string | undefined => list.find(({ id }) => id === Number(value))?.name

const portLabel = (value: string): string => {
  const name = serviceNames[Number(value)]
  return name === undefined ? value : `${name} (${value})`
}

const directionLabels: Readonly<Record<string, string>> = { in: 'In', out: 'Out', internal: 'Internal' }
const upperCase = new Set([
  'ah',
  'dccp',
  'eigrp',
  'esp',
  'gre',
  'icmp',
  'igmp',
  'l2tp',
  'mpls',
  'ospf',
  'pim',
  'rsvp',
  'sctp',
  'tcp',
  'udp',
  'vrrp',
])
const protocolLabels: Readonly<Record<string, string>> = {
  icmpv6: 'ICMPv6',
  ipip: 'IP in IP',
  ipv6: 'IPv6 in IPv4',
  etherip: 'EtherIP',
  udplite: 'UDP-Lite',
}

export const asnKeys: ReadonlySet<FlowKey> = new Set(['remote_asn', 'src_asn', 'dst_asn'])

/** Returns the name of a value for people. */
export function keyLabel(key: FlowKey, value: string, names: FlowNames): string {
  switch (key) {
    case 'direction':
      return directionLabels[value] ?? value
    case 'protocol':
      return upperCase.has(value) ? value.toUpperCase() : (protocolLabels[value] ?? `Protocol ${value}`)
    case 'family':
      return value === 'ipv4' ? 'IPv4' : 'IPv6'
    case 'prefix':
      return value === '' ? 'Announced only' : value
    case 'device':
      return value === '0' ? 'Device of the provider' : (byId(names.devices, value) ?? `Device ${value}`)
    case 'interface':
      return value === '0' ? 'No port of the team' : (byId(names.ports, value) ?? `Port ${value}`)
    case 'service_port':
      return value === '0' ? 'No service port' : portLabel(value)
    case 'remote_port':
    case 'local_port':
    case 'src_port':
    case 'dst_port':
      return portLabel(value)
    case 'remote_asn':
    case 'src_asn':
    case 'dst_asn':
      return value === '0' ? 'Unknown AS' : ['AS' + value, names.asns.get(value)].join(' ').trim()
    case 'remote_country':
    case 'src_country':
    case 'dst_country':
      return countryLabel(value)
    case 'fragment':
      return value === 'yes' ? 'Fragments' : 'Whole packets'
    case 'dscp':
      return `DSCP ${value}`
    case 'packet_size':
      return `${value.replace(/-$/, ' or more').replace('-', ' to ')} bytes`
    default:
      return value
  }
}

function countryLabel(code: string): string {
  if (code === '') return 'Unknown country'
  return /^[A-Z]{2}$/.test(code) ? (countryNames.of(code) ?? code) : code
}

const countryNames = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' })
