// The SQL of all devices for staff.
import type { DeviceError, listStaffDevicesRoute } from '@pharos/contract/operator/device'
import type { DeviceStatus } from '@pharos/contract/inventory/device'
import type { QueryOf } from '@pharos/contract/route'
import { sql } from 'kysely'
import { columns, type RowOf } from '../../db/columns.ts'
import { andAll, listAll, orderBy, type Page } from '../../db/page.ts'
import type { Db, Trx } from '../../db/postgres.ts'
import { locationColumn } from '../holding/location.store.ts'
import { reported, deviceStatusSql } from './device.store.ts'

const staffDeviceColumns = columns(
  'devices',
  'd',
  ['id', 'name', 'role', 'vendor', 'model', 'management_address', 'driver', 'maintenance_until'],
  {
    location: locationColumn('d'),
    status: sql<DeviceStatus>`d.status`,
    seen: sql<Date | null>`d.seen`,
    next_poll: sql<Date | null>`d.next_poll`,
    missed: sql<number>`coalesce(d.missed, 0)`,
    error: sql<DeviceError | null>`d.error`,
    error_text: sql<string>`coalesce(d.error_text, '')`,
    interfaces: sql<number>`(select count(*) from interfaces i where i.device_id = d.id and i.missing_surveys < 3)`,
    ports: sql<number>`d.ports`,
  },
)
export type StaffDeviceRow = RowOf<typeof staffDeviceColumns>

const allDevices = sql`
  select d.id, d.name, d.role, d.location_key, d.management_address, d.driver,
    case when d.maintenance_until > now() then d.maintenance_until end as maintenance_until, ${deviceStatusSql} as status,
    ${reported('vendor', sql`d.vendor`)} as vendor, ${reported('model', sql`d.model`)} as model, s.seen,
    case when d.driver <> 'none' then s.next_poll end as next_poll, s.missed, s.error, s.error_text,
    (select count(*) from ports p where p.device_id = d.id) as ports
  from devices d left join device_states s on s.device_id = d.id`

export const listStaffDeviceRows = (
  db: Db,
  { status, error, location, search, ordering, ...slice }: QueryOf<typeof listStaffDevicesRoute>,
): Promise<Page<StaffDeviceRow>> =>
  listAll(db, {
    matching: sql`select d.* from (${allDevices}) d where true ${andAll(
      status && sql`d.status = any(${status}::text[])`,
      error && sql`d.error = any(${error}::text[])`,
      location && sql`d.location_key = any(${location}::text[])`,
      search !== undefined &&
        sql`strpos(lower(concat_ws(chr(10), d.name, d.vendor, d.model, d.management_address)), lower(${search})) > 0`,
    )}`,
    columns: staffDeviceColumns,
    order: orderBy(
      ordering,
      {
        id: sql`d.id`,
        name: sql`d.name`,
        status: sql`d.status`,
        last_seen: sql`d.seen`,
        missed: sql`d.missed`,
        ports: sql`d.ports`,
      },
      sql`d.id`,
    ),
    slice,
  })

export async function findStaffDevice(trx: Trx, id: number): Promise<StaffDeviceRow | undefined> {
  const { rows } = await sql<StaffDeviceRow>`
    select ${staffDeviceColumns} from (${allDevices}) d where d.id = ${id}::bigint`.execute(trx)
  return rows[0]
}

/** Everything of the device is due. */
export async function makeDue(trx: Trx, id: number): Promise<void> {
  await sql`
    insert into device_states (device_id) values (${id}) on conflict (device_id) do update set
      next_poll = now(), next_survey = now(), next_gauges = now()`.execute(trx)
}

export async function saveMaintenance(trx: Trx, id: number, until: Date | null): Promise<void> {
  await sql`update devices set maintenance_until = ${until} where id = ${id}`.execute(trx)
}
