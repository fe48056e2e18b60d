// Templates of PTR records: patterns, and the records that a network gets from one. Pure.
import { templateBitsMax } from '@pharos/contract/dns/ptr'
import type { ProblemError } from '@pharos/contract/problem'
import type { Address } from '../../net/address.ts'
import { widthOf } from '../../net/bits.ts'
import { NameError, nameFromWire, parseName, prependLabel, type DomainName } from '../../net/dns/name.ts'
import type { Rrset } from '../../net/dns/record.ts'
import {
  covers,
  firstOf,
  hostPrefix,
  lengthOf,
  networkOf,
  prefixParts,
  type Prefix,
} from '../../net/prefix.ts'
import { addressAt, findReverseNetwork } from '../../net/reverse-name.ts'
import { reverseZones } from '../../net/reverse-zone.ts'
import { errorAt, failWith } from '../../runtime/error.ts'

type Loc = ProblemError['loc']

const placeholder = /\{([^{}]*)\}/g
const ofFamily: Record<4 | 6, readonly string[]> = {
  4: ['ip-dashed', 'a', 'b', 'c', 'd', 'n'],
  6: ['ip-dashed', 'ip-full', 'n'],
}

/** A pattern that was checked for its network. */
export type TemplatePattern = {
  readonly network: Prefix
  /** False: one name for all. */
  readonly isVariable: boolean
  /** Returns the name of an address, which is that many places after the first one. */
  nameAt(place: number): DomainName
}

/** Parses a pattern for a network. Throws `invalid`. */
export function parsePattern(loc: Loc, text: string, network: Prefix): TemplatePattern {
  const { family, length } = prefixParts(network)
  const names = [...text.matchAll(placeholder)].map(([, name]) => name!)
  const unknown = names.find((name) => !ofFamily[family].includes(name))
  const valid = ofFamily[family].map((name) => `{${name}}`).join(', ')
  if (unknown !== undefined || /[{}]/.test(text.replaceAll(placeholder, '')))
    throw badPattern(loc, `the placeholders of an IPv${family} network are ${valid}`)
  const isVariable = names.length > 0
  const longest = widthOf(family) - templateBitsMax
  if (isVariable && length < longest)
    throw failWith('invalid', [errorAt(loc, 'templateTooWide', { longest })])
  if (!isVariable && family === 4 && length < longest)
    throw failWith('invalid', [errorAt(loc, 'templateTooWide', { longest })])
  const pattern: TemplatePattern = { network, isVariable, nameAt: (place) => expand(text, network, place) }
  for (const place of [0, countRecordAddresses(network) - 1]) requireName(loc, pattern, place)
  return pattern
}

/** Returns the number of records; 1 for a wide IPv6 network, which gets a wildcard. */
export const countRecordAddresses = (network: Prefix): number => {
  const { family, length } = prefixParts(network)
  const bits = widthOf(family) - length
  return bits > templateBitsMax ? 1 : 2 ** bits
}

/** A wide IPv6 network has one record for all: a wildcard (RFC 8501 section 2.2). */
export const needsWildcard = (network: Prefix): boolean =>
  prefixParts(network).family === 6 && countRecordAddresses(network) === 1 && lengthOf(network) < 128

/** The name of this record. */
export const wildcardOf = (network: Prefix): DomainName =>
  prependLabel('*', parseName(reverseZones(network)[0]!))

/** Reports whether a template writes this set of PTR records: one record, with the name that the pattern has for its address. */
export function isFromTemplate(
  pattern: TemplatePattern,
  { name, rdata: [first, ...others] }: Pick<Rrset, 'name' | 'rdata'>,
): boolean {
  if (first === undefined || others.length > 0) return false
  const { network } = pattern
  const target = nameFromWire(first)
  if (needsWildcard(network)) return name === wildcardOf(network) && target === pattern.nameAt(0)
  const host = findReverseNetwork(name)
  if (host === undefined || !covers(network, host) || host !== hostPrefix(networkOf(host))) return false
  return target === pattern.nameAt(Number(firstOf(host) - firstOf(network)))
}

function requireName(loc: Loc, pattern: TemplatePattern, place: number): void {
  try {
    const name = pattern.nameAt(place)
    if (name.indexOf('.') === name.length - 1) throw badPattern(loc, 'the name has one label only')
  } catch (error) {
    if (error instanceof NameError) throw badPattern(loc, error.message)
    throw error
  }
}

const badPattern = (loc: Loc, reason: string) => failWith('invalid', [errorAt(loc, 'ptrPattern', { reason })])

function expand(text: string, network: Prefix, place: number): DomainName {
  const address = addressAt(network, place)
  return parseName(text.replaceAll(placeholder, (_, name: string) => valueOf(name, address, place)))
}

function valueOf(name: string, address: Address, place: number): string {
  switch (name) {
    case 'n':
      return String(place)
    case 'ip-dashed':
      return dashed(address)
    case 'ip-full':
      return firstOf(`${address}/128` as Prefix)
        .toString(16)
        .padStart(32, '0')
    default:
      return address.split('.')['abcd'.indexOf(name)]!
  }
}

/** A label must not begin or end with a hyphen (RFC 5891 section 4.2.3.1), as `::1` would. */
function dashed(address: Address): string {
  const text = address.replaceAll(/[.:]/g, '-')
  return `${text.startsWith('-') ? '0' : ''}${text}${text.endsWith('-') ? '0' : ''}`
}
