// Record sets of a zone: read, create, replace and delete one, or change many in one step.
import { Type, type Static } from 'typebox'
import { dnsReading, dnsWriting, DomainNameText, recordSetsAtOnce, Ttl, ZoneInPath } from './term.ts'
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
import { Line } from '../text.ts'

/** The author of a record set. */
export const recordSetSources = ['user', 'generated', 'system'] as const
export type RecordSetSource = (typeof recordSetSources)[number]

/** Most records of one set; together they must also fit into a message of 64 kB. */
const recordsPerSet = 4096

const types =
  'a type such as A, AAAA, ALIAS, CNAME, MX, TXT, SRV, CAA, HTTPS or TLSA, or TYPE and a number (RFC 3597); case-insensitive'

/** States of the target of an ALIAS record. `failing`: the last attempt brought no addresses. */
const aliasStatuses = ['pending', 'ok', 'failing'] as const

const aliasFields = {
  status: {
    ...Enumeration('RecordSetAliasStatus', aliasStatuses),
    description:
      '`pending`: not resolved yet; `ok`; `failing`: the last attempt brought no addresses, and those before stay published',
  },
  addresses: Type.Array(Type.String(), {
    description: 'the addresses of the target that are published as A and AAAA records',
  }),
  resolved: { ...NullableTime, description: 'when the target last had addresses' },
  checked: { ...NullableTime, description: 'when it was last asked for' },
  message: Nullable(
    Type.String({ description: 'why the last attempt failed, as a sentence; null if it did not' }),
  ),
}

const RecordSetAlias = Component('RecordSetAlias', aliasFields, {
  description: 'with `include=alias`, of ALIAS records: what is published in their place',
})

const recordSetWarnings = {
  ptr_outside_limit: (address: string) =>
    `The PTR record of ${address} was not written: the credential is limited to other resources.`,
} as const
type RecordSetWarningCode = keyof typeof recordSetWarnings

const RecordSetWarning = Component('RecordSetWarning', {
  code: {
    ...Enumeration(
      'RecordSetWarningCode',
      Object.keys(recordSetWarnings) as [RecordSetWarningCode, ...RecordSetWarningCode[]],
    ),
    description:
      '`ptr_outside_limit`: a PTR record that only `auto_ptr` of the zone asks for, outside of the limit of the token',
  },
  message: Line({ maxLength: 500, description: 'the warning as a sentence' }),
  address: Type.String({ description: 'the address of the PTR record' }),
})

/** Returns the warnings that the PTR records of these addresses were left out. */
export const ptrWarnings = (addresses: readonly string[]): Static<typeof RecordSetWarning>[] =>
  addresses.map((address) => ({
    code: 'ptr_outside_limit',
    message: recordSetWarnings.ptr_outside_limit(address),
    address,
  }))

const warnings = Optional(
  Type.Array(RecordSetWarning, {
    description: 'in the answer to a change, if a part of it that was not asked for was left out',
  }),
)

export const RecordSet = Component('RecordSet', {
  id: Type.String({ description: '`name` and `type`: `www/A`' }),
  zone_id: { ...Id, description: 'id of the zone' },
  name: Type.String({ description: 'relative to the zone: `www`; `@` for the zone itself' }),
  fqdn: Type.String({ description: 'the whole name with the trailing dot: `www.example.com.`' }),
  type: Type.String({ description: 'such as `A`' }),
  ttl: { ...Ttl, description: 'time to live in seconds' },
  records: Type.Array(Type.String(), {
    description:
      'the records in presentation format, in their canonical form and order: `10 mx1.example.com.`',
  }),
  comment: Type.String({ description: 'text of the team; not published' }),
  managed: Type.Boolean({
    description: 'written by Pharos, and not to be changed: SOA, and NS of the zone itself',
  }),
  created: { ...Time, description: 'when the record set was created' },
  touched: { ...Time, description: 'when it was last changed' },
  source: Optional({
    ...Enumeration('RecordSetSource', recordSetSources),
    description:
      'with `include=source`: `user`; `generated`: from a template of reverse DNS; `system`: by Pharos',
  }),
  alias: Optional(RecordSetAlias),
  warnings,
})
export type RecordSet = Static<typeof RecordSet>
export type RecordSetAlias = Static<typeof RecordSetAlias>

const Records = (minItems: number) =>
  Type.Array(Type.String({ minLength: 0, maxLength: 262_144 }), {
    minItems,
    maxItems: recordsPerSet,
    description:
      'records in presentation format. Names need the trailing dot, unless they have one label only, which is relative to the ' +
      'zone; texts without quotes are quoted, and split after 255 octets',
  })

const Comment = Line({ maxLength: 500, description: 'text of the team; not published' })
const OfPtr = Type.Boolean({
  description: 'for A and AAAA: also write the PTR records of the addresses, which must be those of the team',
})

const newRecordSet = {
  name: DomainNameText(
    'relative to the zone, or the whole name with the trailing dot; `@` for the zone itself',
  ),
  type: Type.String({ minLength: 1, maxLength: 20, description: types }),
  ttl: Optional({ ...Ttl, description: 'seconds; the default TTL of the zone if missing' }),
}

export const NewRecordSet = Component('NewRecordSet', {
  ...newRecordSet,
  records: Records(1),
  comment: Optional(Comment),
  ptr: Optional(OfPtr),
})
export type NewRecordSet = Static<typeof NewRecordSet>

const inZone = Strict({ zone: ZoneInPath })
const oneRecordSet = Strict({
  zone: ZoneInPath,
  name: DomainNameText('name of the record set: relative to the zone, with the trailing dot, or `@`'),
  type: Type.String({ minLength: 1, maxLength: 20, description: types }),
})

export const listRecordSetsRoute = route({
  name: 'listRecordSets',
  group: 'DNS',
  method: 'GET',
  path: '/v3/dns/zones/{zone}/recordsets',
  summary: 'List Recordsets',
  description:
    'The record sets of a zone in canonical order (RFC 4034 section 6.1), so that two lists can be compared line by line. Values of a ' +
    'repeated filter are combined with or, different filters with and. Without a filter, a page is found equally fast at any ' +
    '`offset`.',
  permission: { ...dnsReading, limitedBy: 'zone' },
  params: inZone,
  query: Strict({
    name: Optional(Repeatable(DomainNameText('name of a record set, as in a path'))),
    type: Optional(Repeatable(Type.String({ minLength: 1, maxLength: 20, description: types }))),
    content: Optional(
      Type.String({ minLength: 1, maxLength: 1000, description: 'contained in a record, case-insensitive' }),
    ),
    search: Optional(
      Type.String({
        minLength: 1,
        maxLength: 1000,
        description: 'contained in the name, a record or the comment, case-insensitive',
      }),
    ),
    managed: Optional(Type.Boolean({ description: 'whether it is written by Pharos' })),
    include: Optional(Include('RecordSetInclude', ['source', 'alias'])),
    ordering: Ordering(['name', 'type', 'touched', 'ttl'], 'name'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(RecordSet),
  success: 200,
})

export const getRecordSetRoute = route({
  name: 'getRecordSet',
  group: 'DNS',
  method: 'GET',
  path: '/v3/dns/zones/{zone}/recordsets/{name}/{type}',
  summary: 'Get RecordSet',
  description: 'Returns one record set. `@` is the zone itself.',
  permission: { ...dnsReading, limitedBy: 'zone' },
  params: oneRecordSet,
  query: Strict({ include: Optional(Include('RecordSetInclude', ['source', 'alias'])) }),
  response: RecordSet,
  success: 200,
  conditional: true,
})

const recordSetRules =
  'A CNAME record is alone at its name; nothing is stored below a DNAME record. A name with several labels and no trailing dot is ' +
  'rejected with a suggestion, since it would be relative to the zone. The zone is published at once; its `status` tells when all name servers have it.'

export const createRecordSetsRoute = route({
  name: 'createRecordSets',
  group: 'DNS',
  method: 'POST',
  path: '/v3/dns/zones/{zone}/recordsets',
  summary: 'Create RecordSet',
  description:
    `Creates a record set, or up to ${recordSetsAtOnce} of them in a list, all or none; the answer has the same form. 409 \`exists\` if there is one with the name and type: ` +
    `replace it with updateRecordSet. ${recordSetRules} With \`ptr\`, the PTR records of the addresses are written in the same step.`,
  permission: { ...dnsWriting, limitedBy: 'zone' },
  params: inZone,
  body: Type.Union([
    NewRecordSet,
    Type.Array(NewRecordSet, { minItems: 1, maxItems: recordSetsAtOnce, title: 'NewRecordSets' }),
  ]),
  response: Type.Union([RecordSet, Page(RecordSet)]),
  success: 201,
  creates: getRecordSetRoute,
  errors: ['exists', 'managed', 'conflict', 'quota_exceeded'],
  dryRun: true,
})

const { zone_id, name, type, managed, created, touched, source } = RecordSet.properties
/** Accepted so that an answer can be changed and sent back; the path or Pharos sets these fields. */
const answered = {
  id: Optional(Line({ maxLength: 1_100, description: 'as in the answer; must be that of the path' })),
  zone_id: Optional({ ...zone_id, description: 'as in the answer; not changed' }),
  name: Optional({ ...name, description: 'as in the answer; not changed' }),
  fqdn: Optional(Line({ maxLength: 1_100, description: 'as in the answer; not changed' })),
  type: Optional({ ...type, description: 'as in the answer; not changed' }),
  managed: Optional({ ...managed, description: 'as in the answer; not changed' }),
  created: Optional({ ...created, description: 'as in the answer; not changed' }),
  touched: Optional({ ...touched, description: 'as in the answer; not changed' }),
  source,
  warnings,
}

export const updateRecordSetRoute = route({
  name: 'updateRecordSet',
  group: 'DNS',
  method: 'PUT',
  path: '/v3/dns/zones/{zone}/recordsets/{name}/{type}',
  summary: 'Update RecordSet',
  description:
    'Replaces a record set, or creates it (201). With `add` and `remove` instead of `records`, single records are added and ' +
    'removed; one that is there already, or missing, is no error. The same records in another order or spelling change nothing: ' +
    'neither the serial nor the history. An answer of getRecordSet can be sent back. ' +
    '`If-None-Match: *` only creates (412 if it exists). An empty list of records is rejected: use deleteRecordSet. ' +
    recordSetRules,
  permission: { ...dnsWriting, limitedBy: 'zone' },
  params: oneRecordSet,
  body: Component('RecordSetUpdate', {
    ttl: Optional({
      ...Ttl,
      description: 'seconds; unchanged if missing, the default TTL of the zone for a new set',
    }),
    records: Optional(Records(0)),
    add: Optional({ ...Records(1), description: 'records to add; instead of `records`' }),
    remove: Optional({ ...Records(1), description: 'records to remove; instead of `records`' }),
    comment: Optional(Comment),
    ptr: Optional(OfPtr),
    ...answered,
  }),
  response: RecordSet,
  success: 200,
  also: { 201: 'the record set was created' },
  creates: getRecordSetRoute,
  errors: ['managed', 'conflict', 'quota_exceeded'],
  dryRun: true,
  conditional: true,
})

export const deleteRecordSetRoute = route({
  name: 'deleteRecordSet',
  group: 'DNS',
  method: 'DELETE',
  path: '/v3/dns/zones/{zone}/recordsets/{name}/{type}',
  summary: 'Delete RecordSet',
  description: 'Deletes a record set. The history of the zone keeps it: rollBackZone restores it.',
  permission: { ...dnsWriting, limitedBy: 'zone' },
  params: oneRecordSet,
  query: Strict({
    ptr: Type.Boolean({
      default: false,
      description: 'for A and AAAA: also delete the PTR records of the addresses that have the name',
    }),
  }),
  success: 204,
  errors: ['managed', 'conflict'],
  dryRun: true,
  conditional: true,
})

const RecordSetChange = Component('RecordSetChange', {
  before: { ...RecordSet, description: 'the record set before the change' },
  after: { ...RecordSet, description: 'the record set after the change' },
})

/** Maximum number of record sets in each list of an answer. */
export const changesShownMax = 1000

const Shown = (description: string) => `${description}; the first ${changesShownMax}`

/** The difference between two versions of a zone, as answers show it. */
export const zoneChanges = {
  added: Type.Array(RecordSet, { description: Shown('new record sets') }),
  changed: Type.Array(RecordSetChange, { description: Shown('changed record sets') }),
  removed: Type.Array(RecordSet, { description: Shown('deleted record sets') }),
  added_count: Type.Integer({ minimum: 0, description: 'number of new record sets' }),
  changed_count: Type.Integer({ minimum: 0, description: 'number of changed record sets' }),
  removed_count: Type.Integer({ minimum: 0, description: 'number of deleted record sets' }),
}

const OtherZoneChanges = Component('OtherZoneChanges', {
  zone_id: { ...Id, description: 'id of the zone' },
  name: Type.String({ description: 'its name, without the trailing dot' }),
  version: Type.Integer({ minimum: 1, description: 'its version after the change' }),
  ...zoneChanges,
})

/** Zones of the team above that change with a zone. */
export const OtherZones = Type.Array(OtherZoneChanges, {
  description:
    'zones of the team above, whose delegations (NS, DS, glue) follow, and whose record sets at and below the name move into the zone',
})

export const ZoneChanges = Component('ZoneChanges', {
  version: Type.Integer({
    minimum: 1,
    description: 'version of the zone after the change; the same as before if nothing changed',
  }),
  ...zoneChanges,
  unchanged_count: Type.Integer({
    minimum: 0,
    description: 'record sets of the request that are as requested already',
  }),
  warnings,
})
export type ZoneChanges = Static<typeof ZoneChanges>

export const changeRecordSetsRoute = route({
  name: 'changeRecordSets',
  group: 'DNS',
  method: 'PATCH',
  path: '/v3/dns/zones/{zone}/recordsets',
  summary: 'Change RecordSets',
  description:
    `Replaces, creates and deletes up to ${recordSetsAtOnce} record sets in one step, all or none: an empty list of records deletes ` +
    'the set. The rules apply to the zone as it is afterwards, so that a CNAME can be replaced by other types in one request. With ' +
    '`dry_run=true` it is a plan: `result` contains what would change. `If-Match` takes the ETag of getZone, and rejects the ' +
    'request if another one changed the zone. ' +
    recordSetRules,
  permission: { ...dnsWriting, limitedBy: 'zone' },
  params: inZone,
  body: Component('RecordSetChanges', {
    recordsets: Type.Array(
      Component('DesiredRecordSet', {
        ...newRecordSet,
        records: Records(0),
        comment: Optional(Comment),
        ptr: Optional(OfPtr),
      }),
      { minItems: 1, maxItems: recordSetsAtOnce, description: 'each name and type once' },
    ),
  }),
  response: ZoneChanges,
  success: 200,
  errors: ['managed', 'conflict', 'quota_exceeded'],
  dryRun: true,
  conditional: true,
})

export const recordSetRoutes = [
  listRecordSetsRoute,
  createRecordSetsRoute,
  changeRecordSetsRoute,
  getRecordSetRoute,
  updateRecordSetRoute,
  deleteRecordSetRoute,
]
