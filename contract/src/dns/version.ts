// The history of a zone: one version for each change of its record sets, with the difference, and the way back.
import { Type, type Static } from 'typebox'
import { dnsReading, dnsWriting, ZoneInPath } from './term.ts'
import { ZoneChanges, zoneChanges } from './recordset.ts'
import { route } from '../route.ts'
import { Actor, Component, Limit, Offset, Ordering, Page, Strict, Time } from '../scalar.ts'

const version = {
  version: Type.Integer({ minimum: 1, description: 'number of the version, from 1' }),
  at: { ...Time, description: 'when it was stored' },
  actor: { ...Actor, description: 'who made the change' },
  what: Type.String({ description: 'the operation, such as `recordset.update`' }),
}

export const ZoneVersion = Component('ZoneVersion', {
  ...version,
  added_count: Type.Integer({ minimum: 0, description: 'new record sets' }),
  changed_count: Type.Integer({ minimum: 0, description: 'changed record sets' }),
  removed_count: Type.Integer({ minimum: 0, description: 'deleted record sets' }),
})
export type ZoneVersion = Static<typeof ZoneVersion>

export const ZoneVersionDiff = Component('ZoneVersionDiff', { ...version, ...zoneChanges })
export type ZoneVersionDiff = Static<typeof ZoneVersionDiff>

const VersionNumber = Type.Integer({
  minimum: 1,
  maximum: 999_999_999_999_999,
  description: 'number of a version',
})
const oneVersion = Strict({ zone: ZoneInPath, version: VersionNumber })

export const listZoneVersionsRoute = route({
  name: 'listZoneVersions',
  group: 'DNS',
  method: 'GET',
  path: '/v3/dns/zones/{zone}/versions',
  summary: 'List Zone versions',
  description:
    'The versions of a zone that are kept (`history_days` of its settings), newest first by default.',
  permission: { ...dnsReading, limitedBy: 'whole_zone' },
  params: Strict({ zone: ZoneInPath }),
  query: Strict({ ordering: Ordering(['version', 'at'], '-version'), limit: Limit, offset: Offset }),
  response: Page(ZoneVersion),
  success: 200,
})

export const getZoneVersionRoute = route({
  name: 'getZoneVersion',
  group: 'DNS',
  method: 'GET',
  path: '/v3/dns/zones/{zone}/versions/{version}',
  summary: 'Get Zone version',
  description: 'Returns what a version changed, compared with the version before.',
  permission: { ...dnsReading, limitedBy: 'whole_zone' },
  params: oneVersion,
  response: ZoneVersionDiff,
  success: 200,
  conditional: true,
})

export const rollBackZoneRoute = route({
  name: 'rollBackZone',
  group: 'DNS',
  method: 'POST',
  path: '/v3/dns/zones/{zone}/versions/{version}/rollback',
  summary: 'Roll back Zone',
  description:
    'Makes the record sets of a zone those of an earlier version, as a new version: the history stays. SOA and NS records that ' +
    'follow from the settings stay as they are, and so do comments. With `dry_run=true` it is a plan. `If-Match` takes the ETag of getZone.',
  permission: { ...dnsWriting, limitedBy: 'whole_zone' },
  params: oneVersion,
  response: ZoneChanges,
  success: 200,
  errors: ['conflict', 'quota_exceeded'],
  dryRun: true,
  conditional: true,
  ifMatch: true,
})

export const zoneVersionRoutes = [listZoneVersionsRoute, getZoneVersionRoute, rollBackZoneRoute]
