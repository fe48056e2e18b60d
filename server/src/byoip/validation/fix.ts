// The literal text of what a team has to create so that a check passes: to be copied, not to be understood. Pure.
import type { Asn } from '../../net/asn.ts'
import { lengthOf, type Prefix } from '../../net/prefix.ts'

/** A ROA for exactly the prefix; a longer maxLength would authorise hijacks of its parts (RFC 9319). */
export function roaFix(prefix: Prefix, asn: Asn): string {
  return `prefix:    ${prefix}\nmaxLength: ${lengthOf(prefix)}\norigin:    AS${asn}`
}

/** A route or route6 object (RFC 2622 section 4, RFC 4012 section 3); values that only the team knows are in angle brackets. */
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
