// The files of the squashed migrations in their order, each with its first comment and the tables that it creates.

export type SquashedFile = {
  readonly title: string
  readonly head: string
  /** Tables that it creates, as names or beginnings of names with `*`. */
  readonly tables: readonly string[]
  /** Statements before the first table. */
  readonly before?: string
  /** Rows of a new installation. */
  readonly after?: string
}

const roles = `-- A role belongs to the cluster, not to the database: another database of the same server or an administrator may have created it. It is looked
-- up first, because an owner who may not create roles is refused even if the role exists.
do $$
begin
  if to_regrole('pharos_tenant') is null then
    create role pharos_tenant nologin;
  end if;
exception when duplicate_object or unique_violation then null;
end $$;

-- Since PostgreSQL 16 the creator of a role is a member of it without the right to become it.
do $$
declare
  becoming text := case when current_setting('server_version_num')::integer >= 160000 then 'SET' else 'MEMBER' end;
begin
  if not pg_has_role(current_user, 'pharos_tenant', becoming) then
    execute format('grant pharos_tenant to %I', current_user);
  end if;
end $$;

grant usage on schema public to pharos_tenant;`

export const squashedFiles: readonly SquashedFile[] = [
  {
    title: 'core',
    head: `-- Teams, users and members, locations, and the state of the installation and its processes.
--
-- Two walls keep teams apart. The first is \`team_id = $n\` in every store function. The second is row-level security: the work of the API
-- for a team runs as the role pharos_tenant with the setting pharos.team_id, and sees no other team. Loops and the operator's commands
-- run as the owner of the tables: policies do not apply to it.`,
    tables: [
      'teams',
      'users',
      'memberships',
      'former_members',
      'locations',
      'provider',
      'revisions',
      'processes',
      'installation',
      'idempotency_keys',
    ],
    before: roles,
    after: `insert into revisions (name) values ('ownership');
insert into installation default values;`,
  },
  {
    title: 'session',
    head: '-- Signing in: sessions and their keys, second factors, tokens of the API, invitations and domains of a team.',
    tables: [
      'sessions',
      'signing_keys',
      'sign_in_failures',
      'second_factors',
      'recovery_codes',
      'service_accounts',
      'api_tokens',
      'staff_tokens',
      'invitations',
      'domains',
    ],
  },
  {
    title: 'audit',
    head: '-- The audit log, and the chain of hashes that seals it.',
    tables: ['audit_*'],
  },
  {
    title: 'messages',
    head: '-- The outbox, and what leaves the installation: mails, notifications, webhooks and monthly reports.',
    tables: ['outbox', 'mails', 'mail_tokens', 'notification*', 'webhook*', 'monthly_reports'],
    after:
      'insert into notification_position (xid, id, since) values (pg_snapshot_xmin(pg_current_snapshot()), 0, now());',
  },
  {
    title: 'inventory',
    head: '-- Address space and ASNs of teams, services, devices, ports and their assignments, usage and bills.',
    tables: [
      'prefixes',
      'former_holdings',
      'asns',
      'services',
      'devices',
      'device_*',
      'ports',
      'port_assignments',
      'port_samples*',
      'port_days',
      'interface*',
      'transceivers',
      'gauge*',
      'billing_*',
      'bgp_sessions',
      'cross_connect*',
      'former_port_facts',
      'former_service_terms',
      'inventory_imports',
      'removed_resources',
    ],
  },
  {
    title: 'byoip',
    head: '-- Regions and their routers, announcements with their checks, letters and blackholes.',
    tables: [
      'regions',
      'region_*',
      'former_speakers',
      'announcement*',
      'notified_statuses',
      'asn_proofs',
      'letter*',
      'visibility_sources',
      'blackhole*',
    ],
  },
  {
    title: 'dns',
    head: '-- Zones with their record sets, versions and keys, the name servers, and what they serve.',
    tables: ['dns_*'],
  },
  {
    title: 'events',
    head: '-- Deliveries of detectors, the events that they report, and the part of each team in them.',
    tables: ['sources', 'deliver*', 'event*', 'incident_reports', 'team_event*', 'as_names', 'attachments'],
  },
  {
    title: 'collector',
    head: '-- Exporters of flows with their templates and samplings, and the thresholds and attacks of the detector.',
    tables: ['flow_*', 'detector_*', 'sampled_counters', 'port_attack_octets'],
  },
  {
    title: 'shield',
    head: '-- Lists of rules, the scrubbers that apply them, and what they have installed.',
    tables: ['scrubbers', 'shield_*'],
  },
  {
    title: 'operator',
    head: '-- Restores of a backup that wait for staff, and limits of credentials to resources.',
    tables: ['restore*', 'resource_limits'],
  },
  {
    title: 'approval',
    head: '-- Changes of any area that wait for staff.',
    tables: ['approvals'],
  },
]

/** The index of the file that creates a table. */
export function fileOf(table: string): number {
  const found = squashedFiles.findIndex(({ tables }) =>
    tables.some((one) => (one.endsWith('*') ? table.startsWith(one.slice(0, -1)) : one === table)),
  )
  if (found === -1) throw new Error(`files.ts: the table ${table} has no file`)
  return found
}

/** The files of functions that neither tables nor other objects need. */
export const functionFiles: Readonly<Record<string, string>> = {
  account_state: 'session',
  day_bucket: 'events',
  rate_bucket: 'events',
  bucket_rate: 'events',
  event_buckets: 'events',
  event_hours: 'events',
}
