// The classes of registry objects that authorize announcements: route and route6, as-set, aut-num (RFC 2622, RFC 4012).
// Registries contain objects that are older than their rules; an invalid object throws, and callers skip it.
import { parseAsn } from '../../net/asn.ts'
import type { Asn } from '../../net/asn.ts'
import { PrefixError } from '../../net/prefix-error.ts'
import { parsePrefix } from '../../net/prefix.ts'
import type { Prefix } from '../../net/prefix.ts'
import { RpslError, rpslValue, rpslValues } from './rpsl.ts'
import type { RpslObject } from './rpsl.ts'

/** RFC 2622 section 4, RFC 4012 section 3. */
export type RpslRoute = {
  readonly prefix: Prefix
  readonly origin: Asn
  readonly source: string
  readonly text: string
}

/** RFC 2622 section 5.1. */
export type RpslAsSet = {
  readonly name: string
  readonly asns: readonly Asn[]
  readonly sets: readonly string[]
  /** The maintainers whose aut-num and as-set objects may declare themselves members; `ANY` is everyone. */
  readonly membersByReference: readonly string[]
  readonly source: string
}

/** RFC 2622 section 6. */
export type RpslAutNum = { readonly asn: Asn; readonly source: string; readonly text: string }

/** Membership that an aut-num or as-set object declares; effective if the set agrees by `mbrs-by-ref`. */
export type RpslMembership = { readonly memberOf: readonly string[]; readonly maintainers: readonly string[] }

/** Throws RpslError: host bits, the other family's class, an origin that is no ASN, an attribute missing or twice. */
export function routeObjectOf(object: RpslObject): RpslRoute {
  const text = rpslValue(object, object.class)
  if (object.class !== (text.includes(':') ? 'route6' : 'route')) {
    throw new RpslError(`${shorten(text)} is not the key of a ${object.class} object`)
  }
  return {
    prefix: readPrefix(text),
    origin: readAsn(rpslValue(object, 'origin')),
    source: rpslSource(object),
    text: object.text,
  }
}

/** Throws RpslError. Skips members that are neither an ASN nor the name of a set. */
export function asSetOf(object: RpslObject): RpslAsSet {
  const name = parseAsSetName(rpslValue(object, 'as-set'))
  return {
    name,
    ...readAsSetMembers(rpslValues(object, 'members').join(',')),
    membersByReference: rpslValues(object, 'mbrs-by-ref').flatMap(listOf).map(upper),
    source: rpslSource(object),
  }
}

/** Returns the ASNs and the names of sets in a list, each once, without other elements. Throws RpslError. */
export function readAsSetMembers(list: string): { readonly asns: Asn[]; readonly sets: string[] } {
  const members = [...new Set(listOf(upper(list)))]
  return { asns: members.filter(isAsn).map(readAsn), sets: members.filter(isAsSetName) }
}

/** Throws RpslError. */
export function autNumOf(object: RpslObject): RpslAutNum {
  return { asn: readAsn(rpslValue(object, 'aut-num')), source: rpslSource(object), text: object.text }
}

/** Throws RpslError on a list that is too long. */
export function membershipOf(object: RpslObject): RpslMembership {
  return {
    memberOf: rpslValues(object, 'member-of').flatMap(listOf).map(upper).filter(isAsSetName),
    maintainers: rpslValues(object, 'mnt-by').flatMap(listOf).map(upper),
  }
}

/** Whether the set accepts the object that names it in `member-of`. */
export function isMemberByReference(set: RpslAsSet, { maintainers }: RpslMembership): boolean {
  return set.membersByReference.some((name) => name === 'ANY' || maintainers.includes(name))
}

const setNameMax = 255
const setNamePart = /^(?:AS-[A-Z0-9](?:[A-Z0-9_-]*[A-Z0-9])?|AS[1-9]\d{0,9})$/

/**
 * Parses the name of an as-set into capitals: `AS-EXAMPLE`, or several parts separated by colons, `AS64496:AS-CUSTOMERS`, at
 * least one of which is not an ASN (RFC 2622 section 5). Throws RpslError.
 */
export function parseAsSetName(text: string): string {
  const name = text.length <= setNameMax ? upper(text) : ''
  if (isAsSetName(name)) return name
  throw new RpslError('not the name of an as-set, as in AS-EXAMPLE or AS64496:AS-CUSTOMERS')
}

function isAsSetName(name: string): boolean {
  if (name.length > setNameMax || !name.startsWith('AS')) return false
  const parts = name.split(':')
  return parts.every((part) => setNamePart.test(part)) && parts.some((part) => part.startsWith('AS-'))
}

const registryName = /^[A-Z][A-Z0-9_-]{0,63}$/

export const isRegistryName = (name: string): boolean => registryName.test(name)

/** Parses the name of a registry into capitals, as in `source: RADB`. Throws RpslError. */
export function parseRegistryName(text: string): string {
  const name = upper(text)
  if (isRegistryName(name)) return name
  throw new RpslError('not the name of a registry, as in RADB')
}

/** Returns the registry of the object, from its `source`; throws RpslError if that is missing. */
export function rpslSource(object: RpslObject): string {
  return parseRegistryName(rpslValue(object, 'source'))
}

function readPrefix(text: string): Prefix {
  try {
    return parsePrefix(text)
  } catch (error) {
    if (error instanceof PrefixError) throw new RpslError(`${shorten(text)}: ${error.message}`)
    throw error
  }
}

function readAsn(text: string): Asn {
  if (!isAsn(text)) throw new RpslError(`${shorten(text)} is not an ASN, as in AS64500`)
  return parseAsn(text)
}

/** Without asdot and AS0, which parseAsn rejects. A list may be long: an exception for each element is too slow. */
function isAsn(text: string): boolean {
  return /^as[1-9]\d{0,9}$/i.test(text) && Number(text.slice(2)) <= 4_294_967_295
}

const [blank, comma] = [32, 44]
/** Several times the longest lists of the Internet; much longer ones would block the event loop for too long. */
const wordsMax = 50_000

/** Splits a list at commas, in old objects at blanks. Throws RpslError if it is too long. */
function listOf(value: string): string[] {
  const words: string[] = []
  let start = 0
  for (let at = 0; at <= value.length; at++) {
    const code = at < value.length ? value.charCodeAt(at) : comma
    if (code !== comma && code > blank) continue
    if (at > start) words.push(value.slice(start, at))
    start = at + 1
    if (words.length > wordsMax) throw new RpslError(`a list of more than ${wordsMax} words`)
  }
  return words
}

function shorten(text: string): string {
  return JSON.stringify(text.length <= 50 ? text : `${text.slice(0, 50)}...`)
}

/** ASCII only: names have no other letters, and some of those have capitals in ASCII (`ı`, `ſ`). */
function upper(text: string): string {
  return text.replaceAll(/[\u0080-\uffff]/g, '?').toUpperCase()
}
