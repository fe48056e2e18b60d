// The HTTP side of a team's domains: one line per operation.
import {
  addDomainRoute,
  getDomainRoute,
  listDomainsRoute,
  removeDomainRoute,
  updateDomainRoute,
  verifyDomainRoute,
} from '@pharos/contract/team/domain'
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

export const domainRoutes = (deps: DomainDeps): Mounted[] => [
  handle(listDomainsRoute, listDomains, deps),
  handle(getDomainRoute, getDomain, deps),
  handle(addDomainRoute, addDomain, deps),
  handle(updateDomainRoute, updateDomain, deps),
  handle(verifyDomainRoute, verifyDomain, deps),
  handle(removeDomainRoute, removeDomain, deps),
]
