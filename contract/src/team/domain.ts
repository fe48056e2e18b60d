// Domains of a team: verification by a DNS record, and automatic membership for users with an address in the domain.
import { Type, type Static } from 'typebox'
import { route } from '../route.ts'
import {
  Id,
  Limit,
  Nullable,
  NullableTime,
  Offset,
  Optional,
  Ordering,
  Page,
  Strict,
  Time,
  Component,
  Enumeration,
} from '../scalar.ts'
import { TeamInPath } from './team.ts'

/**
 * `valid`: the record was found. `missing`: no record. `mismatch`: another text. `unavailable`: the name servers did not
 * answer, or answered with an error. `claimed`: the record was found, but another team has the domain.
 */
export const domainCheckResults = ['valid', 'missing', 'mismatch', 'unavailable', 'claimed'] as const
export type DomainCheckResult = (typeof domainCheckResults)[number]

export const Domain = Component('Domain', {
  id: { ...Id, description: 'id of the domain in the team' },
  domain: Type.String({ description: 'in lower case and A-labels: `xn--mnchen-3ya.example`' }),
  verified: Nullable(
    Type.String({
      format: 'date-time',
      description: 'when the domain was verified; null if it is not',
    }),
  ),
  method: { ...Enumeration('DomainVerificationMethod', ['dns_txt']), description: 'how it is verified' },
  record_name: Type.String({ description: 'name of the TXT record to create' }),
  record_value: Type.String({ description: 'text of the TXT record to create' }),
  last_check: { ...NullableTime, description: 'when the record was last checked' },
  last_check_result: Nullable({
    ...Enumeration('DomainCheckResult', domainCheckResults),
    description: 'result of the last check',
  }),
  auto_join: Type.Boolean({
    description:
      'users who sign in with a confirmed address in the domain become members while it is verified',
  }),
  created: { ...Time, description: 'when the domain was added' },
})
export type Domain = Static<typeof Domain>

const inTeam = Strict({ team_id: TeamInPath })
const oneDomain = Strict({ team_id: TeamInPath, domain_id: Id })
const reading = { credential: 'any', scope: 'team:read', grant: 'team.see' } as const
const writing = { credential: 'any', scope: 'team:write', grant: 'team.manage' } as const

export const listDomainsRoute = route({
  name: 'listDomains',
  group: 'Team',
  method: 'GET',
  path: '/v3/teams/{team_id}/domains',
  summary: 'List team domains',
  description: 'The verified and pending domains of the team, by name by default.',
  permission: reading,
  params: inTeam,
  query: Strict({
    verified: Optional(Type.Boolean()),
    ordering: Ordering(['id', 'domain', 'created', 'verified', 'last_check'], 'domain'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(Domain),
  success: 200,
})

export const getDomainRoute = route({
  name: 'getDomain',
  group: 'Team',
  method: 'GET',
  path: '/v3/teams/{team_id}/domains/{domain_id}',
  summary: 'Get team domain',
  description: 'Returns one domain with its TXT record.',
  permission: reading,
  params: oneDomain,
  response: Domain,
  success: 200,
  conditional: true,
})

export const addDomainRoute = route({
  name: 'addDomain',
  group: 'Team',
  method: 'POST',
  path: '/v3/teams/{team_id}/domains',
  summary: 'Add Team domain',
  description:
    'Adds a domain and returns the TXT record to create; for admins of the team. The record is checked at ' +
    'once, every minute for a day, then less often, and after 30 days only on request (verifyDomain). Once ' +
    'verified, it is checked every day, and the verification is lost after three days without the record. A ' +
    'name server that does not answer changes nothing. A domain of another team can be added as well; ' +
    'whether another team has it is not revealed before the record exists. A subdomain is a separate domain.',
  permission: writing,
  params: inTeam,
  body: Strict({
    domain: Type.String({
      minLength: 1,
      maxLength: 1000,
      description:
        'such as acme.net, in Unicode or A-labels; not a public suffix and not a public mail provider',
    }),
    auto_join: Optional(
      Type.Boolean({
        default: false,
        description: 'users with a confirmed address in the domain become members',
      }),
    ),
  }),
  response: Domain,
  success: 201,
  creates: getDomainRoute,
  errors: ['forbidden', 'conflict', 'quota_exceeded'],
  conditional: true,
})

export const updateDomainRoute = route({
  name: 'updateDomain',
  group: 'Team',
  method: 'PATCH',
  path: '/v3/teams/{team_id}/domains/{domain_id}',
  summary: 'Update Team domain',
  description:
    'Changes the given fields; for admins of the team. With `auto_join`, users who sign in with a confirmed ' +
    'address in the domain, not in a subdomain, become members with the `default_roles` of the team, except former members ' +
    'of the team.',
  permission: writing,
  params: oneDomain,
  body: Strict({ auto_join: Optional(Type.Boolean()) }),
  response: Domain,
  success: 200,
  errors: ['forbidden'],
  conditional: true,
})

export const verifyDomainRoute = route({
  name: 'verifyDomain',
  group: 'Team',
  method: 'POST',
  path: '/v3/teams/{team_id}/domains/{domain_id}/verify',
  summary: 'Verify Team domain',
  description:
    'Checks the record now and returns the result; for admins of the team, once a minute per domain. It ' +
    'never ends a verification: only the daily checks do.',
  permission: writing,
  params: oneDomain,
  response: Domain,
  success: 200,
  errors: ['forbidden', 'domain_claimed'],
})

export const removeDomainRoute = route({
  name: 'removeDomain',
  group: 'Team',
  method: 'DELETE',
  path: '/v3/teams/{team_id}/domains/{domain_id}',
  summary: 'Remove Team domain',
  description: 'Removes a domain; for admins of the team. Members who joined by the domain stay members.',
  permission: writing,
  params: oneDomain,
  success: 204,
  errors: ['forbidden', 'conflict'],
  conditional: true,
})

export const domainRoutes = [
  listDomainsRoute,
  getDomainRoute,
  addDomainRoute,
  updateDomainRoute,
  verifyDomainRoute,
  removeDomainRoute,
]
