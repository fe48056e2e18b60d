// Zone files: import, with a report of every line that is not applied, and export.
import { Type, type Static } from 'typebox'
import { dnsAdmin, dnsReading, DomainNameText, Ttl, ZoneInPath } from './term.ts'
import { OtherZones, zoneChanges } from './recordset.ts'
import { getZoneRoute, Primary, Zone } from './zone.ts'
import { route } from '../route.ts'
import { Component, Enumeration, Optional, Strict } from '../scalar.ts'

/** `create`: the zone is new. `merge`: record sets of the file replace sets of the same name and type. `replace`: the zone becomes the file. */
export const importModes = ['create', 'merge', 'replace'] as const
export type ImportMode = (typeof importModes)[number]

/** Why a line of a file is not applied. */
export const ignoredReasons = {
  soa: 'The SOA record is managed: its serial is continued, and its times are settings of the zone.',
  apex_ns: 'The NS records of the zone itself are managed.',
  dnssec: 'Records of DNSSEC are created by Pharos when it signs the zone.',
  out_of_zone: 'The name is not in the zone.',
  duplicate: 'The record is in the file already.',
  class: 'The class is not IN.',
  child_zone: 'The zone below belongs to the team: Pharos writes its delegation.',
} as const
export type IgnoredReason = keyof typeof ignoredReasons
const ignoredReasonNames = Object.keys(ignoredReasons) as [IgnoredReason, ...IgnoredReason[]]

/** The import applies these, but they are probably mistakes. */
export const importWarnings = [
  'ttl_above_max',
  'ttl_automatic',
  'ttl_from_soa',
  'ttl_differs',
  'rdata_advice',
  'relative_target',
  'occluded',
  'ds_without_ns',
  'target_is_alias',
] as const
export type ImportWarning = (typeof importWarnings)[number]

export const zoneFileBytesMax = 5 * 1024 * 1024
/** A zone file as a JSON string: each line break and quote takes two bytes. */
const bodyBytesMax = 2 * zoneFileBytesMax

export const ImportResult = Component('ZoneImport', {
  zone: { ...Zone, description: 'the zone after the import' },
  ...zoneChanges,
  other_zones: OtherZones,
  ignored: Type.Array(
    Component('IgnoredRecord', {
      line: Type.Integer({
        minimum: 0,
        description: 'line of the file, from 1; 0 for a record of a transfer',
      }),
      reason: { ...Enumeration('IgnoredReason', ignoredReasonNames), description: 'code of the reason' },
      message: Type.String({ description: 'the reason as a sentence' }),
      text: Type.String({ description: 'the record' }),
    }),
    { description: 'every record that is not applied' },
  ),
  warnings: Type.Array(
    Component('ImportWarning', {
      line: Type.Integer({
        minimum: 0,
        description: 'line of the file, from 1; 0 for a record of a transfer',
      }),
      code: { ...Enumeration('ImportWarningCode', importWarnings), description: 'code of the warning' },
      message: Type.String({ description: 'the warning as a sentence' }),
      text: Type.String({ description: 'the record' }),
    }),
    {
      description:
        'records that are applied, and probably not meant so: `occluded` ones are not answered, for example; the first 1,000',
    },
  ),
  applied: Type.Boolean({ description: 'false for a dry run' }),
})
export type ImportResult = Static<typeof ImportResult>

export const importZoneRoute = route({
  name: 'importZone',
  group: 'DNS',
  method: 'POST',
  path: '/v3/dns/zones/import',
  summary: 'Import Zone',
  description:
    'Imports a zone from the text of a zone file (RFC 1035 section 5) or from another server by AXFR. `create` creates the zone, and ' +
    'needs that it does not exist; `merge` replaces the record sets that are in the file and leaves others alone; `replace` also ' +
    'deletes record sets that are not in the file. The file must be valid as a whole: 422 lists the errors with line, text ' +
    'and reason (the first 1,000), and nothing is applied. Records that are not applied are listed in `ignored` with the reason. `$INCLUDE` is ' +
    'rejected, `$GENERATE` is supported. At most 5 MB and 50,000 records. 200 if the zone existed, 201 if it was created; with ' +
    '`dry_run=true` it is a plan. With `create`, the serial continues that of the file, so that secondary servers of the old primary accept it. ' +
    '`If-Match` takes the ETag of getZone.',
  permission: { ...dnsAdmin, limitedBy: 'whole_zone' },
  body: Component('ZoneSource', {
    name: DomainNameText('name of the zone'),
    zonefile: Optional(
      Type.String({ maxLength: zoneFileBytesMax, description: 'text of the zone file; instead of `axfr`' }),
    ),
    axfr: Optional(
      Component('ZoneTransferSource', {
        server: Primary.properties.address,
        port: Primary.properties.port,
        tsig: Optional(DomainNameText('name of the TSIG key, one of the provider or of the team')),
      }),
    ),
    mode: {
      ...Enumeration('ImportMode', importModes),
      description: 'what happens to record sets that exist',
    },
    ttl_floor: Optional({
      ...Ttl,
      maximum: 86_400,
      description: 'lower TTLs are raised to this one; seconds',
    }),
    dnssec: Optional(Type.Boolean({ default: true, description: 'sign the zone, if it is created' })),
  }),
  bodyBytesMax,
  response: ImportResult,
  success: 201,
  also: { 200: 'the zone existed' },
  creates: getZoneRoute,
  errors: ['forbidden', 'not_found', 'zone_claimed', 'exists', 'conflict', 'quota_exceeded'],
  dryRun: true,
  conditional: true,
  ifMatch: true,
})

export const exportZoneRoute = route({
  name: 'exportZone',
  group: 'DNS',
  method: 'GET',
  path: '/v3/dns/zones/{zone}/export',
  summary: 'Export Zone',
  description:
    'The zone as a zone file (`text/dns`, RFC 4027): SOA first, then one record a line in canonical order, with absolute names. ' +
    'It contains the desired records without those of DNSSEC. Importing it with `replace` changes nothing.',
  permission: { ...dnsReading, limitedBy: 'whole_zone' },
  params: Strict({ zone: ZoneInPath }),
  download: ['text/dns'],
  success: 200,
})

export const zoneFileRoutes = [importZoneRoute, exportZoneRoute]
