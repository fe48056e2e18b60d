// Records the examples of the provider's staff: a platform document, routers, approvals, customers, registries and a restore.
import { updateAnnouncementRoute } from '@pharos/contract/byoip/announcement'
import { giveUpFormerRouterRoute, listFormerRoutersRoute } from '@pharos/contract/byoip/former-router'
import { uploadLetterRoute } from '@pharos/contract/byoip/letter'
import {
  admin,
  approvalId,
  employee,
  team,
  web,
  web6,
  withdrawnPrefixes,
} from '@pharos/contract/examples/world'
import {
  approveChangesRoute,
  getApprovalRoute,
  listApprovalsRoute,
  rejectChangesRoute,
} from '@pharos/contract/operator/approval'
import {
  applyPlatformRoute,
  changePlatformRoute,
  listPlatformElementsRoute,
  listPlatformKindsRoute,
} from '@pharos/contract/operator/platform'
import { drainRouterRoute, listAdminRegionsRoute, undrainRouterRoute } from '@pharos/contract/operator/region'
import {
  closeRestoreRoute,
  decideRestoreRoute,
  getRestoreRoute,
  listRestoreItemsRoute,
  listRestoresRoute,
} from '@pharos/contract/operator/restore'
import { listInboxRoute } from '@pharos/contract/operator/inbox'
import { listMailsRoute } from '@pharos/contract/operator/mail'
import {
  listExportersRoute,
  listNameServersRoute,
  listScrubbersRoute,
} from '@pharos/contract/operator/network'
import { exportAccessRoute, listAccessRoute } from '@pharos/contract/operator/access-review'
import { listUsersRoute } from '@pharos/contract/operator/user'
import { getStatusRoute, listProcessesRoute } from '@pharos/contract/operator/status'
import { closeStaffAccessRoute, createSessionTokenRoute } from '@pharos/contract/session/session'
import {
  createFirstAccountRoute,
  getSetupProgressRoute,
  showSetupRoute,
  updateSetupProgressRoute,
} from '@pharos/contract/operator/setup'
import { listStaffAccessesRoute } from '@pharos/contract/operator/staff-access'
import {
  getCustomerRoute,
  inviteFirstAdminRoute,
  listCustomersRoute,
  listRegistriesRoute,
} from '@pharos/contract/operator/team'
import { sql } from 'kysely'
import { openSession } from '../credentials.ts'
import { insertApprovalRow, withdrawalsOf } from '../../../src/approval/testing.ts'
import { seedAnnouncement } from '../../../src/byoip/announcement/testing.ts'
import { openRestore } from '../../../src/restore/gate.store.ts'
import { readSetupCode } from '../../../src/setup/first-account.ts'
import { saveDifferences } from '../../../src/restore/restore.store.ts'
import { saveProcess, type RegistryReport } from '../../../src/status/status.store.ts'
import { letter } from './byoip.ts'
import type { Recorder } from './recorder.ts'

const restoreIn = { params: { restore_id: 1 } }
const itemId = 88
const customerId = 92
const formerRouterId = 3
const router = { params: { slug: 'fra', name: 'fra1' } }
const amsterdam = { key: 'ams', name: 'Amsterdam', country: 'NL', timezone: 'Europe/Amsterdam' }
const frankfurt = { key: 'fra', name: 'Frankfurt', country: 'DE', timezone: 'Europe/Berlin' }

/** The team announces four prefixes in both regions; each region has two routers. */
async function addRegions({ api, owner, nextId }: Recorder): Promise<Readonly<Record<string, number>>> {
  await sql`
    insert into regions (slug, name, location_key, quorum, speakers)
    select key, name, key, 1, jsonb_build_array(
      jsonb_build_object('name', key || '1', 'kind', 'gobgp'), jsonb_build_object('name', key || '2', 'kind', 'gobgp'))
    from locations order by key`.execute(owner)
  const { rows } = await sql<{ id: number; slug: string }>`select id, slug from regions order by id`.execute(
    owner,
  )
  for (const { id, cidr } of withdrawnPrefixes) {
    await sql`insert into prefixes (team_id, prefix) values (${team.id}, ${cidr}::cidr)`.execute(owner)
    await nextId('announcements', id)
    await seedAnnouncement(api.database.postgres, {
      teamId: team.id,
      prefix: cidr,
      enabled: true,
      regions: rows.map(({ id }) => id),
    })
  }
  await sql`update announcement_regions set state = 'announced'`.execute(owner)
  await sql`update announcements set status = 'announced'`.execute(owner)
  return Object.fromEntries(rows.map(({ id, slug }) => [slug, id]))
}

/** The reconcilers have read the routers now. The second neighbor has ended its session. */
async function checkRouters({ owner }: Recorder): Promise<void> {
  const neighbor = { address: '192.0.2.1', asn: 64_500, description: 'edge router', state: 'established' }
  const neighbors = [
    { ...neighbor, families: [4, 6], since: '2026-03-28T02:11:40.000Z' },
    {
      address: '192.0.2.2',
      asn: 64_510,
      description: 'exchange',
      state: 'active',
      families: [],
      since: '2026-04-01T08:02:11.000Z',
      end: { reason: 'notification_received' },
    },
  ]
  const checks = [4, 6].map((family) => ({ address: neighbor.address, family, received: 2, missing: [] }))
  await sql`
    insert into region_routers (region_id, name, last_check, last_check_result, routes, neighbors, neighbor_checks)
    select r.id, s.value ->> 'name', now(), true, 4, ${JSON.stringify(neighbors)}::jsonb,
      (select jsonb_agg(c || jsonb_build_object('at', now())) from jsonb_array_elements(${JSON.stringify(checks)}::jsonb) c)
    from regions r cross join jsonb_array_elements(r.speakers) s
    on conflict (region_id, name) do update set last_check = now(), neighbor_checks = excluded.neighbor_checks`.execute(
    owner,
  )
  await sql`update regions set last_check = now(), last_check_result = true`.execute(owner)
}

async function recordRouters(recorder: Recorder, regions: Readonly<Record<string, number>>): Promise<void> {
  const { owner, record, at, nextId } = recorder
  await at('2026-04-01T09:21:05.020Z')
  await checkRouters(recorder)
  await at('2026-04-01T09:21:06.721Z')
  await record(listAdminRegionsRoute, { query: { ordering: '-slug', limit: 1 } })
  await record(drainRouterRoute, router)
  await at('2026-04-01T09:48:35.100Z')
  await checkRouters(recorder)
  await at('2026-04-01T09:48:40.318Z')
  await record(undrainRouterRoute, router)
  await nextId('former_speakers', formerRouterId)
  await sql`
    insert into former_speakers (region_id, name, settings, identity, since, prefixes, last_check, last_error)
    values (${regions['fra']!}, 'fra3', '{"kind":"gobgp"}', 'gobgp 192.0.2.7:50051 64500:1:1', '2026-04-01T08:12:44.310Z',
      ${[web.cidr, web6.cidr]}::cidr[], '2026-04-01T08:12:46.120Z', 'gobgpd at 192.0.2.7:50051: no connection')`.execute(
    owner,
  )
  await record(listFormerRoutersRoute, { query: { region: ['fra'] } })
  await record(giveUpFormerRouterRoute, { params: { former_router_id: formerRouterId } })
}

async function recordApprovals(recorder: Recorder, regions: Readonly<Record<string, number>>): Promise<void> {
  const { owner, record, call, at, nextId } = recorder
  await at('2026-04-01T10:02:18.004Z')
  for (const { id } of withdrawnPrefixes)
    await call(updateAnnouncementRoute, { params: { announcement_id: id }, body: { enabled: false } })
  await at('2026-04-01T10:02:18.410Z')
  await nextId('approvals', approvalId)
  for (const slug of ['fra', 'ams'])
    await insertApprovalRow(owner, {
      area: 'routes',
      kind: 'changes',
      reason: 'too_many_withdrawals',
      attrs: { max: 3, team_max: 3, minutes: 10, recent: 0 },
      items: withdrawalsOf(withdrawnPrefixes.map(({ cidr }) => cidr)),
      regionId: regions[slug]!,
    })
  await at('2026-04-01T10:05:00.000Z')
  await record(listApprovalsRoute, { query: { state: ['open'], region: ['fra'], include: 'items' } })
  await record(getApprovalRoute, { params: { approval_id: approvalId } })
  await recordCustomers(recorder)
  await at('2026-04-01T10:09:44.190Z')
  await record(approveChangesRoute, {
    params: { approval_id: approvalId },
    body: { note: 'Agreed by telephone.' },
  })
  await record(rejectChangesRoute, {
    params: { approval_id: approvalId + 1 },
    body: { note: 'The team moves its servers to Amsterdam.' },
  })
}

async function recordCustomers({ call, record, owner }: Recorder): Promise<void> {
  // An event that has not ended: the bucket of its end.
  await sql`insert into team_event_counts (team_id, facet, measure, bucket, events) values (${team.id}, 0, 'end', 2147483647, 1)`.execute(
    owner,
  )
  const fields = { valid_until: '2027-03-01T00:00:00Z', applies_to: [web6.id] }
  await call(uploadLetterRoute, { params: { announcement_id: web.id }, fields }, { file: letter })
  await record(listCustomersRoute, { query: { search: 'lind', ordering: '-open_requests', limit: 100 } })
  await record(getCustomerRoute, { params: { team_id: team.id } })
  await record(listInboxRoute, { query: { team_id: [team.id] } })
}

async function recordStaffAccesses({ api, call, record, at, nextId }: Recorder): Promise<void> {
  await at('2026-04-01T10:21:40.212Z')
  await nextId('staff_accesses', 12)
  const { access } = await openSession(api, employee.id, 1)
  const staff = { headers: { authorization: `Bearer ${access}` } }
  const reason = `The announcement of ${web.cidr} is not visible, as you reported.`
  await call(createSessionTokenRoute, { body: { team_id: team.id, reason, ticket: 'NOC-4711' } }, staff)
  await record(listStaffAccessesRoute, { query: { open: true } })
  await at('2026-04-01T10:24:02.911Z')
  await record(closeStaffAccessRoute, { body: { team_id: team.id } }, staff)
}

async function recordRegistries({ owner, record, at }: Recorder): Promise<void> {
  await at('2026-04-01T10:21:03.420Z')
  const registries: RegistryReport[] = [
    {
      kind: 'rpki',
      name: 'rtr://rpki.example.net:8282',
      ok: true,
      answered: '2026-04-01T10:20:58.100Z',
      state: 'up',
      error: null,
      records: 702_114,
      serial: null,
    },
    {
      kind: 'irr',
      name: 'whois://irr.example.net',
      ok: false,
      answered: '2026-04-01T09:55:12.000Z',
      state: 'down',
      error: 'connection refused',
      records: null,
      serial: 'RADB:5512034',
    },
  ]
  for (const pid of [411, 412])
    await saveProcess(owner, {
      id: `3f0b6c1e-93a5-4d0c-8f4e-0a9c1d7b2${pid}`,
      host: 'pharos1.example.net',
      pid,
      version: '1.0.0',
      roles: ['api', 'reconciler', 'collector', 'nameserver'],
      started: new Date('2026-04-01T06:00:00Z'),
      loops: [
        { name: 'audit-seal', interval_seconds: 5, last_success: '2026-04-01T10:21:01.310Z' },
        { name: 'send-mails', interval_seconds: 30, last_success: '2026-04-01T10:20:48.022Z' },
      ],
      registries,
      flow_store: null,
    })
  await at('2026-04-01T10:21:06.721Z')
  await record(listRegistriesRoute)
  // The clocks of the machine and of the recording differ, and no process seals.
  await sql`update processes set clock_ms = 3`.execute(owner)
  await sql`delete from audit_unsealed`.execute(owner)
  await record(getStatusRoute)
  await record(listProcessesRoute, { query: { running: true } })
}

/** What the parts of the installation do; the scrubber leaves before the restore, which would compare it. */
async function recordParts({ owner, record, at, nextId }: Recorder): Promise<void> {
  await at('2026-04-01T10:24:00.000Z')
  await sql`
    insert into dns_servers (name, address, region, checked, seen, identity)
    values ('ns1.example.net.', '192.0.2.53', 'ams', now(), now(), '{"version":"Knot DNS 3.5.1","id":"ns1"}')`.execute(
    owner,
  )
  await sql`
    insert into scrubbers (name, driver, prefixes, rules_max) values ('edge', '{"kind":"flowspec"}', '{203.0.113.0/24}', 1000)`.execute(
    owner,
  )
  await nextId('flow_exporters', 4)
  await sql`
    insert into flow_exporters (address, first_seen, last_seen, ambiguous_rates)
    values ('192.0.2.1', '2026-01-14T08:02:11Z', now(), '{1000,4096}')`.execute(owner)
  await sql`
    insert into flow_unknown_interfaces (exporter_id, if_index, last_seen) select id, 517, now() from flow_exporters`.execute(
    owner,
  )
  await record(listNameServersRoute, { query: { ordering: '-zones_behind' } })
  await record(listScrubbersRoute)
  await record(listExportersRoute, { query: { search: '192.0.2' } })
  await sql`delete from scrubbers`.execute(owner)
  await record(listMailsRoute, { query: { state: ['queued'], limit: 1 } })
  await record(listUsersRoute, { query: { search: 'lindholm', has_second_factor: false } })
  await record(listAccessRoute, { query: { kind: 'account', limit: 2 } })
  await record(exportAccessRoute, { query: { kind: 'staff' } })
}

/** The database has the state of a backup: it lacks changes that the routers have, and has a mail that was probably sent. */
async function recordRestores({ owner, record, at, nextId }: Recorder): Promise<void> {
  await at('2026-04-01T11:02:18.410Z')
  await nextId('restore_items', itemId - 1)
  // The end of a restore has the time of the statement.
  await sql`
    create function public.clock_timestamp() returns timestamptz language sql stable security definer as 'select now()'`.execute(
    owner,
  )
  await openRestore(
    owner,
    {
      reason: 'head_missing',
      evidence: {
        known_head: '120734:9f3c4d1e7a52b8860c1f2e3d4c5b6a79881726354453627180a9b8c7d6e5f4a3',
        found_head: '120612:5b0a1c2d3e4f5061728394a5b6c7d8e9f00112233445566778899aabbccddeef',
      },
      actor: 'pharos',
    },
    async () => {},
  )
  await at('2026-04-01T11:02:19.020Z')
  for (const [area, source] of [
    ['routes', 'ams'],
    ['zones', 'ns1.example.net'],
  ] as const)
    await saveDifferences(owner, { area, source, differences: [] })
  await saveDifferences(owner, {
    area: 'routes',
    source: 'fra',
    differences: [
      {
        subject: web.cidr,
        kind: 'add',
        teamId: team.id,
        database: { announcement_id: web.id, route: `AS${web.origin_asn} via 192.0.2.1` },
        network: null,
        adoptable: true,
      },
    ],
  })
  await at('2026-04-01T11:05:00.000Z')
  await record(listRestoresRoute, { query: { state: ['open'] } })
  await record(getRestoreRoute, restoreIn)
  await record(listRestoreItemsRoute, { ...restoreIn, query: { area: ['routes'] } })
  await at('2026-04-01T11:08:30.615Z')
  await record(decideRestoreRoute, {
    ...restoreIn,
    body: { area: 'routes', action: 'adopt', items: [itemId] },
  })
  await at('2026-04-01T11:09:44.190Z')
  await record(closeRestoreRoute, { ...restoreIn, body: { accept_uncompared: false } })
}

async function recordElements({ record, call, owner }: Recorder): Promise<void> {
  await record(listPlatformKindsRoute)
  const values = { key: 'par', name: 'Paris', country: 'FR', timezone: 'Europe/Paris' }
  await record(changePlatformRoute, {
    body: { changes: [{ action: 'create', section: 'locations', values }] },
  })
  await record(listPlatformElementsRoute, { params: { section: 'locations' } })
  await call(changePlatformRoute, {
    body: { changes: [{ action: 'delete', section: 'locations', key: 'par' }] },
  })
  await sql`insert into teams (id, slug, name) overriding system value values (${customerId}, 'bakery', 'Example Bakery')`.execute(
    owner,
  )
  await record(inviteFirstAdminRoute, {
    params: { team_id: customerId },
    body: { email: 'ann@bakery.example' },
  })
  await sql`delete from mails`.execute(owner)
  await sql`delete from teams where id = ${customerId}`.execute(owner)
}

/** The accounts are put aside: a setup needs an installation without one. */
async function recordFirstAccount({ record, owner, api, nextId, replace }: Recorder): Promise<void> {
  for (const table of ['users', 'memberships'])
    await sql`create table ${sql.ref(`kept_${table}`)} as table ${sql.ref(table)}`.execute(owner)
  await sql`delete from memberships`.execute(owner)
  await sql`delete from users`.execute(owner)
  const setup = await readSetupCode(owner, api.config.secret)
  replace(setup!.code, 'k3mzq-7ahwd-xk5ve-2pjtn')
  await record(showSetupRoute)
  await nextId('users', employee.id)
  await record(createFirstAccountRoute, {
    body: {
      code: setup!.code,
      provider: 'Example Net',
      email: employee.email,
      password: 'seven unlikely words of mine',
      first_name: 'Priya',
      last_name: 'Nair',
    },
  })
  for (const table of ['platform_owners', 'setup', 'provider', 'memberships', 'users'])
    await sql`delete from ${sql.ref(table)}`.execute(owner)
  await sql`insert into users overriding system value select * from kept_users`.execute(owner)
  await sql`insert into memberships overriding system value select * from kept_memberships`.execute(owner)
  for (const table of ['users', 'memberships'])
    await sql`drop table ${sql.ref(`kept_${table}`)}`.execute(owner)
}

export async function recordOperator(recorder: Recorder): Promise<void> {
  const { record, call, at, owner } = recorder
  await at('2026-03-01T09:00:00.000Z')
  await recordFirstAccount(recorder)
  await record(getSetupProgressRoute)
  await record(updateSetupProgressRoute, { body: { dismissed: true } })
  await call(applyPlatformRoute, { body: { locations: [amsterdam] } })
  await record(applyPlatformRoute, { body: { locations: [amsterdam, frankfurt] } })
  await recordElements(recorder)
  await sql`update teams set country = 'SE'`.execute(owner)
  await sql`insert into mails (recipient, template, content_sealed) values (${admin.email}, 'password-reset', '')`.execute(
    owner,
  )
  const regions = await addRegions(recorder)
  await recordRouters(recorder, regions)
  await recordApprovals(recorder, regions)
  await recordRegistries(recorder)
  await recordParts(recorder)
  await recordStaffAccesses(recorder)
  await recordRestores(recorder)
}
