// Devices as a team sees them: list, counts for filters, details and interfaces. The platform file writes devices, the
// collector their state.
import {
  deviceGroupKeys,
  type Device as Wire,
  type DeviceGroup,
  type DeviceGroupKey,
  type DeviceStatus,
  type getDeviceRoute,
  type groupDevicesRoute,
  type Interface,
  type listDevicesRoute,
  type listInterfacesRoute,
} from '@pharos/contract/inventory/device'
import type { QueryOf } from '@pharos/contract/route'
import { etagOf } from '../../operation/etag.ts'
import type { Operation } from '../../operation/operation.ts'
import { notFound } from '../../runtime/error.ts'
import { listDeviceAttachments, type AttachmentDeps } from '../attachment/attachment.ts'
import { listServices } from '../holding/service.ts'
import { countDevices, findDevice, listDeviceRows, type DeviceRow } from './device.store.ts'
import { listInterfaceRows, type InterfaceRow } from './interface.store.ts'
import { interfaceType } from './interface-type.ts'

export type DeviceDeps = AttachmentDeps

/** The parts of a device that `include` adds have at most this many elements. */
const includedMax = 1000

/** Returns a page of the devices that the actor's team may see and the exact count, from one snapshot. */
export async function listDevices(
  { postgres }: DeviceDeps,
  { actor }: Operation,
  query: QueryOf<typeof listDevicesRoute>,
): Promise<{ results: Wire[]; count: number }> {
  const { page, count } = await listDeviceRows(postgres, actor.teamId, query)
  return { results: page.map(present), count }
}

/** Returns the counts of the values of each filter in `by`. */
export async function groupDevices(
  { postgres }: DeviceDeps,
  { actor }: Operation,
  { by, ...filters }: QueryOf<typeof groupDevicesRoute>,
): Promise<{ results: DeviceGroup[]; count: number }> {
  const wanted = by.split(',')
  const keys = deviceGroupKeys.filter((key) => wanted.includes(key))
  const rows = Map.groupBy(await countDevices(postgres, actor.teamId, keys, filters), ({ key }) => key)
  const results = keys.map((key) => ({
    key,
    label: keyLabels[key],
    values: (rows.get(key) ?? []).map(({ value, label, count }) => ({
      value,
      label: label ?? (key === 'status' ? statusLabels[value as DeviceStatus] : value),
      count,
    })),
  }))
  return { results, count: results.length }
}

const keyLabels: Readonly<Record<DeviceGroupKey, string>> = {
  location: 'Location',
  role: 'Role',
  vendor: 'Vendor',
  status: 'Status',
  tag: 'Tag',
}
const statusLabels: Readonly<Record<DeviceStatus, string>> = {
  online: 'Online',
  degraded: 'Degraded',
  offline: 'Offline',
  maintenance: 'Maintenance',
  unknown: 'Unknown',
}

/** Returns one device with its ETag; throws `not_found` if the team may not see it. */
export async function getDevice(
  deps: DeviceDeps,
  operation: Operation,
  id: number,
  { include }: QueryOf<typeof getDeviceRoute>,
): Promise<{ body: Wire; etag: string }> {
  const { actor } = operation
  const row = await findDevice(deps.postgres, actor.teamId, id)
  if (!row) throw notFound('device')
  const body = present(row)
  const { uptime: _uptime, last_seen: _seen, ...steady } = body
  const wanted = new Set(include?.split(','))
  const whole = { ordering: 'name', limit: includedMax, offset: 0 } as const
  const included = {
    ...(wanted.has('interfaces') && {
      interfaces: (await listInterfaces(deps, operation, id, whole)).results,
    }),
    ...(wanted.has('attachments') && {
      attachments: (await listDeviceAttachments(deps, operation, id, { ...whole, ordering: '-id' })).results,
    }),
    ...(wanted.has('services') && {
      services: (await listServices(deps, operation, whole)).results.filter((service) =>
        row.service_ids.includes(service.id),
      ),
    }),
  }
  return { body: { ...body, ...included }, etag: etagOf(steady, include && included) }
}

/** Returns a page of the interfaces of a device; throws `not_found` if the team may not see the device. */
export async function listInterfaces(
  { postgres }: DeviceDeps,
  { actor }: Operation,
  deviceId: number,
  query: Pick<QueryOf<typeof listInterfacesRoute>, 'ordering' | 'limit' | 'offset'> &
    Partial<QueryOf<typeof listInterfacesRoute>>,
): Promise<{ results: Interface[]; count: number }> {
  const { page, count } = await listInterfaceRows(postgres, actor.teamId, deviceId, query)
  return { results: page.map(presentInterface), count }
}

const present = ({ management_address, seen, ...row }: DeviceRow): Wire => ({
  ...row,
  management_ip: management_address,
  last_seen: seen && seen.toISOString(),
})

const presentInterface = ({
  alias,
  type,
  admin,
  oper,
  lag_id,
  last_change,
  in_errors,
  out_errors,
  in_discards,
  out_discards,
  ...row
}: InterfaceRow): Interface => ({
  ...row,
  description: alias,
  type: interfaceType(type),
  admin_status: admin,
  oper_status: oper,
  vlan: vlanOf(row.name, type),
  lag: lag_id,
  last_change: last_change && last_change.toISOString(),
  counters: { in_errors, out_errors, in_discards, out_discards },
})

/** The VLAN of a subinterface by the usual form of its name, such as `xe-0/0/1.100`. */
const vlanOf = (name: string, type: number): number | null => {
  const vlan = Number(/[.:](\d{1,4})$/.exec(name)?.[1] ?? Number.NaN)
  return interfaceType(type) === 'vlan' && vlan <= 4095 ? vlan : null
}
