// Records the examples of teams: members, invitations, domains, API tokens, service accounts and the audit log.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import {
  admin,
  apiToken,
  engineer,
  requestId,
  team,
  tokenId,
  web,
  web6,
} from '@pharos/contract/examples/world'
import { updateAnnouncementRoute } from '@pharos/contract/byoip/announcement'
import { acceptInvitationRoute, showInvitationRoute } from '@pharos/contract/session/invitation'
import {
  getAuditEntryRoute,
  listAuditEntriesRoute,
  listStaffAuditEntriesRoute,
} from '@pharos/contract/team/audit'
import {
  addDomainRoute,
  getDomainRoute,
  listDomainsRoute,
  removeDomainRoute,
  updateDomainRoute,
  verifyDomainRoute,
} from '@pharos/contract/team/domain'
import {
  addMemberRoute,
  getMemberRoute,
  listMembersRoute,
  removeMemberRoute,
  resendInvitationRoute,
  updateMemberRoute,
} from '@pharos/contract/team/member'
import { exportTeamAccessRoute, listTeamAccessRoute } from '@pharos/contract/team/access-review'
import { listRolesRoute } from '@pharos/contract/team/role-list'
import {
  createServiceAccountRoute,
  deleteServiceAccountRoute,
  getServiceAccountRoute,
  listServiceAccountsRoute,
  updateServiceAccountRoute,
} from '@pharos/contract/team/service-account'
import {
  createViewRoute,
  deleteViewRoute,
  getViewRoute,
  listViewsRoute,
  shareViewRoute,
  updateViewRoute,
} from '@pharos/contract/team/view'
import { getTeamRoute, listTeamsRoute, updateTeamRoute } from '@pharos/contract/team/team'
import {
  createTokenRoute,
  deleteTokenRoute,
  getTokenRoute,
  listTokensRoute,
  rotateTokenRoute,
  transferTokenRoute,
  updateTokenRoute,
} from '@pharos/contract/team/token'
import { sql } from 'kysely'
import { sealAll } from '../../../src/audit/seal.ts'
import { seedAnnouncement, seedRegions } from '../../../src/byoip/announcement/testing.ts'
import { recordValues } from '../../../src/team/domain-proof.ts'
import type { TeamDomainName } from '../../../src/team/domain-name.ts'
import { formatInvitationToken, invitationMac } from '../../../src/team/invitation-token.ts'
import { openSession } from '../credentials.ts'
import { recordingKeys, type Recorder } from './recorder.ts'

const domain = 'lindholm.example'
const memberIds = { admin: 51, engineer: 52, invited: 53 }
const inTeam = { params: { team_id: 'current' } }
const engineerIn = { params: { ...inTeam.params, member_id: memberIds.engineer } }
const domainIn = { params: { ...inTeam.params, domain_id: 9 } }
const accountIn = { params: { service_account_id: 5 } }

/** Calls `use` with settings whose resolver has the record that verifies the domain. */
export async function withDomain(use: (settings: Record<string, string>) => Promise<void>): Promise<void> {
  const [text] = recordValues(recordingKeys, team.id, domain as TeamDomainName)
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => socket.send(txtAnswer(query, text), from.port, from.address))
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  try {
    await use({ PHAROS_DNS_RESOLVERS: `127.0.0.1:${socket.address().port}` })
  } finally {
    socket.close()
  }
}

/** Returns the response to a query with one question: one TXT record (RFC 1035 section 4). */
function txtAnswer(query: Buffer, text: string): Buffer {
  const header = Buffer.from([query[0]!, query[1]!, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0])
  const question = query.subarray(12, query.indexOf(0, 12) + 5)
  const record = Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60, 0, text.length + 1, text.length])
  return Buffer.concat([header, question, record, Buffer.from(text)])
}

/** The members joined on different days and have a second factor. The team has announcements in one of two regions. */
async function addHistory({ api, owner, nextId }: Recorder): Promise<void> {
  const { postgres } = api.database
  await sql`update teams set created = '2026-02-27T08:45:10.205Z' where id = ${team.id}`.execute(owner)
  await sql`update users set totp_enabled = '2026-02-27T09:03:40.511Z'`.execute(owner)
  await sql`
    update memberships m set id = n.id, joined = n.joined, invited_by = n.invited_by
    from (values
      (${admin.id}::integer, ${memberIds.admin}::integer, '2026-02-27T08:45:10.205Z'::timestamptz, null::integer),
      (${engineer.id}, ${memberIds.engineer}, '2026-02-28T10:02:47.980Z', ${admin.id})) n (user_id, id, joined, invited_by)
    where m.user_id = n.user_id`.execute(owner)
  await sql`select setval('member_ids', ${memberIds.engineer})`.execute(owner)
  await sql`
    insert into asns (team_id, asn, verified) values (${team.id}, ${web.origin_asn}, '2026-03-01T15:30:22.640Z')`.execute(
    owner,
  )
  const { ams } = await seedRegions(postgres, ['ams', 'fra'])
  await nextId('announcements', web.id)
  for (const { cidr } of [web, web6]) {
    await sql`insert into prefixes (team_id, prefix) values (${team.id}, ${cidr}::cidr)`.execute(owner)
    await seedAnnouncement(postgres, { teamId: team.id, prefix: cidr, enabled: true, regions: [ams!] })
  }
}

export async function recordTeam(recorder: Recorder): Promise<void> {
  await addHistory(recorder)
  await recordSettings(recorder)
  await recordViews(recorder)
  await recordTokens(recorder)
  await recordMembers(recorder)
}

async function recordSettings({ record, replace, at, nextId }: Recorder): Promise<void> {
  const [text] = recordValues(recordingKeys, team.id, domain as TeamDomainName)
  replace(text, 'pharos-domain-verification=Zq3vXk8nR2mB7tYwZq3vXk8n')
  await nextId('domains', 9)
  await nextId('service_accounts', 5)
  await at('2026-03-01T16:02:10.205Z')
  await record(updateTeamRoute, {
    ...inTeam,
    body: {
      description: 'Web and game servers',
      billing_email: 'billing@lindholm.example',
      technical_email: 'noc@lindholm.example',
      abuse_email: 'abuse@lindholm.example',
      noc_phone: '+46 8 123 456 78',
      country: 'SE',
      timezone: 'Europe/Stockholm',
      default_roles: ['editor'],
      require_2fa: true,
      token_days_max: 366,
    },
  })
  await record(getTeamRoute, inTeam)
  await record(listTeamsRoute, { query: { name: 'lind' } })
  await record(listRolesRoute)
  await at('2026-03-01T16:25:00.418Z')
  await record(addDomainRoute, { ...inTeam, body: { domain, auto_join: true } })
  await at('2026-03-01T16:31:18.240Z')
  await record(verifyDomainRoute, domainIn)
  await record(getDomainRoute, domainIn)
  await record(listDomainsRoute, { ...inTeam, query: { verified: true } })
  await at('2026-03-01T16:34:40.110Z')
  await record(updateDomainRoute, { ...domainIn, body: { auto_join: false } })
  await record(removeDomainRoute, domainIn)
  await at('2026-03-01T17:15:00.310Z')
  await record(createServiceAccountRoute, {
    body: { name: 'Deployment', description: 'Announces prefixes from the pipeline', roles: ['network'] },
  })
}

async function recordTokens(recorder: Recorder): Promise<void> {
  const { api, owner, call, record, replace, at, nextId } = recorder
  await at('2026-03-02T08:59:14.020Z')
  const created = await record(createTokenRoute, {
    body: {
      name: 'Terraform',
      scopes: ['ipam:read', 'ipam:write'],
      is_admin: true,
      resources: { prefixes: [web.cidr, web6.cidr] },
      allowed_subnets: ['192.0.2.0/28'],
      expires: '2027-03-02T00:00:00Z',
      max_unused_days: 90,
    },
  })
  replace(created.token, apiToken)
  replace(created.id, tokenId)
  const tokenIn = { params: { token_id: created.id } }

  await at('2026-03-31T16:40:02.515Z')
  await openSession(api, engineer.id, team.id)
  await at('2026-04-01T09:21:06.721Z')
  await nextId('audit_entries', 70_318)
  await call(
    updateAnnouncementRoute,
    { params: { announcement_id: web.id }, body: { enabled: true, region: 'fra' } },
    { headers: { authorization: `Token ${created.token}` }, remoteAddress: '192.0.2.5' },
  )
  await api.settled()
  await sealAll(owner, recordingKeys, new AbortController().signal)
  const entries = await record(listAuditEntriesRoute, {
    query: { action: ['announcement.*'], start: '2026-04-01T00:00:00Z' },
  })
  const entry = entries.results[0]!
  replace(entry.request_id!, requestId)
  await record(getAuditEntryRoute, { params: { audit_id: entry.id } })
  await record(listStaffAuditEntriesRoute, { query: { team_id: [team.id], action: ['announcement.*'] } })

  await record(listTokensRoute, { query: { active: true } })
  await record(getTokenRoute, tokenIn)
  await at('2026-04-01T09:40:31.600Z')
  const rotated = await record(rotateTokenRoute, { ...tokenIn, body: { overlap_hours: 48 } })
  replace(rotated.token, apiToken)
  // The function of the database that rotates has the real time.
  replace(rotated.previous_secret_until!, '2026-04-03T09:40:31.600Z')
  await at('2026-04-01T09:44:02.071Z')
  await record(updateTokenRoute, { ...tokenIn, body: { allowed_subnets: ['192.0.2.4/30'] } })
  await at('2026-04-01T09:50:19.487Z')
  await record(transferTokenRoute, { ...tokenIn, body: accountIn.params })
  await record(listTeamAccessRoute, { ...inTeam, query: { ordering: 'kind,name', limit: 10 } })
  await record(exportTeamAccessRoute, { ...inTeam, query: { kind: 'member' } })
  await record(listServiceAccountsRoute)
  await record(getServiceAccountRoute, accountIn)
  await at('2026-04-01T09:55:47.332Z')
  await record(updateServiceAccountRoute, { ...accountIn, body: { disabled: true } })
  await record(deleteTokenRoute, tokenIn)
  await record(deleteServiceAccountRoute, accountIn)
}

const viewIn = { params: { view_id: 14 } }

async function recordViews({ record, at, nextId }: Recorder): Promise<void> {
  await nextId('saved_views', 14)
  await at('2026-03-02T09:10:31.870Z')
  await record(createViewRoute, {
    body: { page: 'events', name: 'Large attacks', search: '?range=7d&sort=-affected_bps' },
  })
  await record(shareViewRoute, { ...viewIn, body: { shared: true } })
  await record(updateViewRoute, {
    ...viewIn,
    body: { name: 'Large attacks, 30 days', search: '?range=30d&sort=-affected_bps' },
  })
  await record(listViewsRoute, { query: { page: 'events' } })
  await record(getViewRoute, viewIn)
  await record(deleteViewRoute, viewIn)
}

async function recordMembers({ api, owner, record, at }: Recorder): Promise<void> {
  const email = 'sofia@lindholm.example'
  const invitedIn = { params: { ...inTeam.params, member_id: memberIds.invited } }
  await at('2026-04-01T11:00:00.000Z')
  await record(listMembersRoute, { ...inTeam, query: { status: 'active' } })
  await record(getMemberRoute, engineerIn)
  await record(addMemberRoute, {
    ...inTeam,
    body: { email, roles: ['network', 'dns'], message: 'Welcome to the network team.' },
  })
  await at('2026-04-01T13:30:00.000Z')
  await record(resendInvitationRoute, invitedIn)
  // The link of the mail has a fixed token.
  const invitation = { id: memberIds.invited, secret: 'EXAMPLE-TOKEN-OF-THE-MAIL-NOT-A-REAL-SECRET' }
  await sql`update invitations set token_mac = ${invitationMac(api.config.secret, invitation)}`.execute(owner)
  const token = formatInvitationToken(invitation)
  await record(showInvitationRoute, { body: { token } })
  await at('2026-04-01T14:12:08.530Z')
  await record(acceptInvitationRoute, {
    body: { token, password: 'seven granite lighthouses', first_name: 'Sofia', last_name: 'Berg' },
  })
  await record(updateMemberRoute, { ...engineerIn, body: { roles: ['network', 'billing'] } })
  await record(removeMemberRoute, engineerIn)
}
