// Search over everything that the caller may list: one query, hits of several kinds.
import { Type, type Static } from 'typebox'
import { route } from './route.ts'
import { Component, Enumeration, Nullable, Optional, Repeatable, Strict, TeamReference } from './scalar.ts'

/** The kinds of hits, in the order in which equally good hits are shown. */
export const searchKinds = [
  'announcement',
  'prefix',
  'asn',
  'incident',
  'event',
  'shield_list',
  'zone',
  'service',
  'device',
  'port',
  'member',
  'webhook',
  'token',
  'team',
] as const
export type SearchKind = (typeof searchKinds)[number]

/** How a hit matches, the best first. */
export const searchMatches = ['exact', 'related', 'starts', 'contains'] as const

/** The most hits of one answer. */
const searchLimitMax = 100
const searchTextMax = 100

export const SearchHit = Component('SearchHit', {
  kind: { ...Enumeration('SearchKind', searchKinds), description: 'kind of the object' },
  id: Type.String({ description: 'id of the object; for an ASN, its number' }),
  title: Type.String({ description: 'the prefix, `AS64496`, name or e-mail address' }),
  subtitle: Type.String({ description: 'what tells it apart from others with this title; may be empty' }),
  state: Nullable(Type.String({ description: 'its state, as in its own answer; null if it has none' })),
  match: {
    ...Enumeration('SearchMatch', searchMatches),
    description:
      '`exact`: it is what was searched for; `related`: it covers the address or prefix, is inside it, or has the ' +
      'ASN as its origin; `starts`, `contains`: its text does',
  },
  url: Nullable(
    Type.String({
      description:
        'path of a GET that the caller may call; null for an object of another team, found by staff',
    }),
  ),
  team: Nullable(TeamReference),
})
export type SearchHit = Static<typeof SearchHit>

export const SearchAnswer = Component('SearchAnswer', {
  results: Type.Array(SearchHit, { description: 'best match first, then by kind' }),
  truncated: Type.Array(Enumeration('SearchKind', searchKinds), {
    description: 'kinds of which there are more hits than shown',
  }),
})
export type SearchAnswer = Static<typeof SearchAnswer>

export const searchRoute = route({
  name: 'search',
  group: 'Search',
  method: 'GET',
  path: '/v3/search',
  summary: 'Search',
  description:
    'Finds what the caller can list in the team: announcements, prefixes, ASNs, incidents, security events, DNS zones, services, devices, ports, members, ' +
    'and for admins webhooks and API tokens; also the teams of the user. A kind whose module, scope or role the ' +
    'caller lacks is left out. An address or a CIDR finds what covers it and what is inside it, `AS64496` or ' +
    '`64496` the ASN and the announcements with this origin, other text names and descriptions. Each kind has at ' +
    'most a fifth of `limit`, so that no kind hides the others, unless `kind` selects one. Staff also find the ' +
    'teams, prefixes and announcements of all customers; `team` is null for those of the current team.',
  permission: { credential: 'any' },
  query: Strict({
    q: Type.String({
      minLength: 2,
      maxLength: searchTextMax,
      description: 'an address, a CIDR, an ASN, the start of the id of an event, or text, case-insensitive',
    }),
    kind: Optional(
      Repeatable({ ...Enumeration('SearchKind', searchKinds), description: 'a kind of objects' }),
    ),
    limit: Type.Integer({
      minimum: 1,
      maximum: searchLimitMax,
      default: 25,
      description: 'the most hits',
    }),
  }),
  response: SearchAnswer,
  success: 200,
})

export const searchRoutes = [searchRoute]
