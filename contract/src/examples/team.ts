// Examples of teams, members, invitations, domains, API tokens and the audit log.
import { getAuditEntryRoute, listAuditEntriesRoute, type AuditEntry } from '../team/audit.ts'
import {
  addDomainRoute,
  getDomainRoute,
  listDomainsRoute,
  removeDomainRoute,
  updateDomainRoute,
  verifyDomainRoute,
  type Domain,
} from '../team/domain.ts'
import { example } from '../example.ts'
import { acceptInvitationRoute, showInvitationRoute } from '../session/invitation.ts'
import {
  addMemberRoute,
  getMemberRoute,
  listMembersRoute,
  removeMemberRoute,
  resendInvitationRoute,
  updateMemberRoute,
  type Member,
} from '../team/member.ts'
import { grantsOf, roles } from '../role.ts'
import { listRolesRoute } from '../team/role-list.ts'
import {
  createServiceAccountRoute,
  deleteServiceAccountRoute,
  getServiceAccountRoute,
  listServiceAccountsRoute,
  updateServiceAccountRoute,
  type ServiceAccount,
} from '../team/service-account.ts'
import { getTeamRoute, listTeamsRoute, updateTeamRoute, type Team } from '../team/team.ts'
import {
  createTokenRoute,
  deleteTokenRoute,
  getTokenRoute,
  listTokensRoute,
  rotateTokenRoute,
  transferTokenRoute,
  updateTokenRoute,
  type Token,
} from '../team/token.ts'
import { admin, apiToken, engineer, requestId, team, tokenId, web } from './world.ts'

const lindholm: Team = {
  ...team,
  slug: 'lindholm',
  description: 'Web and game servers',
  billing_email: 'billing@lindholm.example',
  technical_email: 'noc@lindholm.example',
  abuse_email: 'abuse@lindholm.example',
  noc_phone: '+46 8 123 456 78',
  country: 'SE',
  timezone: 'Europe/Stockholm',
  asns: [{ asn: web.origin_asn, verified: '2026-03-01T15:30:22.640Z' }],
  require_2fa: true,
  default_roles: ['editor'],
  token_days_max: null,
  created: '2026-02-27T08:45:10.205Z',
  member_count: 2,
}

const adminMember: Member = {
  id: 51,
  user_id: admin.id,
  email: admin.email,
  display_name: admin.name,
  is_admin: true,
  roles: ['admin'],
  status: 'active',
  invited_by: null,
  joined: '2026-02-27T08:45:10.205Z',
  last_seen: '2026-04-01T09:18:33.101Z',
  two_factor: true,
}
const engineerMember: Member = {
  id: 52,
  user_id: engineer.id,
  email: engineer.email,
  display_name: engineer.name,
  is_admin: false,
  roles: ['editor'],
  status: 'active',
  invited_by: admin.email,
  joined: '2026-02-28T10:02:47.980Z',
  last_seen: '2026-03-31T16:40:02.515Z',
  two_factor: true,
}
const invitedMember: Member = {
  id: 53,
  user_id: null,
  email: 'sofia@lindholm.example',
  display_name: '',
  is_admin: false,
  roles: ['network', 'dns'],
  status: 'invited',
  invited_by: admin.email,
  joined: null,
  last_seen: null,
  two_factor: false,
}

const inTeam = { params: { team_id: 'current' } }
const memberIn = { params: { team_id: 'current', member_id: engineerMember.id } }

const domain: Domain = {
  id: 9,
  domain: 'lindholm.example',
  verified: '2026-02-28T09:31:18.240Z',
  method: 'dns_txt',
  record_name: '_pharos-challenge.lindholm.example',
  record_value: 'pharos-domain-verification=Zq3vXk8nR2mB7tYw',
  last_check: '2026-04-01T04:12:09.660Z',
  last_check_result: 'valid',
  auto_join: true,
  created: '2026-02-28T09:25:00.418Z',
}
const domainIn = { params: { team_id: 'current', domain_id: domain.id } }

const token: Token = {
  id: tokenId,
  name: 'Terraform',
  scopes: ['ipam:read', 'ipam:write'],
  is_admin: true,
  resources: { prefixes: ['203.0.113.0/24', '2001:db8:a::/48'] },
  service_account_id: null,
  allowed_subnets: ['192.0.2.0/28'],
  created: '2026-03-02T08:59:14.020Z',
  created_by: `user:${admin.id}`,
  expires: '2027-03-02T00:00:00Z',
  max_unused_days: 90,
  last_used: '2026-04-01T09:21:00.000Z',
  last_used_address: '192.0.2.5',
  active: true,
  inactive_reason: null,
  previous_secret_until: null,
}
const tokenIn = { params: { token_id: token.id } }

const account: ServiceAccount = {
  id: 5,
  name: 'Deployment',
  description: 'Announces prefixes from the pipeline',
  roles: ['network'],
  disabled: false,
  token_count: 1,
  created: '2026-03-01T10:15:00.310Z',
  created_by: `user:${admin.id}`,
}
const accountIn = { params: { service_account_id: account.id } }

const entry: AuditEntry = {
  id: 70_318,
  at: '2026-04-01T09:21:06.721Z',
  actor: `token:${tokenId}`,
  actor_name: token.name,
  credential: `token:${tokenId}`,
  action: 'announcement.update',
  target: `announcement:${web.id}`,
  before: { enabled: true, regions: ['ams'] },
  after: { enabled: true, regions: ['ams', 'fra'] },
  request_id: requestId,
  address: '192.0.2.5',
  sealed: true,
  sequence: 48_213,
}

const invitationToken = 'inv_EXAMPLE-TOKEN-OF-THE-MAIL'

export const teamExamples = [
  example(listTeamsRoute, {
    query: { name: 'lind' },
    response: { results: [{ ...team, role: 'admin', roles: ['admin'] }], count: 1 },
  }),
  example(getTeamRoute, { ...inTeam, response: lindholm }),
  example(updateTeamRoute, {
    ...inTeam,
    body: { abuse_email: 'abuse@lindholm.example', require_2fa: true },
    response: lindholm,
  }),

  example(listMembersRoute, {
    ...inTeam,
    query: { status: 'active' },
    response: { results: [adminMember, engineerMember], count: 2 },
  }),
  example(getMemberRoute, { ...memberIn, response: engineerMember }),
  example(addMemberRoute, {
    ...inTeam,
    body: { email: invitedMember.email, roles: ['network', 'dns'], message: 'Welcome to the network team.' },
    response: invitedMember,
  }),
  example(resendInvitationRoute, {
    params: { team_id: 'current', member_id: invitedMember.id },
    response: invitedMember,
  }),
  example(updateMemberRoute, {
    ...memberIn,
    body: { roles: ['network', 'billing'] },
    response: { ...engineerMember, roles: ['network', 'billing'] },
  }),
  example(removeMemberRoute, memberIn),
  example(listRolesRoute, {
    response: {
      results: roles.map((name) => ({ name, grants: [...grantsOf([name])] })),
      count: roles.length,
    },
  }),
  example(showInvitationRoute, {
    body: { token: invitationToken },
    response: {
      email: invitedMember.email,
      team_name: team.name,
      invited_by: `${admin.name} (${admin.email})`,
      is_admin: false,
      roles: ['network', 'dns'],
      expires: '2026-04-08T11:00:00.000Z',
      has_account: false,
    },
  }),
  example(acceptInvitationRoute, {
    body: {
      token: invitationToken,
      password: 'seven granite lighthouses',
      first_name: 'Sofia',
      last_name: 'Berg',
    },
    response: {
      email: invitedMember.email,
      team_id: team.id,
      team_name: team.name,
      account_created: true,
    },
  }),

  example(listDomainsRoute, {
    ...inTeam,
    query: { verified: true },
    response: { results: [domain], count: 1 },
  }),
  example(getDomainRoute, { ...domainIn, response: domain }),
  example(addDomainRoute, {
    ...inTeam,
    body: { domain: domain.domain, auto_join: true },
    response: { ...domain, verified: null, last_check: null, last_check_result: null },
  }),
  example(updateDomainRoute, {
    ...domainIn,
    body: { auto_join: false },
    response: { ...domain, auto_join: false },
  }),
  example(verifyDomainRoute, { ...domainIn, response: domain }),
  example(removeDomainRoute, domainIn),

  example(listTokensRoute, {
    query: { active: true },
    response: { results: [token], count: 1 },
  }),
  example(getTokenRoute, { ...tokenIn, response: token }),
  example(createTokenRoute, {
    body: {
      name: token.name,
      scopes: ['ipam:read', 'ipam:write'],
      is_admin: true,
      resources: { prefixes: ['203.0.113.0/24', '2001:db8:a::/48'] },
      allowed_subnets: ['192.0.2.0/28'],
      expires: '2027-03-02T00:00:00Z',
      max_unused_days: 90,
    },
    response: { ...token, last_used: null, last_used_address: null, token: apiToken },
  }),
  example(updateTokenRoute, {
    ...tokenIn,
    body: { allowed_subnets: ['192.0.2.4/30'] },
    response: { ...token, allowed_subnets: ['192.0.2.4/30'] },
  }),
  example(deleteTokenRoute, tokenIn),
  example(rotateTokenRoute, {
    ...tokenIn,
    body: { overlap_hours: 48 },
    response: { ...token, previous_secret_until: '2026-04-03T09:21:00.000Z', token: apiToken },
  }),
  example(transferTokenRoute, {
    ...tokenIn,
    body: { service_account_id: account.id },
    response: { ...token, is_admin: false, service_account_id: account.id },
  }),

  example(listServiceAccountsRoute, { response: { results: [account], count: 1 } }),
  example(getServiceAccountRoute, { ...accountIn, response: account }),
  example(createServiceAccountRoute, {
    body: { name: account.name, description: account.description, roles: ['network'] },
    response: { ...account, token_count: 0 },
  }),
  example(updateServiceAccountRoute, {
    ...accountIn,
    body: { disabled: true },
    response: { ...account, disabled: true },
  }),
  example(deleteServiceAccountRoute, accountIn),

  example(listAuditEntriesRoute, {
    query: { action: ['announcement.*'], start: '2026-04-01T00:00:00Z' },
    response: { results: [entry], count: 1 },
  }),
  example(getAuditEntryRoute, { params: { audit_id: entry.id }, response: entry }),
]
