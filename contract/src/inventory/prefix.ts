// The prefixes that the provider has assigned to a team. Attacks on them are the team's security events.
import { Type, type Static } from 'typebox'
import { route } from '../route.ts'
import {
  Component,
  Enumeration,
  Id,
  Limit,
  LocationReference,
  Nullable,
  Offset,
  Optional,
  Ordering,
  Page,
  Repeatable,
  Strict,
  Time,
} from '../scalar.ts'

export const Prefix = Component('Prefix', {
  id: { ...Id, description: 'id of the prefix' },
  cidr: Type.String({ description: 'such as 203.0.113.0/24; IPv6 as in RFC 5952' }),
  prefix: Type.String({ description: 'the address of `cidr`' }),
  prefixlen: Type.Integer({ minimum: 0, maximum: 128, description: 'length of the prefix' }),
  name: Type.String({ description: 'name for people; empty if it has none' }),
  location: Nullable({ ...LocationReference, description: 'where it is used; null if it has no place' }),
  created: { ...Time, description: 'when it was assigned' },
})
export type Prefix = Static<typeof Prefix>

// No module: links of security events lead here, and every team with events follows them.
const inventory = { credential: 'any', scope: 'inventory:read', grant: 'inventory.see' } as const

const prefixOrderings = ['id', 'cidr', 'name', 'created'] as const

export const listPrefixesRoute = route({
  name: 'listPrefixes',
  group: 'Inventory',
  method: 'GET',
  path: '/v3/inventory/prefixes',
  summary: 'List prefixes',
  description:
    'The prefixes that the provider has assigned to the team; prefixes that the team announces itself are ' +
    'announcements. `cidr` takes an address or a CIDR and selects overlapping prefixes. Ordering by `cidr` is numeric, ' +
    'IPv4 before IPv6.',
  permission: { ...inventory, limitedBy: 'prefix' },
  query: Strict({
    cidr: Optional(
      Repeatable(
        Type.String({
          minLength: 1,
          maxLength: 64,
          description: 'an address or a CIDR: overlapping prefixes',
        }),
      ),
    ),
    family: Optional({ ...Enumeration('IpVersion', ['4', '6']), description: 'IP version of the prefix' }),
    name: Optional(Type.String({ minLength: 1, maxLength: 200, description: 'contained, case-insensitive' })),
    location: Optional(
      Repeatable(Type.String({ minLength: 1, maxLength: 100, description: 'key of a location' })),
    ),
    ordering: Ordering(prefixOrderings, 'cidr'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(Prefix),
  success: 200,
})

export const getPrefixRoute = route({
  name: 'getPrefix',
  group: 'Inventory',
  method: 'GET',
  path: '/v3/inventory/prefixes/{prefix_id}',
  summary: 'Get prefix',
  description: 'Returns one prefix of the team.',
  permission: { ...inventory, limitedBy: 'prefix' },
  params: Strict({ prefix_id: Id }),
  response: Prefix,
  success: 200,
  conditional: true,
})

export const prefixRoutes = [listPrefixesRoute, getPrefixRoute]
