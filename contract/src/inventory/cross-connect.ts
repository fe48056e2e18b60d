// Cross connects: cables between a provider panel and a customer panel, their states and who has to act.
import { Type, type Static } from 'typebox'
import { Attachment, attachmentUpload } from './attachment.ts'
import { inventoryReading, route, staffChanging, staffReading } from '../route.ts'
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
  TeamReference,
  Time,
} from '../scalar.ts'
import { Line } from '../text.ts'
import { Wiring } from './wiring.ts'

export const crossConnectStatuses = [
  'reserved',
  'awaiting_loa',
  'awaiting_connect',
  'connected',
  'awaiting_cease',
  'ceased',
  'broken',
] as const
export type CrossConnectStatus = (typeof crossConnectStatuses)[number]

/** `provider`, `customer`: has to act; `nobody`: no action is pending. */
export const crossConnectActors = ['provider', 'customer', 'nobody'] as const
export type CrossConnectActor = (typeof crossConnectActors)[number]

type State = {
  /** Percent of the steps that are done. */
  readonly progress: number
  readonly waitsFor: CrossConnectActor
  /** Where staff may move it. */
  readonly next: readonly CrossConnectStatus[]
  readonly text: string
}

/** The states: a new one is added here, and the compiler names every other place. */
export const crossConnectStates: Readonly<Record<CrossConnectStatus, State>> = {
  reserved: {
    progress: 25,
    waitsFor: 'provider',
    next: ['awaiting_loa', 'awaiting_connect', 'ceased'],
    text: 'The place in the panel is reserved. The provider prepares the order.',
  },
  awaiting_loa: {
    progress: 50,
    waitsFor: 'customer',
    next: ['awaiting_connect', 'reserved', 'ceased'],
    text: 'The data center needs a letter of authorization (LOA/CFA) of the other side. Upload it here.',
  },
  awaiting_connect: {
    progress: 75,
    waitsFor: 'provider',
    next: ['connected', 'awaiting_loa', 'ceased'],
    text: 'The cable is ordered and will be connected by the data center.',
  },
  connected: {
    progress: 100,
    waitsFor: 'nobody',
    next: ['broken', 'awaiting_cease'],
    text: 'The cable is connected.',
  },
  awaiting_cease: {
    progress: 50,
    waitsFor: 'provider',
    next: ['ceased', 'connected'],
    text: 'The cable will be removed. Move your traffic before.',
  },
  ceased: { progress: 100, waitsFor: 'nobody', next: [], text: 'The cable was removed.' },
  broken: {
    progress: 100,
    waitsFor: 'provider',
    next: ['connected', 'awaiting_cease'],
    text: 'The cable is broken. The provider repairs it with the data center.',
  },
}

/** A letter that has arrived changes who has to act. */
export const letterArrivedText = 'Your letter has arrived. The provider checks it and orders the cable.'

const Text = (description: string) => Type.String({ description: `${description}; empty if not set` })

export const CrossConnect = Component('CrossConnect', {
  id: { ...Id, description: 'id of the cross connect' },
  name: Type.String({ description: 'name' }),
  circuit_id: Type.String({ description: 'unique number of the circuit, for letters and tickets' }),
  status: {
    ...Enumeration('CrossConnectStatus', crossConnectStatuses),
    description:
      '`awaiting_loa`: a letter of authorization is missing; `awaiting_connect`: ordered at the data center; `awaiting_cease`: to be removed',
  },
  waits_for: {
    ...Enumeration('CrossConnectActor', crossConnectActors),
    description: 'who has to act now',
  },
  next_step: Type.String({ description: 'the state and what to do, for people' }),
  progress: Type.Integer({ minimum: 0, maximum: 100, description: 'percent of the steps that are done' }),
  service_id: { ...Id, description: 'id of the service that it belongs to' },
  location: Nullable({ ...LocationReference, description: 'where it is; null if not set' }),
  a_side: Component(
    'CrossConnectNearSide',
    {
      port_id: Nullable({
        ...Id,
        description: 'id of the port; null if none is assigned, or it left the team',
      }),
      ...Wiring.properties,
    },
    { description: 'the side of the provider' },
  ),
  z_side: Component(
    'CrossConnectFarSide',
    {
      name: Text('owner of the other side'),
      circuit_id: Text('number of the circuit on the other side'),
      panel: Text('patch panel'),
      module: Text('module of the panel'),
      position: Text('position in the module'),
    },
    { description: 'the side of the customer' },
  ),
  media: Text('kind of cable, such as `single-mode duplex`'),
  connector: Text('connector, such as `LC/UPC`'),
  provider_ref: Text('number of the order at the data center'),
  loa_document: Nullable({
    ...Attachment,
    description: 'the newest letter of authorization; null if there is none',
  }),
  chargeable: Type.Boolean({ description: 'whether the customer pays for it' }),
  requested: { ...Time, description: 'when it was requested' },
  connected: { ...NullableTime, description: 'when it was connected; null if it never was' },
  ceased: { ...NullableTime, description: 'when it was removed; null if it was not' },
  log: Optional(
    Type.Array(
      Component('CrossConnectChange', {
        at: { ...Time, description: 'time of the change' },
        before: Enumeration('CrossConnectStatus', crossConnectStatuses),
        after: Enumeration('CrossConnectStatus', crossConnectStatuses),
        note: Text('note of the provider'),
      }),
      { description: 'with `include=log`: changes of the status, the newest first' },
    ),
  ),
})
export type CrossConnect = Static<typeof CrossConnect>

const orderings = ['id', 'name', 'circuit_id', 'status', 'requested'] as const
const filters = {
  status: Optional(Repeatable(Enumeration('CrossConnectStatus', crossConnectStatuses))),
  waits_for: Optional(
    Repeatable({ ...Enumeration('CrossConnectActor', crossConnectActors), description: 'who has to act' }),
  ),
  location: Optional(
    Repeatable(Type.String({ minLength: 1, maxLength: 200, description: 'key of a location' })),
  ),
  port_id: Optional(Repeatable({ ...Id, description: 'id of a port' })),
  service_id: Optional(Repeatable({ ...Id, description: 'id of a service' })),
  search: Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'contained in the name, a circuit number or the other side; case-insensitive',
    }),
  ),
}
const page = { ordering: Ordering(orderings, 'name'), limit: Limit, offset: Offset }
const params = Strict({ cross_connect_id: Id })

export const listCrossConnectsRoute = route({
  name: 'listCrossConnects',
  group: 'Inventory',
  method: 'GET',
  path: '/v3/inventory/cross-connects',
  summary: 'List cross connects',
  description:
    'The cross connects of services of the team. `waits_for=customer` lists those for which the team has to act.',
  permission: inventoryReading,
  query: Strict({ ...filters, ...page }),
  response: Page(CrossConnect),
  success: 200,
})

export const getCrossConnectRoute = route({
  name: 'getCrossConnect',
  group: 'Inventory',
  method: 'GET',
  path: '/v3/inventory/cross-connects/{cross_connect_id}',
  summary: 'Get cross connect',
  description: 'Returns one cross connect of the team.',
  permission: inventoryReading,
  params,
  query: Strict({ include: Optional(Include('CrossConnectInclude', ['log'])) }),
  response: CrossConnect,
  success: 200,
  conditional: true,
})

const { team_id: _team, ...uploadFields } = attachmentUpload.fields.properties

export const uploadCrossConnectLetterRoute = route({
  name: 'uploadCrossConnectLetter',
  group: 'Inventory',
  method: 'POST',
  path: '/v3/inventory/cross-connects/{cross_connect_id}/loa',
  summary: 'Upload letter of authorization for a cross connect',
  description:
    'The letter of authorization (LOA/CFA) of the other side, as PDF, PNG or JPEG. It is accepted while the status is `awaiting_loa`; a newer one ' +
    'replaces it. 409 in any other status.',
  permission: { credential: 'web', module: 'inventory', grant: 'inventory.order' },
  params,
  upload: {
    fields: Strict(uploadFields),
    file: {
      name: 'file',
      description: 'PDF, PNG or JPEG, at most 20 MiB',
      bytesMax: attachmentUpload.file.bytesMax,
      mediaTypes: ['application/pdf', 'image/png', 'image/jpeg'],
    },
  },
  response: CrossConnect,
  success: 201,
  creates: getCrossConnectRoute,
  errors: ['conflict'],
})

export const StaffCrossConnect = Component('StaffCrossConnect', {
  ...CrossConnect.properties,
  team: TeamReference,
  waiting_since: {
    ...NullableTime,
    description: 'since when `waits_for` has to act; null if nobody has',
  },
  next: Type.Array(Enumeration('CrossConnectStatus', crossConnectStatuses), {
    description: 'the states that it can be moved to',
  }),
})
export type StaffCrossConnect = Static<typeof StaffCrossConnect>

export const listStaffCrossConnectsRoute = route({
  name: 'listCrossConnectsOfAll',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/inventory/cross-connects',
  summary: 'List cross connects of all teams',
  description: 'Cross connects of all teams with their letters, by default the oldest first.',
  permission: staffReading('customers.see'),
  query: Strict({
    team_id: Optional(Repeatable(Id)),
    ...filters,
    ordering: Ordering(orderings, 'id'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(StaffCrossConnect),
  success: 200,
})

export const moveCrossConnectRoute = route({
  name: 'moveCrossConnect',
  group: 'Operator',
  method: 'POST',
  path: '/v3/admin/inventory/cross-connects/{cross_connect_id}/move',
  summary: 'Move cross connect to another state',
  description:
    'Changes the status, and tells the team. 409 if the state does not follow the current one: `next` lists those that do. Moving to the ' +
    'current state changes nothing but `provider_ref`.',
  permission: staffChanging('network.operate'),
  params,
  body: Strict({
    status: Enumeration('CrossConnectStatus', crossConnectStatuses),
    note: Optional(Line({ maxLength: 500, description: 'for the customer, in the log' })),
    provider_ref: Optional(Line({ maxLength: 100, description: 'number of the order at the data center' })),
  }),
  response: StaffCrossConnect,
  success: 200,
  errors: ['conflict'],
})

export const crossConnectRoutes = [
  listCrossConnectsRoute,
  getCrossConnectRoute,
  uploadCrossConnectLetterRoute,
  listStaffCrossConnectsRoute,
  moveCrossConnectRoute,
]
