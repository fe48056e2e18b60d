// DNS zones: the operations on whole zones. Record sets, settings, import, history, DNSSEC and reverse DNS have files of their own.
import { Type, type Static } from 'typebox'
import { StateMessage } from '../reason/state-message.ts'
import { DnssecKey } from './dnssec.ts'
import { NewRecordSet, OtherZones, RecordSet } from './recordset.ts'
import {
  dnsAdmin,
  dnsReading,
  dnssecAlgorithms,
  dnssecStates,
  DomainNameText,
  recordSetsAtOnce,
  Serial,
  ZoneInPath,
} from './term.ts'
import { route } from '../route.ts'
import {
  Component,
  Enumeration,
  Id,
  Include,
  Limit,
  Nullable,
  NullableTime,
  Offset,
  Optional,
  Ordering,
  Page,
  Repeatable,
  Strict,
  Time,
} from '../scalar.ts'

export const zoneKinds = ['primary', 'secondary'] as const
export type ZoneKind = (typeof zoneKinds)[number]

/** Observed: whether the name servers answer with the newest version. */
export const zoneStatuses = ['ok', 'updating', 'error', 'pending_verification'] as const
export type ZoneStatus = (typeof zoneStatuses)[number]

export const delegationStatuses = [
  'unknown',
  'delegated',
  'partial',
  'elsewhere',
  'absent',
  'unavailable',
] as const
export type DelegationStatus = (typeof delegationStatuses)[number]

export const serverZoneStates = ['serving', 'behind', 'absent', 'failing', 'unreachable'] as const
export type ServerZoneState = (typeof serverZoneStates)[number]

const zoneIncludes = ['servers', 'state_messages', 'details'] as const

export const ZoneServer = Component('ZoneServer', {
  name: Type.String({ description: 'name of the name server' }),
  region: Type.String({ description: 'where it is; empty if the provider has not set it' }),
  serial: Nullable({
    ...Serial,
    description: 'the serial that it answered last; null if it does not serve the zone',
  }),
  state: {
    ...Enumeration('ZoneServerState', serverZoneStates),
    description:
      '`serving`: it has the published serial; `behind`: an older one; `absent`: it does not serve the zone; `failing`: it ' +
      'answers SERVFAIL; `unreachable`: it does not answer',
  },
  since: {
    ...NullableTime,
    description: 'since when it is in this state; for `serving`, since when it has this serial',
  },
  checked: {
    ...NullableTime,
    description: 'when it was last seen to answer otherwise than before; null if it never was',
  },
})
export type ZoneServer = Static<typeof ZoneServer>

export const Primary = Component('ZonePrimary', {
  address: Type.String({ minLength: 2, maxLength: 45, description: 'IP address of the primary server' }),
  port: Optional(
    Type.Integer({ minimum: 1, maximum: 65_535, default: 53, description: 'port, 53 by default' }),
  ),
})
export type Primary = Static<typeof Primary>

const ZoneDetails = Component('ZoneDetails', {
  version: Type.Integer({
    minimum: 0,
    description:
      'number of the newest version in the history; 0 before the first transfer of a secondary zone',
  }),
  published_version: Type.Integer({
    minimum: 0,
    description: 'the version that is published; 0 before the first one',
  }),
  recordset_count: Type.Integer({ minimum: 0, description: 'number of record sets' }),
  reverse: Type.Boolean({ description: 'a zone of reverse DNS, under in-addr.arpa or ip6.arpa' }),
  generated: Type.Boolean({ description: 'created by Pharos for a prefix of the team' }),
  primaries: Type.Array(Primary, { description: 'servers from which a secondary zone is transferred' }),
  tsig_key_id: Nullable({ ...Id, description: 'key of these transfers; null for none' }),
  deleted: { ...NullableTime, description: 'when it was deleted; null if it is not' },
})

export const Zone = Component('Zone', {
  id: { ...Id, description: 'id of the zone' },
  name: Type.String({ description: 'in lower case and A-labels, without the trailing dot: `example.com`' }),
  kind: {
    ...Enumeration('ZoneKind', zoneKinds),
    description: '`primary`: edited here; `secondary`: transferred from other servers',
  },
  status: {
    ...Enumeration('ZoneStatus', zoneStatuses),
    description:
      'the worst of publication, name servers, delegation and DNSSEC. `ok`: all name servers serve the newest version; `updating`: not yet ' +
      'all; `error`: a server fails or refuses the zone, the zone cannot be published, DNSSEC has failed, or the parent no longer ' +
      'delegates to the zone; `pending_verification`: another customer has the name, and the zone is not served. Of a deleted zone: ' +
      '`ok`: no longer served; `updating`: leaves the name servers; `error`: it is served until the provider has approved it',
  },
  serial: Nullable({
    ...Serial,
    description: 'serial of the published SOA record; null before the first publication',
  }),
  record_count: Type.Integer({ minimum: 0, description: 'number of records, without signatures' }),
  dnssec: { ...Enumeration('DnssecState', dnssecStates), description: 'state of DNSSEC' },
  nameservers: Component('ZoneNameservers', {
    assigned: Type.Array(Type.String(), {
      description: 'names in the NS records of the zone, to enter at the registrar',
    }),
    delegated: Type.Array(Type.String(), {
      description: 'names in the NS records of the parent zone, as last seen',
    }),
    delegation_status: {
      ...Enumeration('DelegationStatus', delegationStatuses),
      description:
        '`delegated`: the parent names exactly the assigned servers; `partial`: some of them, or others as well; `elsewhere`: ' +
        'only others; `absent`: no delegation; `unavailable`: the servers of the parent did not answer; `unknown`: not checked yet',
    },
    delegation_last_check: {
      ...NullableTime,
      description: 'when the servers of the parent were last queried',
    },
  }),
  created: { ...Time, description: 'when the zone was created' },
  touched: { ...Time, description: 'when a record set or a setting was last changed' },
  published: { ...NullableTime, description: 'when the serial was published; null before' },
  servers: Optional(
    Type.Array(ZoneServer, {
      description: 'with `include=servers`: what each name server was last seen to serve',
    }),
  ),
  state_messages: Optional(
    Type.Array(StateMessage, {
      description:
        'with `include=state_messages`: the reasons for a status other than `ok`, the worst first, and hints about the delegation',
    }),
  ),
  details: Optional({ ...ZoneDetails, description: 'with `include=details`' }),
})
export type Zone = Static<typeof Zone>

const zoneOrderings = ['id', 'name', 'created', 'touched', 'published', 'record_count', 'status'] as const

export const listZonesRoute = route({
  name: 'listZones',
  group: 'DNS',
  method: 'GET',
  path: '/v3/dns/zones',
  summary: 'List Zones',
  description:
    "The team's zones, without their records. Ordering by `name` is canonical (RFC 4034 section 6.1): a zone is followed by those " +
    'below it. `owns_qname` returns at most one zone, the closest one that contains the name, as clients of ACME need it. Values of a ' +
    'repeated filter are combined with or, different filters with and.',
  permission: { ...dnsReading, limitedBy: 'zone' },
  query: Strict({
    name: Optional(Repeatable(DomainNameText('name of a zone'))),
    search: Optional(
      Type.String({ minLength: 1, maxLength: 253, description: 'contained in the name, case-insensitive' }),
    ),
    kind: Optional(Repeatable({ ...Enumeration('ZoneKind', zoneKinds), description: 'kind of the zone' })),
    dnssec: Optional(
      Repeatable({ ...Enumeration('DnssecState', dnssecStates), description: 'state of DNSSEC' }),
    ),
    status: Optional(
      Repeatable({ ...Enumeration('ZoneStatus', zoneStatuses), description: 'observed status' }),
    ),
    reverse: Optional(Type.Boolean({ description: 'true: only zones of reverse DNS; false: only others' })),
    owns_qname: Optional(DomainNameText('only the zone that is responsible for this name')),
    deleted: Optional(Type.Boolean({ description: 'true: only deleted zones that can be restored' })),
    include: Optional(Include('ZoneInclude', zoneIncludes)),
    ordering: Ordering(zoneOrderings, 'name'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(Zone),
  success: 200,
})

export const getZoneRoute = route({
  name: 'getZone',
  group: 'DNS',
  method: 'GET',
  path: '/v3/dns/zones/{zone}',
  summary: 'Get Zone',
  description:
    'Returns one zone of the team, without its records. A deleted zone is 404, by id and by name; `deleted=true` returns it for the seven days in which it can be restored.',
  permission: { ...dnsReading, limitedBy: 'zone' },
  params: Strict({ zone: ZoneInPath }),
  query: Strict({
    include: Optional(Include('ZoneInclude', zoneIncludes)),
    deleted: Type.Boolean({
      default: false,
      description: 'true: only a deleted zone; by name the one that was deleted last',
    }),
  }),
  response: Zone,
  success: 200,
  conditional: true,
})

export const CreatedZone = Component('CreatedZone', {
  ...Zone.properties,
  keys: Type.Array(DnssecKey, {
    description:
      'the keys of DNSSEC with their DS records, for the registrar once the zone is signed; empty without DNSSEC and in a dry run',
  }),
  other_zones: OtherZones,
  copied: Type.Array(RecordSet, {
    description:
      'record sets of the new zone that are copies of a wildcard in the zone above, which answered for these names until now',
  }),
})
export type CreatedZone = Static<typeof CreatedZone>

export const createZoneRoute = route({
  name: 'createZone',
  group: 'DNS',
  method: 'POST',
  path: '/v3/dns/zones',
  summary: 'Create Zone',
  description:
    'Creates a zone with its SOA and NS records and, if given, further record sets, in one step. It is published at once, ' +
    'signed unless `dnssec` is false; resolvers find it once the parent delegates to `nameservers.assigned`. A name in Unicode ' +
    'is converted to A-labels. A public suffix is rejected. 409 `zone_claimed`: another customer has the name, a zone above or ' +
    'one below it, and the team has not verified the domain (addDomain; `ctx` has the TXT record to create). With the domain ' +
    'verified, a zone above or below does not matter, and a zone whose very name another customer has is created with the ' +
    'status `pending_verification`: it can be edited, and is served once the provider has cleared the name. Zones of reverse ' +
    'DNS need a prefix or an announcement of the team that contains them, and no verification. A zone of the team above delegates to ' +
    'the new zone from then on, and its record sets at and below the name move into it (`other_zones`), as do copies of a wildcard that answered for it (`copied`); 409 `conflict` names those ' +
    'that cannot. Zones of the team below are delegated from the new zone.',
  permission: dnsAdmin,
  query: Strict({ include: Optional(Include('ZoneInclude', zoneIncludes)) }),
  body: Component('NewZone', {
    name: DomainNameText('such as `example.com`, in Unicode or A-labels, with or without the trailing dot'),
    kind: Optional({
      ...Enumeration('ZoneKind', zoneKinds),
      description: 'kind of the zone',
    }),
    primaries: Optional(
      Type.Array(Primary, {
        minItems: 1,
        maxItems: 8,
        description:
          'servers from which a secondary zone is transferred; required for this kind, and only for it',
      }),
    ),
    tsig_key: Optional(
      DomainNameText('name of the TSIG key of these transfers, one of the provider or of the team'),
    ),
    ttl: Optional(
      Type.Integer({
        minimum: 60,
        maximum: 86_400,
        description: 'default TTL of the zone in seconds; by default that of the provider',
      }),
    ),
    dnssec: Optional(Type.Boolean({ default: true, description: 'sign the zone; not for secondary zones' })),
    algorithm: Optional({
      ...Enumeration('DnssecAlgorithm', dnssecAlgorithms),
      description: 'algorithm of the key; ECDSAP256SHA256 by default',
    }),
    nameservers: Optional(
      Type.Array(DomainNameText('name of a name server'), {
        minItems: 1,
        maxItems: 13,
        description: 'names for the NS records, if not those of the provider',
      }),
    ),
    recordsets: Optional(
      Type.Array(NewRecordSet, {
        maxItems: recordSetsAtOnce,
        description: 'further record sets of the zone',
      }),
    ),
  }),
  response: CreatedZone,
  success: 201,
  creates: getZoneRoute,
  errors: ['forbidden', 'zone_claimed', 'exists', 'conflict', 'quota_exceeded'],
  dryRun: true,
  conditional: true,
})

export const deleteZoneRoute = route({
  name: 'deleteZone',
  group: 'DNS',
  method: 'DELETE',
  path: '/v3/dns/zones/{zone}',
  summary: 'Delete Zone',
  description:
    'Deletes a zone with its records: the name servers stop answering for it within seconds. `confirm` must be the name of the ' +
    'zone. 409 `delegated` while the parent still delegates to the assigned name servers, since resolvers would then fail; ' +
    '`force=true` deletes it nevertheless, and also if zones of the team below are delegated from it alone. The delegation in a zone of the team above is removed. 409 `delete_protected` if `protect_delete` of the settings is true. It can be restored for ' +
    'seven days (restoreZone), with the same keys of DNSSEC.',
  permission: { ...dnsAdmin, limitedBy: 'whole_zone' },
  params: Strict({ zone: ZoneInPath }),
  query: Strict({
    confirm: DomainNameText('the name of the zone, with or without the trailing dot'),
    force: Type.Boolean({ default: false, description: 'also while the parent delegates to the zone' }),
  }),
  success: 204,
  errors: ['forbidden', 'delegated', 'delete_protected'],
  dryRun: true,
  conditional: true,
})

export const restoreZoneRoute = route({
  name: 'restoreZone',
  group: 'DNS',
  method: 'POST',
  path: '/v3/dns/zones/{zone}/restore',
  summary: 'Restore Zone',
  description:
    'Restores a zone that was deleted in the last seven days, with its records, settings, keys and history. `{zone}` is its id; ' +
    '`deleted=true` of listZones shows it. A zone that is not deleted is not changed. 409 `zone_claimed` if another customer has ' +
    'the name meanwhile, 409 `exists` if the team has created it again, 409 `conflict` if names of a zone above cannot move into it.',
  permission: { ...dnsAdmin, limitedBy: 'whole_zone' },
  params: Strict({ zone: ZoneInPath }),
  query: Strict({ include: Optional(Include('ZoneInclude', zoneIncludes)) }),
  response: Zone,
  success: 200,
  errors: ['forbidden', 'zone_claimed', 'exists', 'conflict', 'quota_exceeded'],
  dryRun: true,
  conditional: true,
  ifMatch: true,
})

export const zoneRoutes = [listZonesRoute, createZoneRoute, getZoneRoute, deleteZoneRoute, restoreZoneRoute]
