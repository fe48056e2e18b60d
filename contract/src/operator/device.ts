// All devices of the provider for staff: how reading them goes, poll now, and maintenance.
import { Type, type Static } from 'typebox'
import { deviceStatuses } from '../inventory/device.ts'
import { route, staffChanging, staffReading } from '../route.ts'
import {
  Component,
  Enumeration,
  Id,
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
  Time,
} from '../scalar.ts'

/** `unreachable`: no answer; `refused`: a wrong credential; `protocol`: an answer that cannot be read. */
export const deviceErrors = ['unreachable', 'refused', 'protocol'] as const
export type DeviceError = (typeof deviceErrors)[number]

const Count = (description: string) => Type.Integer({ minimum: 0, description })

export const StaffDevice = Component('StaffDevice', {
  id: { ...Id, description: 'id of the device' },
  name: Type.String({ description: 'unique name' }),
  role: Type.String({ description: 'such as `edge`; empty if not set' }),
  location: Nullable({ ...LocationReference, description: 'where it is; null if not set' }),
  vendor: Type.String({ description: 'vendor; empty if not known' }),
  model: Type.String({ description: 'model; empty if not known' }),
  management_ip: Nullable(Type.String({ description: 'management address; null if it has none' })),
  driver: Type.String({ description: 'how it is read; `none`: not at all' }),
  status: { ...Enumeration('DeviceStatus', deviceStatuses), description: 'as customers see it' },
  last_seen: { ...NullableTime, description: 'last answer to a poll; null if never' },
  next_poll: { ...NullableTime, description: 'when it is polled next; null if it is not read' },
  missed: Count('polls without an answer since the last one'),
  error: Nullable({
    ...Enumeration('DeviceError', deviceErrors),
    description:
      'kind of the last failure: `unreachable` is silence, `refused` a wrong credential, `protocol` an answer that cannot be read; null after an answer',
  }),
  error_text: Type.String({ description: 'details of the failure; empty if none' }),
  interfaces: Count('interfaces that it lists'),
  ports: Count('interfaces of it that are sold'),
  maintenance_until: {
    ...NullableTime,
    description: 'polled until then, without warnings; null: no maintenance',
  },
})
export type StaffDevice = Static<typeof StaffDevice>

export const listStaffDevicesRoute = route({
  name: 'listDevicesOfAll',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/inventory/devices',
  summary: 'List all devices',
  description: 'All devices of the provider, and how reading them goes.',
  permission: staffReading('operator.see'),
  query: Strict({
    status: Optional(Repeatable(Enumeration('DeviceStatus', deviceStatuses))),
    error: Optional(
      Repeatable({ ...Enumeration('DeviceError', deviceErrors), description: 'kind of the last failure' }),
    ),
    location: Optional(
      Repeatable(Type.String({ minLength: 1, maxLength: 200, description: 'key of a location' })),
    ),
    search: Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'contained in the name, vendor, model or address; case-insensitive',
      }),
    ),
    ordering: Ordering(['id', 'name', 'status', 'last_seen', 'missed', 'ports'], 'name'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(StaffDevice),
  success: 200,
})

const params = Strict({ device_id: Id })

export const pollDeviceRoute = route({
  name: 'pollDevice',
  group: 'Operator',
  method: 'POST',
  path: '/v3/admin/inventory/devices/{device_id}/poll',
  summary: 'Poll device now',
  description:
    'Reads the device at once, with its interfaces and modules, instead of at its next time. The answer is the state before: list the device again ' +
    'after some seconds. 409 if it is not read.',
  permission: staffChanging('network.operate'),
  params,
  response: StaffDevice,
  success: 202,
  errors: ['conflict'],
})

export const maintainDeviceRoute = route({
  name: 'maintainDevice',
  group: 'Operator',
  method: 'POST',
  path: '/v3/admin/inventory/devices/{device_id}/maintenance',
  summary: 'Begin or end maintenance of a device',
  description:
    'Until the time the device has the status `maintenance`: it is polled, and no messages about its ports are sent. Null ends it.',
  permission: staffChanging('network.operate'),
  params,
  body: Strict({ until: { ...Nullable({ ...Time, description: 'end of the maintenance, in the future' }) } }),
  response: StaffDevice,
  success: 200,
})

export const adminDeviceRoutes = [listStaffDevicesRoute, pollDeviceRoute, maintainDeviceRoute]
