// The services that a team has bought from the provider.
import { Type, type Static } from 'typebox'
import { StateMessage } from './announcement-checks.ts'
import { route } from './route.ts'
import {
  Component,
  Enumeration,
  Id,
  Limit,
  LocationReference,
  Nullable,
  Offset,
  Optional,
  Ordering,
  Page,
  Repeatable,
  Strict,
} from './scalar.ts'

export const serviceTypes = [
  'transit',
  'ddos',
  'byoip',
  'dns',
  'cross_connect',
  'sdwan',
  'wave',
  'colo',
] as const
export type ServiceType = (typeof serviceTypes)[number]

/** The states of IX-API 2. `operator`: the provider has to act. */
export const serviceStates = [
  'requested',
  'scheduled',
  'allocated',
  'testing',
  'production',
  'production_change_pending',
  'decommission_requested',
  'decommissioned',
  'archived',
  'cancelled',
  'error',
  'operator',
] as const
export type ServiceState = (typeof serviceStates)[number]

const BitRate = Type.Integer({ minimum: 0, description: 'bits per second' })
const Day = Type.String({ format: 'date', description: 'ISO 8601, without a time' })

export const Service = Component('Service', {
  id: Id,
  name: Type.String({ description: 'unique in the team' }),
  type: Enumeration('ServiceType', serviceTypes),
  state: Enumeration('ServiceState', serviceStates),
  state_messages: Type.Array(StateMessage, {
    description: 'why the service is not in production yet, and who can act',
  }),
  location: Nullable(LocationReference),
  commit_bps: Nullable(BitRate),
  burst_bps: Nullable(BitRate),
  start_date: Nullable(Day),
  end_date: Nullable(Day),
  external_ref: Type.String({ description: "the customer's reference; empty if it has none" }),
  billing_ref: Type.String({ description: 'the reference on invoices; empty if it has none' }),
  port_ids: Type.Array(Id, { description: 'the ports of the service' }),
  asn: Nullable(Type.Integer({ minimum: 1, maximum: 4_294_967_295 })),
})
export type Service = Static<typeof Service>

// No module: every team has services, and links of security events lead here.
const inventory = { credential: 'any', scope: 'inventory:read' } as const

const serviceOrderings = ['id', 'name', 'type', 'state', 'start_date', 'end_date'] as const

export const listServicesRoute = route({
  name: 'listServices',
  group: 'Inventory',
  method: 'GET',
  path: '/v3/inventory/services',
  summary: 'List services',
  description: 'The services of the team. `search` looks in the name and both references.',
  permission: inventory,
  query: Strict({
    type: Optional(Repeatable(Enumeration('ServiceType', serviceTypes))),
    state: Optional(Repeatable(Enumeration('ServiceState', serviceStates))),
    location: Optional(
      Repeatable(Type.String({ minLength: 1, maxLength: 100, description: 'key of a location' })),
    ),
    search: Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'contained, case-insensitive' }),
    ),
    ordering: Ordering(serviceOrderings, 'name'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(Service),
  success: 200,
})

export const getServiceRoute = route({
  name: 'getService',
  group: 'Inventory',
  method: 'GET',
  path: '/v3/inventory/services/{service_id}',
  summary: 'Get service',
  description: 'Returns one service of the team.',
  permission: inventory,
  params: Strict({ service_id: Id }),
  response: Service,
  success: 200,
  conditional: true,
})

export const serviceRoutes = [listServicesRoute, getServiceRoute]
