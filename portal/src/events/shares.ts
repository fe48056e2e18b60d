// Shares of an event's traffic as the rows of bars. Pure.
import type { ParsedData } from '@pharos/contract/events/event'
import type { Share } from '../charts/shapes.ts'

type Amounts = { readonly packets?: number | undefined; readonly bytes?: number | undefined }

export type Shares = { readonly unit: 'bytes' | 'packets'; readonly items: readonly Share[] }

/** Returns the bars of all entries with an amount: bytes if all have them, packets otherwise; undefined without amounts. */
function sharesOf<T extends Amounts>(
  list: readonly T[] | undefined,
  labelOf: (one: T) => Omit<Share, 'value'>,
): Shares | undefined {
  const unit = (['bytes', 'packets'] as const).find(
    (one) => list !== undefined && list.length > 0 && list.every((share) => share[one] !== undefined),
  )
  return unit && { unit, items: list!.map((one) => ({ ...labelOf(one), value: one[unit]! })) }
}

/** Returns the text of entries without amounts: `53 DNS, 123 NTP`. */
const namesOf = <T>(list: readonly T[] | undefined, labelOf: (one: T) => Omit<Share, 'value'>): string =>
  (list ?? [])
    .map(labelOf)
    .map(({ label, secondary }) => (secondary === undefined ? label : `${label} ${secondary}`))
    .join(', ')

const portLabel = ({ port }: { readonly port: number }): Omit<Share, 'value'> => {
  const secondary = portName(port)
  return { label: String(port), ...(secondary === undefined ? {} : { secondary }) }
}

export type ShareCard = {
  readonly kind: 'sources' | 'sourcePorts' | 'destinationPorts'
  readonly shares: Shares | undefined
  /** Text without amounts. */
  readonly names: string
}

/** Returns a card for each breakdown that the detector reported. */
export function shareCards({
  top_sources,
  source_ports,
  destination_ports,
}: ParsedData): readonly ShareCard[] {
  const addressLabel = ({ address }: { readonly address: string }) => ({ label: address })
  const cards: readonly ShareCard[] = [
    {
      kind: 'sources',
      shares: sharesOf(top_sources, addressLabel),
      names: namesOf(top_sources, addressLabel),
    },
    {
      kind: 'sourcePorts',
      shares: sharesOf(source_ports, portLabel),
      names: namesOf(source_ports, portLabel),
    },
    {
      kind: 'destinationPorts',
      shares: sharesOf(destination_ports, portLabel),
      names: namesOf(destination_ports, portLabel),
    },
  ]
  return cards.filter(({ names }) => names !== '')
}

/** The services of ports that attacks come from and go to, by the names that people use. */
const portNames: Readonly<Record<number, string>> = {
  17: 'QOTD',
  19: 'CHARGEN',
  20: 'FTP',
  21: 'FTP',
  22: 'SSH',
  23: 'Telnet',
  25: 'SMTP',
  53: 'DNS',
  69: 'TFTP',
  80: 'HTTP',
  110: 'POP3',
  111: 'portmapper',
  123: 'NTP',
  137: 'NetBIOS',
  143: 'IMAP',
  161: 'SNMP',
  179: 'BGP',
  389: 'CLDAP',
  443: 'HTTPS',
  465: 'SMTP',
  500: 'IKE',
  520: 'RIP',
  587: 'SMTP',
  853: 'DNS over TLS',
  993: 'IMAP',
  1194: 'OpenVPN',
  1433: 'SQL Server',
  1900: 'SSDP',
  3074: 'Xbox Live',
  3306: 'MySQL',
  3389: 'RDP',
  3478: 'STUN',
  3702: 'WS-Discovery',
  4500: 'IPsec',
  5060: 'SIP',
  5353: 'mDNS',
  5432: 'PostgreSQL',
  6379: 'Redis',
  8080: 'HTTP',
  8443: 'HTTPS',
  9987: 'TeamSpeak',
  10001: 'Ubiquiti discovery',
  11211: 'memcached',
  25565: 'Minecraft',
  27015: 'Steam',
  30120: 'FiveM',
  51820: 'WireGuard',
}

const portName = (port: number): string | undefined => portNames[port]
