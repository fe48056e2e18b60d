// The HTTP side of ASNs: one line per operation.
import {
  listAsnsRoute,
  listAsnsOfTeamsRoute,
  revokeAsnOfTeamRoute,
  verifyAsnRoute,
  verifyAsnOfTeamRoute,
} from '@pharos/contract/inventory'
import { handle, type Mounted } from '../http/mount.ts'
import { listAsns } from './asn.ts'
import { listAllAsns, revokeForTeam, verifyForTeam, type AsnDecisionDeps } from './asn-decision.ts'
import { verifyAsn, type VerifyAsnDeps } from './asn-proof.ts'

export function asnRoutes(deps: VerifyAsnDeps & AsnDecisionDeps): Mounted[] {
  return [
    handle(listAsnsRoute, async (operation, { query }) => {
      const body = await listAsns(deps, operation, query)
      return { body, page: { ...query, count: body.count } }
    }),
    handle(verifyAsnRoute, (operation, { params, query }) => verifyAsn(deps, operation, params.asn, query)),
    handle(listAsnsOfTeamsRoute, async (_operation, { query }) => {
      const body = await listAllAsns(deps, query)
      return { body, page: { ...query, count: body.count } }
    }),
    handle(verifyAsnOfTeamRoute, async (operation, { params, body }) => ({
      body: await verifyForTeam(deps, operation, params.asn, body),
    })),
    handle(revokeAsnOfTeamRoute, async (operation, { params, body }) => ({
      body: await revokeForTeam(deps, operation, params.asn, body),
    })),
  ]
}
