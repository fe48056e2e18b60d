// Which names and types of a zone a limit admits. Compared on canonical names, so that no spelling of a name is another name. Pure.
import {
  isAtOrBelow,
  isBelow,
  labelsOf,
  NameError,
  parentOf,
  parseName,
  relativeName,
  type DomainName,
} from '../net/dns/name.ts'
import type { NamePattern, ZoneLimit } from '../operation/limits.ts'

/**
 * Parses a pattern of names of a zone: `_acme-challenge`, `*.dyn` for all below `dyn`, `_acme-challenge.*` for all with this first label,
 * `\*` for a wildcard record. Throws NameError.
 */
export function parseNamePattern(text: string, zone: DomainName): NamePattern {
  if (text === '*') return { kind: 'below', name: zone }
  if (text.startsWith('*.')) return { kind: 'below', name: parsePart(text.slice(2), zone) }
  if (!text.endsWith('.*') || text.endsWith('\\.*')) return { kind: 'name', name: parsePart(text, zone) }
  const name = parsePart(text.slice(0, -2), zone)
  if (name === zone || parentOf(name) !== zone)
    throw new NameError('character', 'one label precedes ".*", as in _acme-challenge.*')
  return { kind: 'first_label', label: labelsOf(name)[0]! }
}

function parsePart(text: string, zone: DomainName): DomainName {
  if (/\*/.test(text.replaceAll(/\\./g, '')))
    throw new NameError(
      'character',
      '"*" is the first or the last label of a pattern, and not both; write a wildcard record as \\*',
    )
  const name = parseName(text, zone)
  if (!isAtOrBelow(name, zone)) throw new NameError('relative', 'the name is not in the zone')
  return name
}

/** Returns the pattern as answers show it. */
export function printNamePattern(pattern: NamePattern, zone: DomainName): string {
  if (pattern.kind === 'first_label') return `${pattern.label}.*`
  const name = relativeName(pattern.name as DomainName, zone)
  if (pattern.kind === 'below') return name === '@' ? '*' : `*.${name}`
  return name.replace(/^\*/, '\\*')
}

export const admitsName = ({ names }: Pick<ZoneLimit, 'names'>, name: DomainName): boolean =>
  names === null || names.some((one) => matches(one, name))

export const admitsType = ({ types }: Pick<ZoneLimit, 'types'>, type: number): boolean =>
  types === null || types.has(type)

export const admitsSet = (
  limit: Pick<ZoneLimit, 'names' | 'types'>,
  { name, type }: { readonly name: DomainName; readonly type: number },
): boolean => admitsName(limit, name) && admitsType(limit, type)

function matches(pattern: NamePattern, name: DomainName): boolean {
  if (pattern.kind === 'first_label') return labelsOf(name)[0] === pattern.label
  return pattern.kind === 'name' ? name === pattern.name : isBelow(name, pattern.name as DomainName)
}
