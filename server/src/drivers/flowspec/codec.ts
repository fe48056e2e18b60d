// Converts between the rules of a list and GoBGP's Path, and identifies Pharos' paths. Owner community and path
// identifier are the same as for routes (drivers/gobgp/codec.ts); a second large community has the length of the list's
// prefix and the id of the rule.
import { isIP } from 'node:net'
import { familyOf } from '../../net/address.ts'
import type { Family } from '../../net/bits.ts'
import { largeCommunityToNumbers } from '../../net/community.ts'
import type { FilterRule } from '../../net/filter-rule.ts'
import { decodeFlowspec, encodeFlowspec } from '../../net/flowspec/nlri.ts'
import { lengthOf, networkOf, type Prefix, prefixAround } from '../../net/prefix.ts'
import { afiOf } from '../gobgp/attributes.ts'
import type { Owner, GobgpPath } from '../gobgp/codec.ts'
import type { Dialect } from '../gobgp/dialect.ts'
import {
  decodeFlowspecAttributes,
  encodeFlowspecAttributes,
  type LargeCommunityWords,
  safiFlowspec,
} from './attributes.ts'

/** A rule of a list, as it is installed. The prefix of the list covers the destination, so its length identifies it. */
export type InstalledRule = { readonly prefix: Prefix; readonly rule: FilterRule }

/** The upper part of the second word of the list's community; the lower part is the length of the prefix. */
const listMark = 0x5053_0000

export function flowspecFamily(family: Family): { afi: number; safi: number } {
  return { afi: afiOf(family), safi: safiFlowspec }
}

/** Throws RangeError if the conditions do not fit into one NLRI. */
export function encodeRule(
  { prefix, rule }: InstalledRule,
  owner: Owner,
  { flowspecNextHop }: Dialect,
): GobgpPath {
  const family = flowspecFamily(familyOf(prefix))
  const nlri = encodeFlowspec(rule.match)
  const ownerWords = largeCommunityToNumbers(owner.community)
  const listWords: LargeCommunityWords = [ownerWords[0], listMark | lengthOf(prefix), rule.id]
  return {
    isWithdraw: false,
    neighborIp: '',
    family,
    identifier: owner.identifier,
    nlriBinary: nlri,
    pattrsBinary: encodeFlowspecAttributes(
      { action: rule.action, large: [ownerWords, listWords] },
      nlri,
      family.afi,
      flowspecNextHop,
    ),
  }
}

/** A withdrawal of Pharos' path for the conditions: its attributes do not matter. */
export function encodeFlowspecWithdrawal({ prefix, rule }: InstalledRule, owner: Owner): GobgpPath {
  return {
    isWithdraw: true,
    neighborIp: '',
    family: flowspecFamily(familyOf(prefix)),
    identifier: owner.identifier,
    nlriBinary: encodeFlowspec(rule.match),
    pattrsBinary: [],
  }
}

/**
 * Decodes a path. Undefined if it is not a path of Pharos: learned from a neighbor, with another identifier, or without the owner
 * community. Throws if a path of Pharos cannot be decoded.
 */
export function decodeOwnRule(path: GobgpPath, family: Family, owner: Owner): InstalledRule | undefined {
  if (path.nlriBinary.length === 0) throw new TypeError('it has no octets of a rule')
  if (path.identifier !== owner.identifier || isIP(path.neighborIp) !== 0) return undefined
  const words = largeCommunityToNumbers(owner.community)
  if (!hasCommunity(path, words)) return undefined
  const { action, large } = decodeFlowspecAttributes(path.pattrsBinary)
  const match = decodeFlowspec(path.nlriBinary, family)
  const mark = large.find(([asn, list]) => asn === words[0] && (list & 0xffff_0000) >>> 0 === listMark)
  if (!mark) throw new TypeError('it has no community of a list')
  const prefix = prefixAround(networkOf(match.destination), mark[1] & 0xffff)
  return { prefix, rule: { id: mark[2], match, action } }
}

/** Foreign attributes need not be decodable: only paths with the community belong to Pharos. */
function hasCommunity({ pattrsBinary }: GobgpPath, words: LargeCommunityWords): boolean {
  const attribute = pattrsBinary.filter((octets) => octets[1] === 32)
  if (attribute.length === 0) return false
  const { large } = decodeFlowspecAttributes(attribute)
  return large.some((community) => community.join() === words.join())
}
