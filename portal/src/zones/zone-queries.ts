// Requests of the pages of zones, and the answers that a change of a zone makes out of date.
import { getDnssecRoute } from '@pharos/contract/dns/dnssec'
import { listPtrRecordsRoute, listPtrTemplatesRoute } from '@pharos/contract/dns/ptr'
import { listRecordSetsRoute } from '@pharos/contract/dns/recordset'
import { getZoneSettingsRoute } from '@pharos/contract/dns/settings'
import { listZoneVersionsRoute } from '@pharos/contract/dns/version'
import { getZoneRoute, listZonesRoute } from '@pharos/contract/dns/zone'
import { call } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'

export const zoneInclude = 'servers,state_messages,details'

/** Marks everything that shows zones as out of date. */
export const invalidateZones = (): Promise<unknown> =>
  invalidate(
    listZonesRoute,
    getZoneRoute,
    getDnssecRoute,
    getZoneSettingsRoute,
    listRecordSetsRoute,
    listZoneVersionsRoute,
    listPtrRecordsRoute,
    listPtrTemplatesRoute,
  )

/** Returns the zone's current ETag and version, so that exactly the reviewed change is applied. */
export async function readZoneMark(zone: string): Promise<{ etag: string; version: number }> {
  const { headers, body } = await call(getZoneRoute, { params: { zone }, query: { include: 'details' } })
  return { etag: headers.get('etag') ?? '*', version: body.details!.version }
}
