// Support for tests of the reconciler: a speaker as the only router of a region. The product does not import this file.
import type { RouteSettings } from './plan.ts'
import type { LastKnownRoutesFiles } from './last-known-routes.ts'
import type { RegionMemory } from './region-lock.store.ts'
import type { Router } from './region-run.ts'
import type { Speaker } from './speaker.ts'

export function routerOf(
  speaker: Speaker,
  { name = 'r1', asn = 64500, routes = {} }: { name?: string; asn?: number; routes?: RouteSettings } = {},
): Router {
  return { name, speaker, asn: async () => asn, daemon: async () => (await speaker.probe()).key, routes }
}

export const emptyMemory: RegionMemory = {
  recent: [],
  decisions: [],
  openApproval: null,
  kept: [],
  routers: new Map(),
  formers: [],
  daemons: [],
}

/** For reconcilers whose database is always available. */
export const noLastKnownRoutes: LastKnownRoutesFiles = {
  save: async () => {},
  remove: async () => {},
  load: () => [],
}
