// Our Route and GoBGP's Path, and which paths are ours. The owner community says so to people and routers; the path
// identifier (RFC 7911) says so to GoBGP, which replaces and withdraws only paths of the same identifier.
import { create } from '@bufbuild/protobuf'
import type { Route } from '../../byoip/speaker.ts'
import { familyOf } from '../../net/address.ts'
import type { Family } from '../../net/bits.ts'
import { type LargeCommunity, parseLargeCommunity } from '../../net/community.ts'
import type { Prefix } from '../../net/prefix.ts'
import {
  afiOf,
  decodeAttributes,
  decodeNlri,
  encodeAttributes,
  encodeNlri,
  safiUnicast,
} from './attributes.ts'
import { type Path, PathSchema } from './generated/gobgp_pb.js'

/**
 * Whose routes: a large community `asn:function:owner`, and the path identifier that follows from it. GoBGP's command
 * line and most programs use identifier 0, so a foreign route for the same prefix stays a route of its own.
 */
export type Owner = { readonly community: LargeCommunity; readonly identifier: number }

/** Throws CommunityError unless the text is a large community. */
export function parseOwner(text: string): Owner {
  return { community: parseLargeCommunity(text), identifier: identifierOf(text) }
}

/** Throws with a text for operators when the route cannot be one. */
export function encodeRoute(route: Route, owner: Owner): Path {
  const largeCommunities = [...route.largeCommunities, owner.community]
  return create(PathSchema, {
    family: wireFamily(familyOf(route.prefix)),
    identifier: owner.identifier,
    nlriBinary: encodeNlri(route.prefix),
    pattrsBinary: encodeAttributes(route.prefix, { ...route, largeCommunities }),
  })
}

/** A withdrawal of our path for the prefix: its attributes do not matter. */
export function encodeWithdrawal(prefix: Prefix, owner: Owner): Path {
  return create(PathSchema, {
    isWithdraw: true,
    family: wireFamily(familyOf(prefix)),
    identifier: owner.identifier,
    nlriBinary: encodeNlri(prefix),
  })
}

/** Undefined for what is not ours: learned from a neighbour, of another identifier, without the owner community. */
export function decodeOwnRoute(path: Path, family: Family, owner: Owner): Route | undefined {
  if (path.identifier !== owner.identifier || path.neighborIp !== originatedHere) return undefined
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

export function wireFamily(family: Family): { afi: number; safi: number } {
  return { afi: afiOf(family), safi: safiUnicast }
}

/** What Go prints for the address of no neighbour. */
const originatedHere = '<nil>'

/** FNV-1a of 32 bits, never 0: two owners get two identifiers, the same owner always the same. */
function identifierOf(owner: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < owner.length; at++) hash = Math.imul(hash ^ owner.charCodeAt(at), 0x01000193)
  return hash >>> 0 || 1
}
