// The root of the public DNS, and the names that it never delegates.
import { labelsOf, root, type ZoneName } from '../../net/dns/name.ts'
import type { FindOptions } from './find-parent.ts'

/** Letters and IPv4 addresses of the servers of the root (https://www.iana.org/domains/root/servers). */
const addresses: Readonly<Record<string, string>> = {
  a: '198.41.0.4',
  b: '170.247.170.2',
  c: '192.33.4.12',
  d: '199.7.91.13',
  e: '192.203.230.10',
  f: '192.5.5.241',
  g: '192.112.36.4',
  h: '198.97.190.53',
  i: '192.36.148.17',
  j: '192.58.128.30',
  k: '193.0.14.129',
  l: '199.7.83.42',
  m: '202.12.27.33',
}

/** Top-level names that are never delegated (RFC 6761, RFC 6762, RFC 9476). */
const undelegated: ReadonlySet<string> = new Set([
  'test',
  'example',
  'invalid',
  'localhost',
  'local',
  'internal',
  'alt',
  'onion',
])

export const rootServers: FindOptions['roots'] = Object.entries(addresses).map(([letter, address]) => ({
  name: `${letter}.root-servers.net.`,
  addresses: [{ address, port: 53 }],
}))

/** Returns whether the public DNS may delegate a zone. */
export const isDelegable = (zone: ZoneName): boolean =>
  zone !== root && !undelegated.has(labelsOf(zone).at(-1)!)
