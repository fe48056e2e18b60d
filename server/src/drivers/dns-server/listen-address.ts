// The listen address of the name server: an address and a port, as in `127.0.0.1:8053` and `[::1]:8053`.
import { isIP } from 'node:net'

export type DnsListenAddress = { readonly host: string; readonly port: number }

/** Parses `host:port`. Throws an Error with the expected form. */
export function parseListenAddress(text: string): DnsListenAddress {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? []
  const host = bracketed ?? plain ?? ''
  const port = Number(digits ?? -1)
  const isFamily = isIP(host) === (bracketed === undefined ? 4 : 6)
  if (!isFamily || port < 0 || port > 65_535)
    throw new Error(`must be an address and a port, such as 127.0.0.1:8053 or [::1]:8053, not "${text}"`)
  return { host, port }
}

/** Returns the inverse of `parseListenAddress`. */
export const printListenAddress = ({ host, port }: DnsListenAddress): string =>
  `${isIP(host) === 6 ? `[${host}]` : host}:${port}`
