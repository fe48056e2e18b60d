// Regions and their routers as the operator's staff see them, and draining a router.
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { route, staffChanging, staffReading } from '../route.ts'
import { sessionReasons } from '../reason/session-reason.ts'
import {
  Id,
  Limit,
  Nullable,
  NullableTime,
  Offset,
  Ordering,
  Page,
  Strict,
  Component,
  Enumeration,
} from '../scalar.ts'

/** RFC 4271 section 8.2.2, and `down` for a disabled neighbor. */
const neighborStates = [
  'idle',
  'connect',
  'active',
  'opensent',
  'openconfirm',
  'established',
  'down',
] as const

const SessionEnd = Component('SessionEnd', {
  reason: { ...Enumeration('SessionReason', sessionReasons), description: 'why the session is down' },
  message: Type.String({ description: 'the reason as text' }),
  detail: Nullable(
    Type.String({
      description: 'text of the router, such as the code of a NOTIFICATION; null if it has none',
    }),
  ),
})

const RouterNeighbor = Component('RouterNeighbor', {
  address: Type.String({ description: 'address of the neighbor' }),
  asn: Type.Integer({ minimum: 0, maximum: 4_294_967_295 }),
  description: Nullable(Type.String({ description: 'description on the router' })),
  state: { ...Enumeration('NeighborState', neighborStates), description: 'state of the BGP session' },
  families: Type.Array(Enumeration('AddressFamily', ['ipv4', 'ipv6']), {
    description: 'address families of the session; empty unless it is established',
  }),
  since: Nullable(
    Type.String({
      format: 'date-time',
      description: 'when the session was established or lost; null if the router does not report it',
    }),
  ),
  end: Nullable({
    ...SessionEnd,
    description: 'why the session is down; null if it is established, or if the router does not report it',
  }),
  received: Nullable(
    Type.Integer({
      minimum: 0,
      description:
        'routes of Pharos that the neighbor received with their origin at its last check; null if it was not checked',
    }),
  ),
  missing: Nullable(
    Type.Integer({
      minimum: 0,
      description: 'routes of Pharos that it did not receive; null like `received`',
    }),
  ),
  checked: { ...NullableTime, description: 'when it was last checked what the neighbor receives' },
})

export const RegionRouter = Component('RegionRouter', {
  name: Type.String({ description: 'name for people' }),
  kind: Type.String({ description: '`gobgp` or `sandbox`' }),
  drained: Nullable(
    Type.String({ format: 'date-time', description: 'when draining started; null if it is not drained' }),
  ),
  last_check: { ...NullableTime, description: 'when it was last read' },
  last_check_result: Nullable(
    Type.Boolean({ description: 'whether the last run could read it; null before the first run' }),
  ),
  error: Nullable(Type.String({ description: 'reason why the last run could not read it' })),
  routes: Nullable(Type.Integer({ minimum: 0, description: 'routes of Pharos on it at the last check' })),
  neighbors: Type.Array(RouterNeighbor, { description: 'the BGP neighbors of the router' }),
})
export type RegionRouter = Static<typeof RegionRouter>

export const AdminRegion = Component('AdminRegion', {
  slug: Type.String({ description: 'slug of the region' }),
  name: Type.String({ description: 'name for people' }),
  open: Type.Boolean({ description: 'teams may announce here' }),
  quorum: Nullable(
    Type.Integer({
      minimum: 1,
      description:
        'routers that must announce a route before it counts as announced; null: all that are not drained',
    }),
  ),
  last_check: { ...NullableTime, description: 'when it was last read' },
  last_check_result: Nullable(
    Type.Boolean({
      description:
        'whether the last run succeeded and found the region as desired: no route is missing, and enough routers have a session',
    }),
  ),
  error: Nullable(Type.String({ description: 'reason why the last run failed' })),
  neighbors_ipv4: Type.Boolean({
    description: 'whether a quorum of routers has an established session for IPv4',
  }),
  neighbors_ipv6: Type.Boolean({ description: 'the same for IPv6' }),
  routes_missing: Type.Integer({
    minimum: 0,
    description:
      'desired routes that the last check found on too few routers, rejected, outranked, or advertised to no neighbor',
  }),
  routers: Type.Array(RegionRouter, { description: 'the routers of the region' }),
  open_approval: Nullable({ ...Id, description: 'id of the open approval; null if there is none' }),
})
export type AdminRegion = Static<typeof AdminRegion>

export const listAdminRegionsRoute = route({
  name: 'listAdminRegions',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/regions',
  summary: 'List regions with their routers',
  description:
    'Every region with the state of each of its routers, of their BGP sessions, and with its open approval.',
  permission: staffReading('operator.see'),
  query: Strict({
    ordering: Ordering(['slug', 'name'], 'slug'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(AdminRegion),
  success: 200,
})

const params = Strict({
  slug: Type.String({ minLength: 1, maxLength: 255, description: 'slug of the region' }),
  name: Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'name of the router, unique in its region',
  }),
})
const path = '/v3/admin/regions/{slug}/routers/{name}/drain'

export const drainRouterRoute = route({
  name: 'drainRouter',
  group: 'Operator',
  method: 'POST',
  path,
  summary: 'Drain router',
  description:
    'Withdraws the routes of Pharos from one router before maintenance, each as soon as enough other routers ' +
    'of the region announce it. Nothing is withdrawn from the other routers. Returns 409 if the others ' +
    'cannot announce the routes. Draining a drained router changes nothing.',
  permission: staffChanging('network.operate'),
  params,
  response: AdminRegion,
  success: 200,
  dryRun: true,
  errors: ['conflict'],
})

export const undrainRouterRoute = route({
  name: 'undrainRouter',
  group: 'Operator',
  method: 'DELETE',
  path,
  summary: 'Undrain router',
  description: 'Announces the routes of the region on the router again. Repeating it changes nothing.',
  permission: staffChanging('network.operate'),
  params,
  response: AdminRegion,
  success: 200,
  dryRun: true,
})

export const adminRegionRoutes = [listAdminRegionsRoute, drainRouterRoute, undrainRouterRoute]
