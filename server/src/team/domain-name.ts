// Domain names: their canonical form (IDNA, A-labels), and which domains a team may add. Pure: the lists of public
// suffixes and of mail providers come from the installed packages.
import { domainToASCII, domainToUnicode } from 'node:url'
import mailProviders from 'email-providers/all.json' with { type: 'json' }
import { parse } from 'tldts'

declare const domainBrand: unique symbol

/** Lower case, A-labels, at least two of them, without a trailing dot: `xn--mnchen-3ya.example`. */
export type TeamDomainName = string & { readonly [domainBrand]: true }

/** The label of a domain's record, below the domain. */
export const recordLabel = '_pharos-challenge'
/** A name has at most 253 characters (RFC 1035, 2.3.4), and the name of the record is the longest one needed. */
const lengthMax = 253 - recordLabel.length - 1

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const domainPattern = new RegExp(`^(?:${label}\\.)+${label}$`)
/** All other ASCII characters have a meaning in a URL, and the function that converts names parses URLs. */
const otherAscii = /[\0-,/:-@[-`{-\x7f]/

/** Parses a domain in Unicode or ASCII, with or without a trailing dot; undefined for any other text. */
export function canonicalDomain(text: string): TeamDomainName | undefined {
  if (text.length > 1000 || otherAscii.test(text)) return undefined
  const ascii = domainToASCII(text).replace(/\.$/, '')
  if (ascii.length > 253 || !domainPattern.test(ascii)) return undefined
  return isAddress(ascii) || !areCanonicalALabels(ascii) ? undefined : (ascii as TeamDomainName)
}

/** A host whose last label is a number is parsed as an IPv4 address (WHATWG URL, 3.5). */
const isAddress = (ascii: string): boolean => /\.(?:\d+|0x[0-9a-f]*)$/.test(ascii)

/** Returns whether every A-label is the canonical encoding of a Unicode label, which not all versions of Node check. */
export function areCanonicalALabels(ascii: string): boolean {
  if (!/(?:^|\.)xn--/.test(ascii)) return true
  const unicode = domainToUnicode(ascii)
  return unicode !== '' && !/(?:^|\.)xn--/.test(unicode) && domainToASCII(unicode) === ascii
}

/** Returns the domain of an e-mail address; undefined if there is none that a team could have. */
export function domainOfEmail(email: string): TeamDomainName | undefined {
  const at = email.lastIndexOf('@')
  return at < 1 ? undefined : canonicalDomain(email.slice(at + 1))
}

export type DomainRules = {
  /** Accepts `.example` and the names of RFC 6761, 6.5, which demos, labs and tests use. */
  readonly allowDocumentation: boolean
}

/** The reason why no team may add the domain. */
export type DomainObjection = {
  readonly type: 'too_long' | 'special_use' | 'public_suffix' | 'mail_provider'
  readonly msg: string
}

/** Returns undefined if the domain is allowed. */
export function objectionTo(
  domain: TeamDomainName,
  { allowDocumentation }: DomainRules,
): DomainObjection | undefined {
  if (domain.length > lengthMax)
    return {
      type: 'too_long',
      msg: `has more than ${lengthMax} characters, and the name of its record would have more than 253`,
    }
  const special = specialUseOf(domain, allowDocumentation)
  if (special !== undefined) return { type: 'special_use', msg: `is in .${special}, which is reserved` }
  if (isPublicSuffix(domain))
    return { type: 'public_suffix', msg: 'is a public suffix, under which others register domains' }
  if (freeMail.has(domain))
    return { type: 'mail_provider', msg: 'belongs to a public mail provider; add a domain of your own' }
  return undefined
}

/** RFC 6761, 7686 and 9476; `internal` is reserved by ICANN for private use. `arpa` is for addresses and infrastructure. */
const specialUse = ['localhost', 'test', 'invalid', 'local', 'onion', 'alt', 'internal', 'arpa']
const documentation = ['example', 'example.com', 'example.net', 'example.org']

function specialUseOf(domain: TeamDomainName, allowDocumentation: boolean): string | undefined {
  const names = allowDocumentation ? specialUse : [...specialUse, ...documentation]
  return names.find((name) => domain === name || domain.endsWith(`.${name}`))
}

/** The private section counts too: `github.io` belongs to a customer as little as `co.uk`. */
export const isPublicSuffix = (domain: string): boolean =>
  parse(domain, { allowPrivateDomains: true, extractHostname: false }).domain === null

/** Free mail providers that are missing in the list. */
const furtherProviders = [
  'disroot.org',
  'duck.com',
  'fastmail.com',
  'fastmail.fm',
  'mailbox.org',
  'posteo.de',
  'posteo.net',
  'proton.me',
  'riseup.net',
  'runbox.com',
  'startmail.com',
  'tuta.com',
  'tuta.io',
  'tutamail.com',
  'tutanota.com',
  'tutanota.de',
]
/** The list contains `example.com`, which belongs to no provider. */
const freeMail: ReadonlySet<string> = new Set(
  [...mailProviders, ...furtherProviders].filter((name) => !documentation.includes(name)),
)
