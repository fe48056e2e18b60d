// Writes the name of one address.
import { updatePtrRecordsRoute } from '@pharos/contract/dns/ptr'
import { call } from '../api/call.ts'
import { invalidateZones } from '../zones/zone-queries.ts'

/** Null removes the name. */
export async function writeName(ip: string, ptrdname: string | null): Promise<void> {
  await call(updatePtrRecordsRoute, { body: { records: [{ ip, ptrdname }] } })
  await invalidateZones()
}
