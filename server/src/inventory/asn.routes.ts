// The HTTP side of a team's ASNs: one line per operation.
import { listAsns as listRoute, verifyAsn as verifyRoute } from '@pharos/contract/inventory'
import { handle, type Mounted } from '../http/mount.ts'
import { listAsns } from './asn.ts'
import { verifyAsn, type VerifyAsnDeps } from './asn-proof.ts'

export function asnRoutes(deps: VerifyAsnDeps): Mounted[] {
  return [
    handle(listRoute, async (operation, { query }) => {
      const body = await listAsns(deps, operation, query)
      return { body, page: { ...query, count: body.count } }
    }),
    handle(verifyRoute, (operation, { params, query }) => verifyAsn(deps, operation, params.asn, query)),
  ]
}
