// Matches the networks of an event against the resources of all teams. Pure.
import type { MatchResource, MatchType } from '@pharos/contract/events/event'
import type { Ownership } from '../../inventory/holding/ownership.ts'
import type { Holding, Location } from '../../inventory/holding/holding.ts'
import type { Prefix } from '../../net/prefix.ts'

/** One reason why an event concerns a team. */
export type Match = {
  readonly teamId: number
  readonly resource: MatchResource
  readonly resourceId: number
  readonly type: MatchType
  /** The resource's prefix, or its ASN in decimal. */
  readonly value: string
  readonly name: string
  /** The API path of the resource. */
  readonly link: string
  readonly location: Location | null
}

/** A match in its stored form. */
export type EventMatch = Omit<Match, 'location'> & { readonly eventId: string }
export type StoredMatch = EventMatch & { readonly id: number }

/**
 * Maximum number of resources matched inside one network of an event; further ones are omitted, since such an event
 * concerns nearly every team.
 */
const insideMax = 10_000

/**
 * Returns all matches, of any number of teams. Read `type` as "the resource ... the event's network":
 *
 * - `exact`: the resource's prefix is the network;
 * - `covers`: the resource's prefix is larger (the usual case: a /24 and an attacked address in it). Every covering
 *   resource matches, not only the most specific: an address belongs to both a provider and its customer;
 * - `covered_by`: the network is larger (carpet bombing of a /16 concerns every team with a part of it);
 * - `origin_asn`: the network matches an announcement of the same team, in one of the three ways, whose origin is this
 *   ASN. An ASN alone never matches another team's announcement.
 *
 * The order is the same as in the API: by team, then exact, covers with the most specific first, covered_by,
 * origin_asn.
 */
export function matchNetworks(networks: readonly Prefix[], ownership: Ownership): Match[] {
  const matches = new Map<string, Match>()
  const add = (match: Match) => {
    const key = `${match.teamId} ${match.resource} ${match.resourceId} ${match.type}`
    if (!matches.has(key)) matches.set(key, match)
  }
  const asns: Match[] = []
  const addHolding = (holding: Holding, type: MatchType) => {
    add(matchOf(holding, type))
    const asn = asnMatch(holding, ownership)
    if (asn) asns.push(asn)
  }
  for (const network of networks) {
    ownership.holdings.forEachCovering(network, (holding) =>
      addHolding(holding, holding.prefix === network ? 'exact' : 'covers'),
    )
  }
  for (const network of networks) {
    for (const holding of ownership.holdings.coveredBy(network, insideMax)) {
      if (holding.prefix !== network) addHolding(holding, 'covered_by')
    }
  }
  asns.forEach(add)
  return [...matches.values()].toSorted((a, b) => a.teamId - b.teamId || rank[a.type] - rank[b.type])
}

const rank: Readonly<Record<MatchType, number>> = {
  exact: 0,
  covers: 1,
  covered_by: 2,
  origin_asn: 3,
  source_resource: 4,
}

const links: Readonly<Record<Holding['resource'], string>> = {
  announcement: '/v3/ipam/announcements/',
  prefix: '/v3/inventory/prefixes/',
}

function matchOf(holding: Holding, type: MatchType): Match {
  return {
    teamId: holding.teamId,
    resource: holding.resource,
    resourceId: holding.id,
    type,
    value: holding.prefix,
    name: holding.name || holding.prefix,
    link: `${links[holding.resource]}${holding.id}`,
    location: holding.location,
  }
}

function asnMatch(holding: Holding, ownership: Ownership): Match | undefined {
  const asn = holding.originAsn === null ? undefined : ownership.findAsn(holding.teamId, holding.originAsn)
  if (!asn) return undefined
  return {
    teamId: asn.teamId,
    resource: 'asn',
    resourceId: asn.id,
    type: 'origin_asn',
    value: String(asn.asn),
    name: asn.name || `AS${asn.asn}`,
    link: `/v3/inventory/asns/${asn.asn}`,
    location: null,
  }
}
