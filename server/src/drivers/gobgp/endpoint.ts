// The address of gobgpd's API: its form, and whether only this machine can reach it. Both are decided by the text; no name is resolved.
import { isIP } from 'node:net'
import { isLoopback } from '../../net/loopback.ts'

/** Whether it is `host:port`, `[ipv6]:port` or `unix:/path`. Digits and dots are an IPv4 address: resolvers read `127.010.0.1` in their own way. */
export function isEndpoint(address: string): boolean {
  if (/^unix:\/.+/.test(address)) return true
  const [, ipv6, name, port] = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/.exec(address) ?? []
  if (port === undefined || Number(port) > 65_535) return false
  return ipv6 === undefined ? !/^[\d.]+$/.test(name!) || isIP(name!) === 4 : isIP(ipv6) === 6
}

/** Whether no other machine can reach the address, so that plain text is safe. */
export const isOfThisMachine = (address: string): boolean =>
  isEndpoint(address) &&
  (address.startsWith('unix:') || isLoopback(address.replace(/:\d+$/, '').replaceAll(/[[\]]/g, '')))
