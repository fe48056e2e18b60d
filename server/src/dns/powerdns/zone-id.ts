// Zone ids of the PowerDNS API: the name with its trailing dot, in which octets other than letters, digits, dot and hyphen are `=XX`. Pure.
import type { ZoneName } from '../../net/dns/name.ts'

export const zoneIdOf = (name: ZoneName): string =>
  name.replaceAll(
    /[^A-Za-z0-9.-]/g,
    (one) => `=${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  )

/** Returns the name as the operations on zones take it. It ends with a dot, so that a name of digits is not taken for an id of Pharos. */
export function parseZoneId(id: string): string {
  const name = id.replaceAll(/=([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  )
  return name.endsWith('.') ? name : `${name}.`
}
