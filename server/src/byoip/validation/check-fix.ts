// The literal text of the object that a team must create so that a check passes, ready to copy. Pure.
import type { Asn } from '../../net/asn.ts'
import { lengthOf, type Prefix } from '../../net/prefix.ts'

/** Returns a ROA for exactly the prefix; a longer maxLength would authorize hijacks of more specifics (RFC 9319). */
export function roaFix(prefix: Prefix, asn: Asn): string {
  return `prefix:    ${prefix}\nmaxLength: ${lengthOf(prefix)}\norigin:    AS${asn}`
}

/** Returns a route or route6 object (RFC 2622 section 4, RFC 4012 section 3), with placeholders in angle brackets. */
export function routeObjectFix(prefix: Prefix, asn: Asn): string {
  const name = prefix.includes(':') ? 'route6' : 'route'
  const lines = [
    [name, prefix],
    ['origin', `AS${asn}`],
    ['descr', '<your organisation>'],
    ['mnt-by', '<your maintainer>'],
    ['source', '<your registry>'],
  ]
  return lines.map(([attribute, value]) => `${`${attribute}:`.padEnd(16)}${value}`).join('\n')
}
