// Ports: interfaces of the provider's devices that are sold to a team, each for a service and a time.
import { Type, type Static } from 'typebox'
import { BgpSession, bgpSessionsMax } from './bgp-session.ts'
import { CrossConnect } from './cross-connect.ts'
import { AdminState, OperState } from './device.ts'
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
  Time,
} from '../scalar.ts'
import { OpticWarning, Transceiver, TransceiverReading } from './transceiver.ts'
import { PortUsage } from './usage.ts'
import { Wiring } from './wiring.ts'

const Text = (description: string) => Type.String({ description: `${description}; empty if not set` })

/** Differences that a poll or a survey has found. */
export const portChangeKinds = ['oper', 'admin', 'speed', 'module'] as const
export type PortChangeKind = (typeof portChangeKinds)[number]
export const portLogMax = 100

const PortChange = Component('PortChange', {
  at: { ...Time, description: 'when it was found' },
  kind: {
    ...Enumeration('PortChangeKind', portChangeKinds),
    description:
      '`oper`: actual state; `admin`: configured state; `speed`: bits per second; `module`: transceiver',
  },
  before: Type.String({ description: 'empty: none, or not known' }),
  after: Type.String({ description: 'empty: none, or not known' }),
})
export const Port = Component('Port', {
  id: { ...Id, description: 'id of the port' },
  name: Type.String({ description: 'name, by default that of its interface' }),
  circuit_id: Type.String({ description: 'unique number of the circuit, for letters and tickets' }),
  device_id: { ...Id, description: 'id of its device' },
  device_name: Type.String({ description: 'name of its device' }),
  location: Nullable({ ...LocationReference, description: 'where it is; null if not set' }),
  speed_bps: Nullable(
    Type.Integer({
      minimum: 0,
      description: 'bits per second, as sold, else that of its interface; null if not known',
    }),
  ),
  in_bps: Nullable(
    Type.Integer({
      minimum: 0,
      description:
        'bits per second that the customer receives, in the last bucket of 5 minutes that was measured: `last` of the usage of the port; null if nothing was in the last 12 minutes',
    }),
  ),
  out_bps: Nullable(
    Type.Integer({ minimum: 0, description: 'bits per second that the customer sends, likewise' }),
  ),
  media: Text('kind of connection, such as `100GBASE-LR4`'),
  admin_status: AdminState,
  oper_status: OperState,
  lag_id: Nullable({ ...Id, description: 'id of the port that is the LAG of which it is a member' }),
  is_lag: Type.Boolean({ description: 'whether it is a LAG of several ports' }),
  service_id: { ...Id, description: 'id of the service that it belongs to' },
  description: Text('description'),
  last_change: { ...NullableTime, description: 'last change of the actual state; null if not known' },
  last_poll: { ...NullableTime, description: 'last answer of its device; null if never' },
  wiring: { ...Wiring, description: 'where it ends in the panels of the provider' },
  transceiver: Optional(
    Nullable({ ...Transceiver, description: 'with `include=optics`: its module; null if it has none' }),
  ),
  optics: Optional(
    Nullable(
      Component(
        'PortOptics',
        {
          latest: Nullable({ ...TransceiverReading, description: 'the last reading; null without one' }),
          warnings: Type.Array(OpticWarning, { description: 'early warnings of its lanes' }),
        },
        { description: 'with `include=optics`: the state of its module; null if it has none' },
      ),
    ),
  ),
  cross_connects: Optional(
    Type.Array(CrossConnect, { description: 'with `include=cross_connects`: those that begin at it' }),
  ),
  bgp_sessions: Optional(
    Type.Array(BgpSession, {
      maxItems: bgpSessionsMax,
      description:
        'with `include=bgp_sessions`: those with neighbors in its networks, or that the provider has named; ordered by address',
    }),
  ),
  usage: Optional({ ...PortUsage, description: 'with `include=usage`: its rates of the last 24 hours' }),
  log: Optional(
    Type.Array(PortChange, {
      maxItems: portLogMax,
      description: 'with `include=log`: its last changes since it belongs to the team, the newest first',
    }),
  ),
})
export type Port = Static<typeof Port>

export const PortInfo = Component('PortInfo', {
  ...Port.properties,
  transceiver: Nullable({ ...Transceiver, description: 'its module; null if it has none' }),
})
export type PortInfo = Static<typeof PortInfo>

const portIncludes = ['optics', 'usage', 'cross_connects', 'bgp_sessions', 'log'] as const

const portOrderings = [
  'id',
  'name',
  'circuit_id',
  'device_name',
  'speed_bps',
  'oper_status',
  'last_change',
] as const

export const listPortsRoute = route({
  name: 'listPorts',
  group: 'Inventory',
  method: 'GET',
  path: '/v3/inventory/ports',
  summary: 'List ports',
  description:
    'The ports that belong to services of the team now. A port of a former service is not found any more.',
  permission: { ...inventoryReading, limitedBy: 'port' },
  query: Strict({
    device_id: Optional(Repeatable({ ...Id, description: 'id of a device' })),
    service_id: Optional(Repeatable({ ...Id, description: 'id of a service' })),
    location: Optional(
      Repeatable(Type.String({ minLength: 1, maxLength: 200, description: 'key of a location' })),
    ),
    admin_status: Optional(Repeatable(AdminState)),
    oper_status: Optional(Repeatable(OperState)),
    speed_bps: Optional(
      Repeatable(
        Type.Integer({
          minimum: 0,
          maximum: 999_999_999_999_999,
          description: 'exactly this speed, bits per second',
        }),
      ),
    ),
    search: Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'contained in the name, circuit number, description or device; case-insensitive',
      }),
    ),
    has_optic_warning: Optional(
      Type.Boolean({ description: 'whether there is an early warning of its module' }),
    ),
    include: Optional(Include('PortListInclude', ['optics'])),
    ordering: Ordering(portOrderings, 'device_name,name'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(Port),
  success: 200,
})

export const getPortRoute = route({
  name: 'getPort',
  group: 'Inventory',
  method: 'GET',
  path: '/v3/inventory/ports/{port_id}',
  summary: 'Port info',
  description: 'Returns one port that belongs to a service of the team now.',
  permission: { ...inventoryReading, limitedBy: 'port' },
  params: Strict({ port_id: Id }),
  query: Strict({ include: Optional(Include('PortInclude', portIncludes)) }),
  response: PortInfo,
  success: 200,
  conditional: true,
})

export const portRoutes = [listPortsRoute, getPortRoute]
