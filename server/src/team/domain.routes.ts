// The HTTP side of a team's domains: one line per operation.
import {
  addDomain as addRoute,
  getDomain as getRoute,
  listDomains as listRoute,
  removeDomain as removeRoute,
  updateDomain as updateRoute,
  verifyDomain as verifyRoute,
} from '@pharos/contract/domain'
import { handle, type Mounted } from '../http/mount.ts'
import {
  addDomain,
  getDomain,
  listDomains,
  removeDomain,
  updateDomain,
  verifyDomain,
  type DomainDeps,
} from './domain.ts'

export function domainRoutes(deps: DomainDeps): Mounted[] {
  return [
    handle(listRoute, async (operation, { params, query }) => {
      const body = await listDomains(deps, operation, params.team_id, query)
      return { body, page: { ...query, count: body.count } }
    }),
    handle(getRoute, (operation, { params }) => getDomain(deps, operation, params.team_id, params.domain_id)),
    handle(addRoute, (operation, { params, body }) => addDomain(deps, operation, params.team_id, body)),
    handle(updateRoute, (operation, { params, body }) =>
      updateDomain(deps, operation, params.team_id, params.domain_id, body),
    ),
    handle(verifyRoute, (operation, { params }) =>
      verifyDomain(deps, operation, params.team_id, params.domain_id),
    ),
    handle(removeRoute, async (operation, { params }) => {
      await removeDomain(deps, operation, params.team_id, params.domain_id)
      return {}
    }),
  ]
}
