// All devices for staff: list, poll now, maintenance.
import type { listStaffDevicesRoute, StaffDevice as Wire } from '@pharos/contract/operator/device'
import type { QueryOf } from '@pharos/contract/route'
import { auditOf, writeAudit } from '../../db/audit.ts'
import type { Db, Trx } from '../../db/postgres.ts'
import { runOwnerChange, type ChangeAnswer } from '../../db/run-change.ts'
import { wake } from '../../db/wake.ts'
import type { StaffOperation } from '../../operation/operation.ts'
import { fail, invalid, notFound } from '../../runtime/error.ts'
import { parseTime } from '../../text/time.ts'
import {
  findStaffDevice,
  listStaffDeviceRows,
  makeDue,
  saveMaintenance,
  type StaffDeviceRow,
} from './staff-device.store.ts'

export type StaffDeviceDeps = { readonly db: Db; readonly now: () => Date }

export async function listStaffDevices(
  { db }: StaffDeviceDeps,
  _operation: unknown,
  query: QueryOf<typeof listStaffDevicesRoute>,
): Promise<{ results: Wire[]; count: number }> {
  const { page, count } = await listStaffDeviceRows(db, query)
  return { results: page.map(present), count }
}

/** Throws `conflict` for a device that no driver reads. */
export function pollDevice(
  { db }: StaffDeviceDeps,
  operation: StaffOperation,
  id: number,
): Promise<ChangeAnswer<Wire>> {
  return runOwnerChange(db, operation, async (trx) => {
    const device = await get(trx, id)
    if (device.driver === 'none') throw fail('conflict', 'deviceNotRead', {})
    await makeDue(trx, id)
    await wake(trx, 'devices')
    await writeAudit(trx, {
      ...auditOf(operation),
      teamId: null,
      action: 'device.poll',
      target: `device:${id}`,
    })
    return { body: present(await get(trx, id)) }
  })
}

/** Throws `invalid` for a time that has passed. */
export function maintainDevice(
  { db, now }: StaffDeviceDeps,
  operation: StaffOperation,
  id: number,
  { until: text }: { readonly until: string | null },
): Promise<ChangeAnswer<Wire>> {
  const until = text === null ? null : parseTime(text)!
  if (until !== null && until <= now()) throw invalid(['body', 'until'], 'past')
  return runOwnerChange(db, operation, async (trx) => {
    const before = await get(trx, id)
    await saveMaintenance(trx, id, until)
    const after = await get(trx, id)
    await writeAudit(trx, {
      ...auditOf(operation),
      teamId: null,
      action: 'device.maintenance',
      target: `device:${id}`,
      before: { maintenance_until: before.maintenance_until },
      after: { maintenance_until: after.maintenance_until },
    })
    return { body: present(after), before: present(before) }
  })
}

async function get(trx: Trx, id: number): Promise<StaffDeviceRow> {
  const row = await findStaffDevice(trx, id)
  if (!row) throw notFound('device')
  return row
}

const isoOf = (time: Date | null): string | null => time && time.toISOString()

const present = ({
  management_address,
  seen,
  next_poll,
  maintenance_until,
  ...row
}: StaffDeviceRow): Wire => ({
  ...row,
  management_ip: management_address,
  last_seen: isoOf(seen),
  next_poll: isoOf(next_poll),
  maintenance_until: isoOf(maintenance_until),
})
