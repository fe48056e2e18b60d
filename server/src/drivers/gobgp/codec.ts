// Converts between Route and GoBGP's Path, and identifies Pharos' paths. The owner community identifies them for people and
// routers; the path identifier (RFC 7911) does so for GoBGP, which replaces and withdraws only paths with the same identifier.
// All of it is the same in every version of GoBGP; the differences are in dialect.ts.
import { isIP } from 'node:net'
import type { Route } from '../../byoip/regions/speaker.ts'
import { familyOf } from '../../net/address.ts'
import type { Family } from '../../net/bits.ts'
import { type LargeCommunity, parseLargeCommunity } from '../../net/community.ts'
import type { Prefix } from '../../net/prefix.ts'
import {
  afiOf,
  decodeAttributes,
  decodeNlri,
  decodePathOrigin,
  encodeAttributes,
  encodeNlri,
  safiUnicast,
} from './attributes.ts'

/** The fields of a path that are used, common to all versions of GoBGP. The octets are BGP attributes. */
export type GobgpPath = {
  readonly isWithdraw: boolean
  readonly family?: { readonly afi: number; readonly safi: number } | undefined
  /** The neighbor that sent the path; not an address if the daemon originated it. */
  readonly neighborIp: string
  readonly identifier: number
  readonly nlriBinary: Uint8Array
  readonly pattrsBinary: Uint8Array[]
}

/**
 * Owner of routes: a large community `asn:function:owner`, and the path identifier derived from it. GoBGP's command line and
 * most programs use identifier 0, so a foreign route for the same prefix stays separate.
 */
export type Owner = { readonly community: LargeCommunity; readonly identifier: number }

/** Throws CommunityError unless the text is a large community. */
export function parseOwner(text: string): Owner {
  return { community: parseLargeCommunity(text), identifier: identifierOf(text) }
}

/** Throws with a text for operators if the route is invalid. */
export function encodeRoute(route: Route, owner: Owner): GobgpPath {
  const largeCommunities = [...route.largeCommunities, owner.community]
  return {
    isWithdraw: false,
    neighborIp: '',
    family: wireFamily(familyOf(route.prefix)),
    identifier: owner.identifier,
    nlriBinary: encodeNlri(route.prefix),
    pattrsBinary: encodeAttributes(route.prefix, { ...route, largeCommunities }),
  }
}

/** A withdrawal of Pharos' path for the prefix: its attributes do not matter. */
export function encodeWithdrawal(prefix: Prefix, owner: Owner): GobgpPath {
  return {
    isWithdraw: true,
    neighborIp: '',
    family: wireFamily(familyOf(prefix)),
    identifier: owner.identifier,
    nlriBinary: encodeNlri(prefix),
    pattrsBinary: [],
  }
}

/**
 * Decodes a path. Undefined if it is not a path of Pharos: learned from a neighbor, with another identifier, or without the
 * owner community. Throws on a path without octets, which all paths lack if the daemon does not know the binary form: Pharos'
 * own paths would be missing.
 */
export function decodeOwnRoute(path: GobgpPath, family: Family, owner: Owner): Route | undefined {
  if (path.nlriBinary.length === 0) throw new TypeError('it has no octets of a prefix')
  if (path.identifier !== owner.identifier || isIP(path.neighborIp) !== 0) return undefined
  const { asPath, nextHop, communities, largeCommunities } = decodeAttributes(path.pattrsBinary)
  if (!largeCommunities.includes(owner.community)) return undefined
  return {
    prefix: decodeNlri(path.nlriBinary, family),
    asPath,
    nextHop,
    communities,
    largeCommunities: largeCommunities.filter((community) => community !== owner.community),
  }
}

/** Decodes the prefix of a path and its origin, as in `Advertised`. Throws on a path without octets. */
export function decodeOrigin(
  { nlriBinary, pattrsBinary }: Pick<GobgpPath, 'nlriBinary' | 'pattrsBinary'>,
  family: Family,
): [Prefix, number | null] {
  if (nlriBinary.length === 0) throw new TypeError('it has no octets of a prefix')
  return [decodeNlri(nlriBinary, family), decodePathOrigin(pattrsBinary)]
}

export function wireFamily(family: Family): { afi: number; safi: number } {
  return { afi: afiOf(family), safi: safiUnicast }
}

/** FNV-1a of 32 bits, never 0: two owners get two identifiers, the same owner always the same. */
function identifierOf(owner: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < owner.length; at++) hash = Math.imul(hash ^ owner.charCodeAt(at), 0x01000193)
  return hash >>> 0 || 1
}
