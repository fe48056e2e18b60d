// Reverse DNS: PTR records by address instead of by zone, and templates for whole networks.
import { Type, type Static } from 'typebox'
import { dnsReading, dnsWriting, DomainNameText, Ttl } from './term.ts'
import { recordSetSources } from './recordset.ts'
import { route } from '../route.ts'
import {
  Component,
  Enumeration,
  Id,
  Limit,
  Nullable,
  Offset,
  Optional,
  Ordering,
  Page,
  Strict,
  Time,
} from '../scalar.ts'

/** Most records of one batch: a /20. */
export const ptrRecordsAtOnce = 4096

export const ptrOverwrites = ['never', 'generated', 'always'] as const
export type PtrOverwrite = (typeof ptrOverwrites)[number]

/** The longest network for which each address of a pattern becomes a record, in bits of the host part: 65,536 addresses. */
export const templateBitsMax = 16

const Address = Type.String({ minLength: 2, maxLength: 45, description: 'IP address' })
const Pattern = Type.String({
  minLength: 1,
  maxLength: 253,
  description:
    'a name with `{ip-dashed}` (192-0-2-1; 2001-db8--1), `{ip-full}` (32 digits of an IPv6 address), `{a}` to `{d}` (octets of an ' +
    'IPv4 address) or `{n}` (number of the address in the network, from 0); or without any of these, then the same for all',
})

export const PtrRecord = Component('PtrRecord', {
  ip: { ...Address, description: 'IP address, in its canonical form' },
  ptrdname: Type.String({ description: 'name that the address has, with the trailing dot' }),
  ttl: { ...Ttl, description: 'time to live in seconds' },
  zone: Type.String({ description: 'name of the zone of reverse DNS' }),
  source: {
    ...Enumeration('RecordSetSource', recordSetSources),
    description: '`generated` if a template wrote it',
  },
})
export type PtrRecord = Static<typeof PtrRecord>

export const PtrTemplate = Component('PtrTemplate', {
  id: { ...Id, description: 'id of the template' },
  cidr: Type.String({ description: 'the network' }),
  pattern: { ...Pattern, description: 'the pattern of the names' },
  ttl: Nullable({ ...Ttl, description: 'seconds; null for the default TTL of the zone' }),
  overwrite: {
    ...Enumeration('PtrOverwrite', ptrOverwrites),
    description: 'which existing PTR records it replaces: none, those of templates, or all',
  },
  created: { ...Time, description: 'when it was created' },
  touched: { ...Time, description: 'when it was last changed' },
})
export type PtrTemplate = Static<typeof PtrTemplate>

export const listPtrRecordsRoute = route({
  name: 'listPtrRecords',
  group: 'DNS',
  method: 'GET',
  path: '/v3/dns/ptr',
  summary: 'List PTR Records',
  description:
    'The PTR records of a network of the team, by address. Addresses without a record are left out.',
  permission: { ...dnsReading, limitedBy: 'prefix' },
  query: Strict({
    cidr: Type.String({
      minLength: 2,
      maxLength: 64,
      description: 'an address, or a network inside one prefix of the team',
    }),
    ordering: Ordering(['ip'], 'ip'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(PtrRecord),
  success: 200,
})

const ptrStatuses = ['created', 'updated', 'unchanged', 'deleted'] as const

export const PtrResult = Component('PtrResult', {
  ip: { ...Address, description: 'IP address, in its canonical form' },
  ptrdname: Nullable(Type.String({ description: 'name that the address has now; null for none' })),
  previous: Nullable(Type.String({ description: 'name that it had before; null for none' })),
  status: { ...Enumeration('PtrStatus', ptrStatuses), description: 'what happened to the record' },
  zone: Type.String({ description: 'name of the zone of reverse DNS' }),
  forward_ok: Nullable(
    Type.Boolean({
      description:
        'with `check_forward`: whether the name has the address, in the zones of the team or else in the public DNS; null if it was ' +
        'not checked or could not be found out',
    }),
  ),
})
export type PtrResult = Static<typeof PtrResult>

export const updatePtrRecordsRoute = route({
  name: 'updatePtrRecords',
  group: 'DNS',
  method: 'POST',
  path: '/v3/dns/ptr/batch',
  summary: 'Batch Update PTR Records',
  description:
    `Writes up to ${ptrRecordsAtOnce} PTR records over any number of zones, all or none. Each address must be in a prefix or an announcement ` +
    'of the team: 422 `not_your_address` lists all others. `ptrdname: null` deletes the record. Zones of reverse DNS are ' +
    'created as needed; for networks smaller than a /24 the record is written to the zone of the provider. Each changed zone gets one ' +
    'new serial; a record that is as requested already changes nothing. A template fills a network: IPv4 up to a /16 and ' +
    'IPv6 from a /112 become one record for each address; a larger IPv6 network can have one fixed name only, as a wildcard ' +
    '(RFC 8501), otherwise 422 `template_too_wide`. A template with the same network replaces the earlier one.',
  permission: { ...dnsWriting, limitedBy: 'prefix' },
  body: Component('PtrBatch', {
    records: Optional(
      Type.Array(
        Component('NewPtrRecord', {
          ip: Address,
          ptrdname: Nullable(
            DomainNameText('name for the address, with several labels; null deletes the record'),
          ),
          ttl: Optional({ ...Ttl, description: 'seconds; the default TTL of the zone if missing' }),
        }),
        { maxItems: ptrRecordsAtOnce, description: 'each address once' },
      ),
    ),
    templates: Optional(
      Type.Array(
        Component('NewPtrTemplate', {
          cidr: Type.String({ minLength: 2, maxLength: 64, description: 'the network' }),
          pattern: Pattern,
          ttl: Optional({ ...Ttl, description: 'seconds; the default TTL of the zone if missing' }),
          overwrite: Optional({
            ...Enumeration('PtrOverwrite', ptrOverwrites),
            description:
              'which existing PTR records it replaces: none, those of templates (the default), or all',
          }),
        }),
        { maxItems: 16, description: 'each network once' },
      ),
    ),
    check_forward: Optional(
      Type.Boolean({ default: false, description: 'check that each name has its address' }),
    ),
  }),
  response: Component('PtrBatchResult', {
    results: Type.Array(PtrResult, { description: 'one for each of `records`, in their order' }),
    count: Type.Integer({ minimum: 0, description: 'number of results' }),
    templates: Type.Array(
      Component('PtrTemplateResult', {
        template: PtrTemplate,
        created: Type.Integer({ minimum: 0, description: 'new records' }),
        updated: Type.Integer({ minimum: 0, description: 'changed records' }),
        unchanged: Type.Integer({ minimum: 0, description: 'records that are as the template has them' }),
        kept: Type.Integer({ minimum: 0, description: 'other records that `overwrite` protects' }),
      }),
      { description: 'one for each of `templates`, in their order' },
    ),
  }),
  success: 200,
  errors: ['conflict', 'quota_exceeded'],
  dryRun: true,
})

export const listPtrTemplatesRoute = route({
  name: 'listPtrTemplates',
  group: 'DNS',
  method: 'GET',
  path: '/v3/dns/ptr/templates',
  summary: 'List PTR Templates',
  description: 'The templates of the team, with the patterns that their records were made of.',
  permission: { ...dnsReading, limitedBy: 'prefix' },
  query: Strict({ ordering: Ordering(['id', 'cidr', 'created'], 'cidr'), limit: Limit, offset: Offset }),
  response: Page(PtrTemplate),
  success: 200,
})

export const deletePtrTemplateRoute = route({
  name: 'deletePtrTemplate',
  group: 'DNS',
  method: 'DELETE',
  path: '/v3/dns/ptr/templates/{template_id}',
  summary: 'Delete PTR Template',
  description:
    'Deletes a template and the records that it wrote. Records that were written since then, also by another template, and those of ' +
    'networks that the team no longer holds, stay.',
  permission: { ...dnsWriting, limitedBy: 'prefix' },
  params: Strict({ template_id: Id }),
  success: 204,
  dryRun: true,
  conditional: true,
})

export const ptrRoutes = [
  listPtrRecordsRoute,
  updatePtrRecordsRoute,
  listPtrTemplatesRoute,
  deletePtrTemplateRoute,
]
