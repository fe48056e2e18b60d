// The domains of a team: which it has proved to be its own, by a record in DNS, and what follows for whose address is there.
import { Type, type Static } from 'typebox'
import { route } from './route.ts'
import {
  Id,
  Limit,
  Nullable,
  NullableTime,
  Offset,
  OneOf,
  Optional,
  Page,
  Strict,
  Time,
  Component,
  Enumeration,
} from './scalar.ts'
import { TeamInPath } from './team.ts'

/**
 * `valid`: the record was found. `missing`: there is none. `mismatch`: there is another text. `unavailable`: the name
 * servers did not answer, or with an error. `claimed`: the record was found, and another team has the domain.
 */
export const domainCheckResults = ['valid', 'missing', 'mismatch', 'unavailable', 'claimed'] as const
export type DomainCheckResult = (typeof domainCheckResults)[number]

export const Domain = Component('Domain', {
  id: Id,
  domain: Type.String({ description: 'in lower case and A-labels: `xn--mnchen-3ya.example`' }),
  verified: Nullable(
    Type.String({
      format: 'date-time',
      description: 'since when the team is known to have it; null if it is not',
    }),
  ),
  method: OneOf('dns_txt'),
  record_name: Type.String({ description: 'name of the TXT record to create' }),
  record_value: Type.String({ description: 'text of the TXT record to create' }),
  last_check: NullableTime,
  last_check_result: Nullable(Enumeration('DomainCheckResult', domainCheckResults)),
  auto_join: Type.Boolean({
    description: 'who signs in with a confirmed address in the domain becomes a member, while it is verified',
  }),
  created: Time,
})
export type Domain = Static<typeof Domain>

const inTeam = Strict({ team_id: TeamInPath })
const oneDomain = Strict({ team_id: TeamInPath, domain_id: Id })
const reading = { credential: 'any', scope: 'team:read' } as const
const writing = { credential: 'any', scope: 'team:write' } as const

export const listDomainsRoute = route({
  name: 'listDomains',
  group: 'Team',
  method: 'GET',
  path: '/v3/teams/{team_id}/domains',
  summary: 'List team domains',
  description: 'The domains that the team has proved, and those that it has added and not proved, by name.',
  permission: reading,
  params: inTeam,
  query: Strict({ verified: Optional(Type.Boolean()), limit: Limit, offset: Offset }),
  response: Page(Domain),
  success: 200,
})

export const getDomainRoute = route({
  name: 'getDomain',
  group: 'Team',
  method: 'GET',
  path: '/v3/teams/{team_id}/domains/{domain_id}',
  summary: 'Get team domain',
  description: 'One domain, with the record that proves it.',
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
    'Answers with the TXT record to create; for admins of the team. The record is looked for at once, every minute for ' +
    'a day, then less often, and after 30 days only when asked (verifyDomain). Once found it has to stay: it is looked ' +
    'for every day, and the domain is lost when it was not there three days running. A name server that does not answer ' +
    'counts for nothing. A domain that another team has is added like any other: who has it is not told before the ' +
    'record is there. A subdomain of a domain is a domain of its own, whoever has the other.',
  permission: writing,
  params: inTeam,
  body: Strict({
    domain: Type.String({
      minLength: 1,
      maxLength: 1000,
      description:
        'such as acme.net, in Unicode or A-labels; no public suffix and no mail provider of everybody',
    }),
    auto_join: Optional(Type.Boolean({ default: false })),
  }),
  response: Domain,
  success: 201,
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
    'With `auto_join`, whoever signs in with a confirmed address in the domain, and not in one below it, becomes a ' +
    'member who is not an admin; nobody who left the team or was removed from it. For admins of the team.',
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
    'Looks for the record now, and answers with what was found; for admins of the team, once a minute for each domain. ' +
    'It never takes a verification away: only the daily checks do.',
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
  description:
    'Its members stay: whoever joined by the domain is a member like any other. For admins of the team.',
  permission: writing,
  params: oneDomain,
  success: 204,
  errors: ['forbidden'],
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
