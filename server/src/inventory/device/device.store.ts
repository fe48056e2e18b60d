// The SQL of devices and their interfaces, as a team sees them. Every statement is limited to a team.
import type {
  deviceGroupKeys,
  DeviceGroupKey,
  DeviceStatus,
  InterfaceState,
  listDevicesRoute,
  groupDevicesRoute,
} from '@pharos/contract/inventory/device'
import type { QueryOf } from '@pharos/contract/route'
import { sql, type RawBuilder } from 'kysely'
import { columns, type RowOf } from '../../db/columns.ts'
import { andAll, listInTeam, orderKeys, type Page } from '../../db/page.ts'
import type { Postgres } from '../../db/postgres.ts'
import { locationColumn } from '../holding/location.store.ts'
import { heldPorts, seenDevices } from '../assignment/assignment.store.ts'
import { isUnread } from '../assignment/device-state.store.ts'

type Sql = RawBuilder<unknown>

/** Polls without an answer after which a device is offline. */
const offlineAfter = 3

/** A stored state of an interface; `unknown` while its device is unread, or without one. */
export const stateNow = (state: Sql) =>
  sql<InterfaceState>`case when ${isUnread} then 'unknown' else coalesce(${state}, 'unknown') end`

/** The status of a device with the state `s`. */
export const deviceStatusSql = sql`case
  when maintenance_until > now() then 'maintenance'
  when ${isUnread} then 'unknown'
  when s.seen is null and coalesce(s.missed, 0) = 0 then 'unknown'
  when s.missed >= ${sql.lit(offlineAfter)} then 'offline'
  when s.missed > 0 or s.error is not null then 'degraded'
  else 'online' end`

export const reported = (name: 'vendor' | 'model' | 'serial' | 'software', configured: Sql = sql`null`) =>
  sql`coalesce(nullif(${configured}, ''), s.identity ->> ${sql.lit(name)}, '')`

/** The devices `d` that the team may see, with their observed state. */
export const visibleDevices = (teamId: number) => devicesIn(teamId, seenDevices(teamId))

/**
 * Devices with an id of the array, through the policies of the tables: for the few devices of a page, which the view
 * would search among all.
 */
const visibleDevicesOf = (teamId: number, ids: Sql) =>
  devicesIn(
    teamId,
    sql`(
      select d.id, d.name, d.role, d.vendor, d.model, d.serial, d.location_key, d.management_address, d.customer_id, d.maintenance_until,
        d.tags, t.identity, t.booted, t.seen, t.error, t.missed, t.next_poll, t.lease_until
      from devices d left join device_states t on t.device_id = d.id where d.id = any(${ids}::integer[]))`,
  )

const devicesIn = (teamId: number, source: Sql) => sql`
  select s.id, s.name, s.role, s.location_key, s.tags, ${deviceStatusSql} as status,
    ${reported('vendor', sql`s.vendor`)} as vendor, ${reported('model', sql`s.model`)} as model,
    ${reported('serial', sql`s.serial`)} as serial, ${reported('software')} as software,
    case when s.customer_id = ${teamId} then s.management_address end as management_address, s.booted, s.seen
  from ${source} s`

const servicesOnDevice = (teamId: number) => sql<number[]>`array(
  select distinct p.service_id from ${heldPorts(teamId)} p where p.device_id = d.id order by 1)`

const deviceColumns = (teamId: number) =>
  columns('devices', 'd', ['id', 'name', 'role', 'vendor', 'model', 'serial', 'management_address', 'tags'], {
    status: sql<DeviceStatus>`d.status`,
    software: sql<string>`d.software`,
    uptime: sql<number | null>`greatest(0, extract(epoch from now() - d.booted))::integer`,
    seen: sql<Date | null>`d.seen`,
    location: locationColumn('d'),
    service_ids: servicesOnDevice(teamId),
  })
export type DeviceRow = RowOf<ReturnType<typeof deviceColumns>>

type Filters = Omit<QueryOf<typeof groupDevicesRoute>, 'by'>

/** The conditions on a visible device `d`, by the name of their filter. */
const conditionsOf = (
  teamId: number,
  { name, role, vendor, status, location, service_id, tag, search }: Filters,
): Readonly<Record<keyof Filters, Sql | false | undefined>> => ({
  name: name && sql`lower(d.name) like any(${name.map(containing)}::text[])`,
  role: role && sql`d.role = any(${role}::text[])`,
  vendor: vendor && sql`d.vendor = any(${vendor}::text[])`,
  status: status && sql`d.status = any(${status}::text[])`,
  location: location && sql`d.location_key = any(${location}::text[])`,
  service_id:
    service_id &&
    sql`d.id in (select p.device_id from ${heldPorts(teamId)} p where p.service_id = any(${service_id}::bigint[]))`,
  tag: tag && sql`d.tags && ${tag}::text[]`,
  search:
    search !== undefined &&
    sql`strpos(lower(concat_ws(chr(10), d.name, d.vendor, d.model, d.serial, d.software)), lower(${search})) > 0`,
})

/** The pattern of LIKE for a contained text. */
export const containing = (text: string): string =>
  `%${text.toLowerCase().replaceAll(/[\\%_]/g, (character) => `\\${character}`)}%`

export const listDeviceRows = (
  postgres: Postgres,
  teamId: number,
  { ordering, limit, offset, ...filters }: QueryOf<typeof listDevicesRoute>,
): Promise<Page<DeviceRow>> => {
  const { keys, order } = orderKeys(
    ordering,
    {
      id: sql`d.id`,
      name: sql`d.name`,
      role: sql`d.role`,
      vendor: sql`d.vendor`,
      status: sql`d.status`,
      last_seen: sql`d.seen`,
    },
    sql`d.id`,
  )
  return listInTeam(postgres, teamId, {
    matching: sql`select ${keys} from (${visibleDevices(teamId)}) d
      where true ${andAll(...Object.values(conditionsOf(teamId, filters)))}`,
    rows: (ids) => visibleDevicesOf(teamId, ids),
    columns: deviceColumns(teamId),
    order,
    slice: { limit, offset },
  })
}

export type GroupRow = {
  readonly key: DeviceGroupKey
  readonly value: string
  readonly label: string | null
  readonly count: number
}

/**
 * The counts of the keys `by`, the most frequent value of each first; the filter of a key does not apply to its own counts. Each filter is evaluated once
 * for each device.
 */
export async function countDevices(
  postgres: Postgres,
  teamId: number,
  by: readonly DeviceGroupKey[],
  filters: Filters,
): Promise<GroupRow[]> {
  const conditions = Object.entries(conditionsOf(teamId, filters)).filter(([, condition]) => condition)
  const isMatch = (name: string) => sql.ref(`matches_${name}`)
  const matches = conditions.map(([name, condition]) => sql`, ${condition} as ${isMatch(name)}`)
  const values = by.map((key) => sql`, ${groupValues[key]} as ${sql.ref(key)}`)
  const branches = by.map((key) => {
    const others = conditions.filter(([name]) => name !== key).map(([name]) => isMatch(name))
    return sql`select ${sql.lit(key)} as key, g.value, count(*) as count
      from (select ${countedValues[key]} as value from ${sql.table('visible')} where true ${andAll(...others)}) g
      where g.value <> '' group by g.value`
  })
  const query = sql<GroupRow>`
    with visible as materialized (
      select d.id ${sql.join([...values, ...matches], sql``)} from (${visibleDevices(teamId)}) d)
    select g.*, l.name as label from (${sql.join(branches, sql` union all `)}) g
    left join locations l on g.key = 'location' and l.key = g.value
    order by g.key, g.count desc, g.value`
  return postgres.readInTeam(teamId, query)
}

const groupValues: Readonly<Record<(typeof deviceGroupKeys)[number], Sql>> = {
  location: sql`d.location_key`,
  role: sql`d.role`,
  vendor: sql`d.vendor`,
  status: sql`d.status`,
  tag: sql`d.tags`,
}

/** The counted values, from the columns with the names of the keys: a tag counts once per device. */
const countedValues: typeof groupValues = {
  location: sql`location`,
  role: sql`role`,
  vendor: sql`vendor`,
  status: sql`status`,
  tag: sql`distinct id, unnest(tag)`,
}

export async function findDevice(
  postgres: Postgres,
  teamId: number,
  id: number,
): Promise<DeviceRow | undefined> {
  const query = sql<DeviceRow>`
    select ${deviceColumns(teamId)} from (${visibleDevices(teamId)}) d where d.id = ${id}::bigint`
  return (await postgres.readInTeam(teamId, query))[0]
}
