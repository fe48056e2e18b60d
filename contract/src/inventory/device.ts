// Devices of the provider on which a team has ports, and their interfaces.
import { Type, type Static } from 'typebox'
import { Attachment } from './attachment.ts'
import { gaugeQuery } from './gauge.ts'
import { inventoryReading, route } from '../route.ts'
import {
  Component,
  Enumeration,
  Id,
  Include,
  Limit,
  LocationReference,
  Nullable,
  NullableTime,
  Offset,
  Optional,
  Ordering,
  Page,
  Repeatable,
  Strict,
} from '../scalar.ts'
import { Service } from './service.ts'
import { Timeseries } from '../timeseries.ts'

/**
 * `degraded`: the last poll failed, or half of it; `offline`: no answer to three polls in a row; `unknown`: never polled.
 */
export const deviceStatuses = ['online', 'degraded', 'offline', 'maintenance', 'unknown'] as const
export type DeviceStatus = (typeof deviceStatuses)[number]

/** The states of RFC 2863, ifOperStatus. */
export const interfaceStates = [
  'up',
  'down',
  'testing',
  'unknown',
  'dormant',
  'not_present',
  'lower_layer_down',
] as const
export type InterfaceState = (typeof interfaceStates)[number]

/** Kinds of interfaces, from IANAifType. */
export const interfaceTypes = ['ethernet', 'lag', 'vlan', 'loopback', 'tunnel', 'virtual', 'other'] as const
export type InterfaceType = (typeof interfaceTypes)[number]

export const AdminState = {
  ...Enumeration('InterfaceState', interfaceStates),
  description: 'configured state',
}
export const OperState = { ...Enumeration('InterfaceState', interfaceStates), description: 'actual state' }

const Count = (description: string) => Nullable(Type.Integer({ minimum: 0, description }))

export const Interface = Component('Interface', {
  id: { ...Id, description: 'id of the interface' },
  name: Type.String({ description: 'name on the device' }),
  description: Type.String({ description: 'text that is configured on the device; empty if none' }),
  type: { ...Enumeration('InterfaceType', interfaceTypes), description: 'kind of interface' },
  admin_status: AdminState,
  oper_status: OperState,
  speed_bps: Count('bits per second; null if the device reports none'),
  mtu: Count('bytes; null if the device reports none'),
  mac: Nullable(Type.String({ description: 'MAC address, lower case with colons' })),
  addresses: Type.Array(Type.String(), { description: 'IP addresses with their prefix length' }),
  vlan: Nullable(
    Type.Integer({ minimum: 0, maximum: 4095, description: 'VLAN of a subinterface; null if none' }),
  ),
  lag: Nullable({ ...Id, description: 'id of the LAG interface that it is a member of; null if none' }),
  port_id: Nullable({ ...Id, description: 'id of the port of the team; null if it is no port' }),
  last_change: { ...NullableTime, description: 'last change of the actual state; null if not known' },
  counters: Component(
    'InterfaceCounters',
    {
      in_errors: Count('packets with errors that the device received; null if it does not count them'),
      out_errors: Count('packets that could not be sent because of errors'),
      in_discards: Count('received packets that were discarded'),
      out_discards: Count('packets to send that were discarded'),
    },
    { description: 'as the device counts since it has started' },
  ),
})
export type Interface = Static<typeof Interface>

const deviceIncludes = ['interfaces', 'services', 'attachments'] as const

export const Device = Component('Device', {
  id: { ...Id, description: 'id of the device' },
  name: Type.String({ description: 'unique name' }),
  role: Type.String({ description: 'such as `edge`; empty if not set' }),
  vendor: Type.String({ description: 'vendor; empty if not known' }),
  model: Type.String({ description: 'model; empty if not known' }),
  serial: Type.String({ description: 'serial number; empty if not known' }),
  location: Nullable({ ...LocationReference, description: 'where it is; null if not set' }),
  status: {
    ...Enumeration('DeviceStatus', deviceStatuses),
    description:
      '`degraded`: the last poll failed in part; `offline`: no answer to three polls in a row; `maintenance`: planned work, no ' +
      'warnings; `unknown`: not polled yet',
  },
  management_ip: Nullable(
    Type.String({ description: 'management address; only for a device of the team itself, else null' }),
  ),
  software: Type.String({ description: 'version of its software; empty if not known' }),
  uptime: Nullable(
    Type.Integer({ minimum: 0, description: 'seconds since it has started; null if not known' }),
  ),
  last_seen: { ...NullableTime, description: 'last answer to a poll; null if never' },
  tags: Type.Array(Type.String(), { description: 'tags of the provider' }),
  service_ids: Type.Array(Id, { description: 'services of the team that use it' }),
  interfaces: Optional(
    Type.Array(Interface, { description: 'with `include=interfaces`: those that the team may see' }),
  ),
  attachments: Optional(
    Type.Array(Attachment, { description: 'with `include=attachments`: files about it' }),
  ),
  services: Optional(
    Type.Array(Service, { description: 'with `include=services`: the services of the team that use it' }),
  ),
})
export type Device = Static<typeof Device>

const Texts = (description: string) =>
  Optional(Repeatable(Type.String({ minLength: 1, maxLength: 200, description })))

/** Filters of the list of devices; the keys of groups are among them. */
const deviceFilters = {
  name: Texts('contained in the name, case-insensitive'),
  role: Texts('a role'),
  vendor: Texts('a vendor'),
  status: Optional(Repeatable(Enumeration('DeviceStatus', deviceStatuses))),
  location: Texts('key of a location'),
  service_id: Optional(Repeatable({ ...Id, description: 'id of a service of the team' })),
  tag: Texts('a tag'),
  search: Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'contained in the name, vendor, model, serial number or software; case-insensitive',
    }),
  ),
}

const deviceOrderings = ['id', 'name', 'role', 'vendor', 'status', 'last_seen'] as const

const visible =
  'A team sees the devices on which it has ports now, and devices that the provider runs for it alone.'

export const listDevicesRoute = route({
  name: 'listDevices',
  group: 'Inventory',
  method: 'GET',
  path: '/v3/inventory/devices',
  summary: 'List devices',
  description: `${visible} For the counts of a filter bar see groupDevices.`,
  permission: inventoryReading,
  query: Strict({
    ...deviceFilters,
    ordering: Ordering(deviceOrderings, 'name'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(Device),
  success: 200,
})

export const deviceGroupKeys = ['location', 'role', 'vendor', 'status', 'tag'] as const
export type DeviceGroupKey = (typeof deviceGroupKeys)[number]

export const DeviceGroup = Component('DeviceGroup', {
  key: { ...Enumeration('DeviceGroupKey', deviceGroupKeys), description: 'the filter of listDevices' },
  label: Type.String({ description: 'name of the filter for people' }),
  values: Type.Array(
    Component('DeviceGroupValue', {
      value: Type.String({ description: 'value of the filter' }),
      label: Type.String({ description: 'name of the value for people' }),
      count: Type.Integer({ minimum: 0, description: 'number of devices' }),
    }),
    { description: 'the values that occur, the most frequent first' },
  ),
})
export type DeviceGroup = Static<typeof DeviceGroup>

export const groupDevicesRoute = route({
  name: 'groupDevices',
  group: 'Inventory',
  method: 'GET',
  path: '/v3/inventory/devices/groups',
  summary: 'Group devices for filtering',
  description:
    'Counts the devices of the team by the values of filters, all from one snapshot. Takes the filters of listDevices; the ' +
    'counts of one key ignore the filter of that key, so that other values of it can be selected too. A device without a value ' +
    'is not counted. `count` is the number of groups.',
  permission: inventoryReading,
  query: Strict({
    by: {
      ...Include('DeviceGroupKey', deviceGroupKeys),
      default: deviceGroupKeys.join(','),
    },
    ...deviceFilters,
  }),
  response: Page(DeviceGroup),
  success: 200,
})

const deviceParams = Strict({ device_id: Id })

export const getDeviceRoute = route({
  name: 'getDevice',
  group: 'Inventory',
  method: 'GET',
  path: '/v3/inventory/devices/{device_id}',
  summary: 'Get device details',
  description: `Returns one device. ${visible}`,
  permission: inventoryReading,
  params: deviceParams,
  query: Strict({ include: Optional(Include('DeviceInclude', deviceIncludes)) }),
  response: Device,
  success: 200,
  conditional: true,
})

const interfaceOrderings = ['id', 'name', 'speed_bps', 'oper_status', 'last_change'] as const

export const listInterfacesRoute = route({
  name: 'listInterfaces',
  group: 'Inventory',
  method: 'GET',
  path: '/v3/inventory/devices/{device_id}/interfaces',
  summary: 'List interfaces for a device',
  description:
    'The interfaces of a device. On a device that several customers share, a team sees the interfaces of its ports only. An ' +
    'interface exists on the device; a port is what the provider sells: `port_id` links them. Ordering by `name` is natural: ' +
    '`et-0/0/2` comes before `et-0/0/10`.',
  permission: inventoryReading,
  params: deviceParams,
  query: Strict({
    name: Texts('contained in the name or the description, case-insensitive'),
    admin_status: Optional(Repeatable(AdminState)),
    oper_status: Optional(Repeatable(OperState)),
    type: Optional(Repeatable(Enumeration('InterfaceType', interfaceTypes))),
    ordering: Ordering(interfaceOrderings, 'name'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(Interface),
  success: 200,
})

/** `bps_in`, `bps_out`: of the ports of the team; the others are of the device. */
export const deviceMetrics = [
  'cpu',
  'memory',
  'temperature',
  'fan',
  'power',
  'uptime',
  'bps_in',
  'bps_out',
  'latency',
  'loss',
] as const
export type DeviceMetric = (typeof deviceMetrics)[number]

export const getDeviceMetricsRoute = route({
  name: 'getDeviceMetrics',
  group: 'Inventory',
  method: 'GET',
  path: '/v3/inventory/devices/{device_id}/metrics',
  summary: 'Device metrics',
  description:
    'The gauges of a device, by default all of them in the last 24 hours: one series for each metric, part and statistic. ' +
    '`cpu`, `memory` and `loss` are percent, `temperature` is degrees Celsius, `fan` rpm, `power` W, `latency` ms of its answers to ' +
    'polls, `uptime` seconds. `bps_in` and `bps_out` are the traffic of the ports of the team on it, `in` as the team receives it. On ' +
    'a device that several customers share, the history begins with the first port of the team. A metric that the device does not ' +
    'report is 422, with those that it does. Values of 5 minutes are kept for 90 days and daily figures for 400.',
  permission: inventoryReading,
  params: deviceParams,
  query: Strict({
    metric: Optional(Repeatable({ ...Enumeration('DeviceMetric', deviceMetrics), description: 'a metric' })),
    ...gaugeQuery,
  }),
  response: Timeseries,
  success: 200,
})

export const deviceRoutes = [
  listDevicesRoute,
  groupDevicesRoute,
  getDeviceRoute,
  getDeviceMetricsRoute,
  listInterfacesRoute,
]
