// Reads fields of foreign JSON: prefixes, paths, addresses. Values that are not valid are undefined, so that one bad element
// does not lose the others.
import { isIP } from 'node:net'
import type { AsPath } from '../../byoip/visibility/visibility-source.ts'
import { parsePrefix, type Prefix } from '../../net/prefix.ts'

export type MessageFields = Readonly<Record<string, unknown>>

export const fieldsOf = (value: unknown): MessageFields | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as MessageFields) : undefined

export const listField = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Also undefined for words such as `eor`, which RIS Live sends at the end of a table. */
export function prefixField(value: unknown): Prefix | undefined {
  if (typeof value !== 'string') return undefined
  try {
    return parsePrefix(value)
  } catch {
    return undefined
  }
}

/** Returns the canonical form of an IP address without a zone. */
export function addressField(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.includes('%')) return undefined
  const family = isIP(value)
  return family === 0 ? undefined : prefixField(`${value}/${family === 4 ? 32 : 128}`)?.split('/')[0]
}

const isAsn = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) > 0 && (value as number) <= 4_294_967_295

/**
 * Returns the ASNs of a path, without sets of several ASNs, so that the origin of an aggregated route is the AS before
 * the set.
 */
export function pathOf(value: unknown): AsPath | undefined {
  const path = listField(value).map((one) =>
    Array.isArray(one) && one.length === 1 ? (one[0] as unknown) : one,
  )
  if (!path.every((element) => isAsn(element) || Array.isArray(element))) return undefined
  const asns = path.filter(isAsn)
  return asns.length > 0 ? asns : undefined
}

/** Returns an ASN that may be written as text, as RIS Live does. */
export function asnOf(value: unknown): number | undefined {
  const asn = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value
  return isAsn(asn) ? asn : undefined
}

/** Returns a time from a number of milliseconds, at most the time `now`: clocks of collectors may be ahead. */
export function timeField(ms: unknown, now: Date): Date {
  return typeof ms === 'number' && Number.isFinite(ms) && ms > 0 ? new Date(Math.min(ms, now.getTime())) : now
}
