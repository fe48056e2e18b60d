// The HTTP side of a team's domains: one line per operation.
import {
  addDomainRoute,
  getDomainRoute,
  listDomainsRoute,
  removeDomainRoute,
  updateDomainRoute,
  verifyDomainRoute,
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
    handle(listDomainsRoute, async (operation, { params, query }) => {
      const body = await listDomains(deps, operation, params.team_id, query)
      return { body, page: { ...query, count: body.count } }
    }),
    handle(getDomainRoute, (operation, { params }) =>
      getDomain(deps, operation, params.team_id, params.domain_id),
    ),
    handle(addDomainRoute, (operation, { params, body }) => addDomain(deps, operation, params.team_id, body)),
    handle(updateDomainRoute, (operation, { params, body }) =>
      updateDomain(deps, operation, params.team_id, params.domain_id, body),
    ),
    handle(verifyDomainRoute, (operation, { params }) =>
      verifyDomain(deps, operation, params.team_id, params.domain_id),
    ),
    handle(removeDomainRoute, async (operation, { params }) => {
      await removeDomain(deps, operation, params.team_id, params.domain_id)
      return {}
    }),
  ]
}
