// The services that a team has bought from the provider.
import { Type, type Static } from 'typebox'
import { StateMessage } from '../reason/state-message.ts'
import { BgpSession } from './bgp-session.ts'
import {
  BillingDirectionOf,
  BillingMethodOf,
  BillingPrices,
  BillingScopeOf,
  CommitScopeOf,
} from './billing-rules.ts'
import { route } from '../route.ts'
import {
  AsnNumber,
  Component,
  Enumeration,
  Id,
  Include,
  Limit,
  LocationReference,
  Nullable,
  Offset,
  Optional,
  Ordering,
  Page,
  Repeatable,
  Strict,
} from '../scalar.ts'

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

const BitRate = (description: string) =>
  Nullable(Type.Integer({ minimum: 0, description: `bits per second: ${description}; null if none` }))
const Day = (description: string) =>
  Nullable(
    Type.String({ format: 'date', description: `${description}, ISO 8601 without a time; null if not set` }),
  )

export const Service = Component('Service', {
  id: { ...Id, description: 'id of the service' },
  name: Type.String({ description: 'unique in the team' }),
  type: { ...Enumeration('ServiceType', serviceTypes), description: 'kind of service' },
  state: {
    ...Enumeration('ServiceState', serviceStates),
    description: 'state of the service; `operator`: the provider has to act',
  },
  state_messages: Type.Array(StateMessage, {
    description: 'why the service is not in production yet, and who can act',
  }),
  location: Nullable({ ...LocationReference, description: 'where it is delivered; null if it has no place' }),
  commit_bps: BitRate('the committed rate'),
  burst_bps: BitRate('the maximum rate'),
  start_date: Day('first day'),
  end_date: Day('last day'),
  external_ref: Type.String({ description: "the customer's reference; empty if it has none" }),
  billing_ref: Type.String({ description: 'the reference on invoices; empty if it has none' }),
  billing: Component(
    'ServiceBilling',
    {
      method: BillingMethodOf,
      direction: BillingDirectionOf,
      scope: BillingScopeOf,
      commit_scope: CommitScopeOf,
      timezone: Type.String({ description: 'IANA name: a month begins at its midnight' }),
      day: Type.Integer({
        minimum: 1,
        maximum: 28,
        description: 'day of the calendar month on which a month begins',
      }),
      included_octets: Nullable(
        Type.Integer({
          minimum: 0,
          description: 'bytes of a month that are included, for `volume`; null if none',
        }),
      ),
      pool_service_id: Nullable({
        ...Id,
        description: 'id of the service whose bills have its ports; null: its own bills have them',
      }),
      prices: Nullable({
        ...BillingPrices,
        description: 'prices of its traffic; null if the bills have none',
      }),
    },
    { description: 'how its traffic is billed' },
  ),
  port_ids: Type.Array(Id, { description: 'the ports of the service' }),
  asn: Nullable({ ...AsnNumber, description: 'the ASN for which it is used; null if none' }),
  bgp_sessions: Optional(
    Type.Array(BgpSession, {
      description: 'with `include=bgp_sessions`: those of its ports, ordered by port and address',
    }),
  ),
})
export type Service = Static<typeof Service>

// No module: every team has services, and links of security events lead here.
const inventory = { credential: 'any', scope: 'inventory:read', grant: 'inventory.see' } as const

const serviceOrderings = ['id', 'name', 'type', 'state', 'start_date', 'end_date'] as const

export const listServicesRoute = route({
  name: 'listServices',
  group: 'Inventory',
  method: 'GET',
  path: '/v3/inventory/services',
  summary: 'List services',
  description: 'The services of the team. `search` looks in the name and both references.',
  permission: { ...inventory, limitedBy: 'service' },
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
  permission: { ...inventory, limitedBy: 'service' },
  params: Strict({ service_id: Id }),
  query: Strict({ include: Optional(Include('ServiceInclude', ['bgp_sessions'])) }),
  response: Service,
  success: 200,
  conditional: true,
})

export const serviceRoutes = [listServicesRoute, getServiceRoute]
