// Former routers: routers that a region no longer has, and whose routes are not withdrawn yet.
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { route, staffChanging, staffReading } from '../route.ts'
import {
  Component,
  Id,
  Limit,
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

export const FormerRouter = Component('FormerRouter', {
  id: { ...Id, description: 'id of the former router' },
  region: Type.String({ description: 'slug of the region' }),
  name: Type.String({ description: 'its name in the region; another router may have it now' }),
  router: Type.String({ description: 'kind, address and owner, as `gobgp 192.0.2.1:50051 64500:1:1`' }),
  since: { ...Time, description: 'when the region lost it' },
  last_check: { ...NullableTime, description: 'when it was last read' },
  error: Nullable(Type.String({ description: 'reason why the last run could not read or empty it' })),
  routes: Type.Integer({
    minimum: 0,
    description: 'routes of Pharos on it at the last check; before the first one, those that it may have',
  }),
})
export type FormerRouter = Static<typeof FormerRouter>

export const listFormerRoutersRoute = route({
  name: 'listFormerRouters',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/former-routers',
  summary: 'List former routers',
  description:
    'Routers that are no longer in the platform file, or have another address or owner there. Each of their routes is ' +
    'withdrawn as soon as enough routers of the region announce it, or if it is not wanted. A router leaves the list ' +
    'once it was read empty twice. Until then, a disabled prefix that it announces is `withdrawing`.',
  permission: staffReading('operator.see'),
  query: Strict({
    region: Optional(
      Repeatable(Type.String({ minLength: 1, maxLength: 255, description: 'slug of the region' })),
    ),
    ordering: Ordering(['id', 'since'], 'id'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(FormerRouter),
  success: 200,
})

export const giveUpFormerRouterRoute = route({
  name: 'giveUpFormerRouter',
  group: 'Operator',
  method: 'POST',
  path: '/v3/admin/former-routers/{former_router_id}/gone',
  summary: 'Give up former router',
  description:
    'For a router whose hardware is gone, so that it will never answer. It leaves the list, and its prefixes count as ' +
    'withdrawn. If it still runs, its routes stay announced and Pharos will not withdraw them.',
  permission: staffChanging('network.operate'),
  params: Strict({ former_router_id: Id }),
  response: FormerRouter,
  success: 200,
  dryRun: true,
})

export const formerRouterRoutes = [listFormerRoutersRoute, giveUpFormerRouterRoute]
