// The zone as a file of the browser.
import { exportZoneRoute } from '@pharos/contract/dns/import'
import type { Zone } from '@pharos/contract/dns/zone'
import { call } from '../api/call.ts'
import { download } from '../ui/export-file.ts'
import { notifyProblem } from '../ui/notify.ts'

/** Downloads the zone file; a failure is told in the corner of the window. */
export async function exportZone({ id, name }: Zone): Promise<void> {
  try {
    const { body } = await call(exportZoneRoute, { params: { zone: String(id) } })
    download(`${name.replaceAll('/', '-')}.zone`, body)
  } catch (error) {
    notifyProblem(error)
  }
}
