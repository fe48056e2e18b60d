// Wires SCIM: its interface for identity providers, and the operations on its tokens.
import { createScimTokenRoute, deleteScimTokenRoute } from '@pharos/contract/team/provider'
import { handle, type Mounted } from '../http/mount.ts'
import type { ApiShared } from '../process/shared.ts'
import { createProviderToken, deleteProviderToken } from './scim-token.ts'
import { scimApi } from './scim.routes.ts'

/** An identity provider sends all people of a company with one token. */
const timesRate = 4

export function routes(shared: ApiShared): Mounted[] {
  const { config, front: db, postgres, ring, publicUrl, gate, metrics, log } = shared
  shared.addFacade(
    scimApi({
      db,
      postgres,
      ring,
      publicUrl,
      gate,
      membersPerTeam: config.membersPerTeam,
      rate: {
        perSecond: timesRate * config.rateLimitPerSecond,
        burst: timesRate * config.rateLimitBurst,
      },
      onUseError: (error) => log.error({ err: error }, 'the use of a SCIM token was not saved'),
      onRequest: (outcome) => metrics.scimRequests.inc({ outcome }),
    }),
  )
  const deps = { db, postgres, ring, publicUrl }
  return [
    handle(createScimTokenRoute, createProviderToken, deps),
    handle(deleteScimTokenRoute, deleteProviderToken, deps),
  ]
}
