// The resources to which an API token or a TSIG key is limited: zones with names and types, prefixes, ports and services. A limit closes
// everything that it does not name: an operation is open to a limited token only if its permission says by what it is limited.
import { Type, type Static } from 'typebox'
import { Component, Id, Optional } from './scalar.ts'
import type { Scope } from './scope.ts'
import { Line } from './text.ts'

/**
 * The kind of resource that limits an operation. `whole_zone`: a zone without `names` and `types`; `nothing`: the operation is about no resource, such as the
 * description of the credential.
 */
export const limitKinds = ['zone', 'whole_zone', 'prefix', 'port', 'service', 'nothing'] as const
export type LimitKind = (typeof limitKinds)[number]

const limitZonesMax = 100
const limitPrefixesMax = 100
const limitIdsMax = 1000
const namesMax = 100
const typesMax = 30

export const ZoneResource = Component('ZoneResource', {
  zone: Line({
    minLength: 1,
    maxLength: 1020,
    description: 'name or id of a zone of the team; answers have the name',
  }),
  names: Optional(
    Type.Array(Line({ minLength: 1, maxLength: 1020 }), {
      minItems: 1,
      maxItems: namesMax,
      uniqueItems: true,
      description:
        'names relative to the zone, `@` for the zone itself: `_acme-challenge` only this name, `*.dyn` all below `dyn`, `_acme-challenge.*` ' +
        'all whose first label it is. `\\*` is a wildcard record. Left out: all names',
    }),
  ),
  types: Optional(
    Type.Array(Line({ minLength: 1, maxLength: 20 }), {
      minItems: 1,
      maxItems: typesMax,
      uniqueItems: true,
      description: 'types of record sets, such as `TXT`. Left out: all types',
    }),
  ),
})
export type ZoneResource = Static<typeof ZoneResource>

const ids = (noun: string) =>
  Optional(
    Type.Array(Id, { maxItems: limitIdsMax, uniqueItems: true, description: `ids of ${noun} of the team` }),
  )

export const Resources = Component('Resources', {
  zones: Optional(Type.Array(ZoneResource, { maxItems: limitZonesMax })),
  prefixes: Optional(
    Type.Array(Line({ minLength: 1, maxLength: 100 }), {
      maxItems: limitPrefixesMax,
      description:
        'prefixes of the team, or parts of them, as CIDR: announcements, letters and PTR records within them',
    }),
  ),
  ports: ids('ports'),
  services: ids('services'),
})
export type Resources = Static<typeof Resources>

/** Resources of a TSIG key. */
export const ZoneResources = Component('ZoneResources', {
  zones: Type.Array(ZoneResource, { minItems: 1, maxItems: limitZonesMax }),
})
export type ZoneResources = Static<typeof ZoneResources>

/** The resources of which a limited token needs one to use a scope; an empty list closes the scope to limited tokens. */
export const resourcesOfScope: Readonly<Record<Scope, readonly (keyof Resources)[]>> = {
  'ipam:read': ['prefixes'],
  'ipam:write': ['prefixes'],
  'dns:read': ['zones', 'prefixes'],
  'dns:write': ['zones', 'prefixes'],
  'inventory:read': ['prefixes', 'ports', 'services'],
  'lighthouse:read': [],
  'lighthouse:write': [],
  'shield:read': [],
  'shield:write': [],
  'alerts:read': [],
  'alerts:write': [],
  'team:read': [],
  'team:write': [],
  'webhooks:read': [],
  'webhooks:write': [],
  'audit:read': [],
}

/** Returns the resources as one line for people, such as `zone example.com (_acme-challenge; TXT), port 12`. */
export function describeResources({
  zones = [],
  prefixes = [],
  ports = [],
  services = [],
}: Resources): string {
  const parts = [
    ...zones.map(
      ({ zone, names, types }) =>
        `zone ${zone}${names || types ? ` (${[names?.join(', '), types?.join(', ')].filter(Boolean).join('; ')})` : ''}`,
    ),
    ...prefixes,
    ...ports.map((id) => `port ${id}`),
    ...services.map((id) => `service ${id}`),
  ]
  return parts.length === 0 ? 'nothing' : parts.join(', ')
}
