// The addresses that proxies report in X-Forwarded-For, without additions of some proxies.
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'

/** In no list but of all addresses: a client whose address its proxy does not know must not get the rights of the proxy's own. */
const unknown = '0.0.0.0'

/**
 * Replaces the header by its addresses without ports and brackets (`203.0.113.88:1234` of Azure Application Gateway,
 * `[2001:db8::1]:443`). An invalid element, such as `unknown`, becomes 0.0.0.0, and elements before it are dropped.
 */
export function cleanForwardedFor(headers: IncomingHttpHeaders): void {
  const given = headers['x-forwarded-for']
  if (given === undefined) return
  const addresses: string[] = []
  for (const element of String(given).split(',').toReversed()) {
    const address = addressOf(element.trim())
    addresses.unshift(address ?? unknown)
    if (address === undefined) break
  }
  headers['x-forwarded-for'] = addresses.join(', ')
}

/** RFC 7239, section 6: an IPv6 address with a port has brackets. */
function addressOf(element: string): string | undefined {
  const text = element.replace(/^"(.*)"$/, '$1')
  const address =
    /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1] ?? text.replace(/^(\d+(?:\.\d+){3}):\d{1,5}$/, '$1')
  return isIP(address) === 0 ? undefined : address
}
