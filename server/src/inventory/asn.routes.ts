// The HTTP side of ASNs: one line per operation.
import {
  listAsns as listRoute,
  listAsnsOfTeams,
  revokeAsnOfTeam,
  verifyAsn as verifyRoute,
  verifyAsnOfTeam,
} from '@pharos/contract/inventory'
import { handle, type Mounted } from '../http/mount.ts'
import { listAsns } from './asn.ts'
import { listAllAsns, revokeForTeam, verifyForTeam, type AsnDecisionDeps } from './asn-decision.ts'
import { verifyAsn, type VerifyAsnDeps } from './asn-proof.ts'

export function asnRoutes(deps: VerifyAsnDeps & AsnDecisionDeps): Mounted[] {
  return [
    handle(listRoute, async (operation, { query }) => {
      const body = await listAsns(deps, operation, query)
      return { body, page: { ...query, count: body.count } }
    }),
    handle(verifyRoute, (operation, { params, query }) => verifyAsn(deps, operation, params.asn, query)),
    handle(listAsnsOfTeams, async (_operation, { query }) => {
      const body = await listAllAsns(deps, query)
      return { body, page: { ...query, count: body.count } }
    }),
    handle(verifyAsnOfTeam, async (operation, { params, body }) => ({
      body: await verifyForTeam(deps, operation, params.asn, body),
    })),
    handle(revokeAsnOfTeam, async (operation, { params, body }) => ({
      body: await revokeForTeam(deps, operation, params.asn, body),
    })),
  ]
}
