// Names of zones as people write them, and which names a zone may have. Pure: whether another team has the name is not known here.
import {
  isBelow,
  NameError,
  parseName,
  parseZoneName,
  type DomainName,
  type ZoneName,
} from '../../net/dns/name.ts'
import { asciiOf } from '../../net/dns/unicode-name.ts'
import { findReverseNetwork, reverseFamilyOf } from '../../net/reverse-name.ts'
import { isDefaultRoute, type Prefix } from '../../net/prefix.ts'
import { errorAt, failWith } from '../../runtime/error.ts'
import type { ProblemError } from '@pharos/contract/problem'
import { areCanonicalALabels, isPublicSuffix } from '../../team/domain-name.ts'

type Loc = ProblemError['loc']

/** Parses a name of a request: Unicode or ASCII, with escapes. Throws `invalid` at the place. */
export function parseNameAt(loc: Loc, text: string, origin?: DomainName): DomainName {
  const name = inPlace(loc, () => parseName(asciiOf(text), origin))
  requireOneScript(loc, text)
  return name
}

/** Parses the name of a zone in a request. Throws `invalid` at the place. */
export function parseZoneNameAt(loc: Loc, text: string): ZoneName {
  const name = inPlace(loc, () => parseZoneName(asciiOf(text)))
  requireOneScript(loc, text)
  return name
}

function inPlace<Name>(loc: Loc, parse: () => Name): Name {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof NameError)) throw error
    throw failWith('invalid', [{ loc, msg: error.message, type: error.reason }])
  }
}

/** Scripts with letters that look alike (UTS 39). Japanese, Korean and Chinese also use Latin letters. */
const alike = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u, /\p{Script=Armenian}/u]

/** Throws `invalid` for a label that looks like another one. Who means it can write its A-label. */
function requireOneScript(loc: Loc, text: string): void {
  const isMixed = text.split('.').some((label) => alike.filter((script) => script.test(label)).length > 1)
  if (isMixed) throw failWith('invalid', [errorAt(loc, 'mixedScripts', { suggestion: asciiOf(text) })])
}

/** The name as answers show it: without the trailing dot. */
export const shownZoneName = (name: DomainName): string => (name === '.' ? name : name.slice(0, -1))

export type ZoneNameRules = {
  /** Accepts `.example`, `.test` and the documentation domains (RFC 6761), which demos, labs and tests use. */
  readonly allowDocumentation: boolean
}

/** Names that are never in the public DNS (RFC 6761, 6762, 7686, 9476). */
const specialUse = ['localhost', 'invalid', 'local', 'onion', 'alt']
const documentation = ['example', 'test', 'example.com', 'example.net', 'example.org']

/**
 * Returns the network of a reverse zone name, null for other names. Throws `invalid` if no team may have a zone of the
 * name.
 */
export function requireZoneName(loc: Loc, name: ZoneName, rules: ZoneNameRules): Prefix | null {
  if (name === '.') throw failWith('invalid', [errorAt(loc, 'zoneRoot')])
  if (name.startsWith('*.')) throw failWith('invalid', [errorAt(loc, 'zoneWildcard')])
  const label = name.split('.').find((one) => !areCanonicalALabels(one))
  if (label !== undefined) throw failWith('invalid', [errorAt(loc, 'zoneIdna', { label })])
  if (name === 'arpa.' || name.endsWith('.arpa.')) return requireReverseName(loc, name)
  const names = rules.allowDocumentation ? specialUse : [...specialUse, ...documentation]
  const tld = names.find((one) => name === `${one}.` || isBelow(name, `${one}.` as DomainName))
  if (tld !== undefined) throw failWith('invalid', [errorAt(loc, 'zoneSpecialUse', { tld })])
  if (isPublicSuffix(shownZoneName(name))) throw failWith('invalid', [errorAt(loc, 'zonePublicSuffix')])
  return null
}

function requireReverseName(loc: Loc, name: ZoneName): Prefix {
  const network = reverseFamilyOf(name) === undefined ? undefined : findReverseNetwork(name)
  if (network === undefined || isDefaultRoute(network))
    throw failWith('invalid', [errorAt(loc, 'zoneReverse')])
  return network
}
