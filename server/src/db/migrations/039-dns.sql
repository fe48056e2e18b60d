-- DNS: zones with their record sets, the journal of changes, what is published of them, the name servers that follow, DNSSEC keys
-- and reverse DNS. Names are canonical: lower case, with the trailing dot. `name_key` is the same name so that the order of bytea is
-- the canonical order of RFC 4034 section 6.1: labels reversed, each ended by 00; an octet 00 or 01 in a label is 01 01 or 01 02.
-- `rdata` is wire format without compression.

------------------------------------------------------------------------------------------------- name servers, TSIG keys, defaults

create table dns_tsig_keys (
  id integer generated always as identity primary key,
  team_id integer references teams on delete cascade,
  name text not null unique check (name = lower(name) and name like '%_.'),
  algorithm text not null default 'hmac-sha256'
    check (algorithm in ('hmac-sha1', 'hmac-sha224', 'hmac-sha256', 'hmac-sha384', 'hmac-sha512')),
  secret_sealed bytea not null,
  created timestamptz not null default now()
);
create index dns_tsig_keys_team on dns_tsig_keys (team_id) where team_id is not null;
comment on column dns_tsig_keys.team_id is 'null: a key of the operator';
comment on column dns_tsig_keys.name is 'unique over all teams: a message names the key and no team';
comment on column dns_tsig_keys.secret_sealed is 'bound to the name of the key';

create table dns_servers (
  id integer generated always as identity primary key,
  name text not null unique check (name = lower(name) and name like '%_.'),
  kind text not null default 'dns' check (kind in ('dns', 'sandbox')),
  address text,
  port integer not null default 53 check (port between 1 and 65535),
  tsig_key_id integer references dns_tsig_keys,
  region text not null default '',
  is_public boolean not null default true,
  catalog boolean not null default true,
  signing text not null default 'pharos' check (signing in ('pharos', 'external')),
  created timestamptz not null default now(),
  checked timestamptz,
  seen timestamptz,
  identity jsonb,
  error text,
  check (kind <> 'dns' or address is not null)
);
comment on table dns_servers is 'name servers that follow the hidden primary; they are never written to, they transfer';
comment on column dns_servers.name is 'name in NS records';
comment on column dns_servers.address is 'where the server is sent NOTIFY and asked for serials';
comment on column dns_servers.tsig_key_id is 'key of transfers, NOTIFY and serial queries';
comment on column dns_servers.is_public is 'in the NS records of new zones; false for a server that only distributes';
comment on column dns_servers.catalog is 'learns its zones from the catalog zone (RFC 9432)';
comment on column dns_servers.signing is 'external: it gets zones unsigned, and signs them itself';
comment on column dns_servers.checked is 'last attempt to query it';
comment on column dns_servers.seen is 'last answer';
comment on column dns_servers.identity is 'version and id, as it answers version.bind and id.server';
comment on column dns_servers.error is 'code of the last failure; null after an answer';

create table dns_defaults (
  key text primary key check (key = 'dns'),
  hostmaster text not null default 'hostmaster.invalid.',
  default_ttl integer not null default 3600,
  minimum_ttl integer not null default 300,
  refresh integer not null default 3600,
  retry integer not null default 900,
  expire integer not null default 1209600,
  negative_ttl integer not null default 300,
  history_days integer not null default 90,
  zones_max integer not null default 1000,
  recordsets_max integer not null default 50000,
  is_apex_ns_editable boolean not null default false
);
comment on table dns_defaults is 'at most one row, from the platform file: what applies to zones and teams without a setting of their own';
comment on column dns_defaults.hostmaster is 'mailbox of SOA records as a name';
comment on column dns_defaults.zones_max is 'zones of one team';
comment on column dns_defaults.recordsets_max is 'record sets of one zone';

-------------------------------------------------------------------------------------------------------------------------- zones

create table dns_zones (
  id integer generated always as identity primary key,
  team_id integer references teams on delete cascade,
  name text not null,
  name_key bytea not null,
  kind text not null default 'primary' check (kind in ('primary', 'secondary')),
  is_reverse boolean not null default false,
  is_generated boolean not null default false,
  managed_by text not null default 'team' check (managed_by in ('operator', 'team')),
  version bigint not null default 1,
  published_version bigint not null default 0,
  serial bigint check (serial between 0 and 4294967295),
  recordset_count integer not null default 0,
  record_count integer not null default 0,
  settings jsonb not null default '{}',
  settings_version integer not null default 1,
  dnssec text not null default 'disabled'
    check (dnssec in ('disabled', 'signing', 'pending_ds', 'active', 'pending_disabled', 'error')),
  dnssec_since timestamptz,
  dnssec_options jsonb not null default '{}',
  dnssec_due timestamptz,
  status text not null default 'updating' check (status in ('ok', 'updating', 'error', 'pending_verification')),
  reason text,
  attrs jsonb,
  claimed timestamptz default now(),
  created timestamptz not null default now(),
  touched timestamptz not null default now(),
  published timestamptz,
  deleted timestamptz,
  deleted_by text,
  check ((claimed is null) = (status = 'pending_verification')),
  unique (id, team_id)
) with (fillfactor = 70);
create unique index dns_zones_name on dns_zones (name_key) where claimed is not null and deleted is null;
create unique index dns_zones_of_team on dns_zones (team_id, name_key) nulls not distinct where deleted is null;
create index dns_zones_team on dns_zones (team_id, name_key);
create index dns_zones_unpublished on dns_zones (id) where version > published_version and claimed is not null and deleted is null;
create index dns_zones_dnssec_due on dns_zones (dnssec_due) where dnssec_due is not null and deleted is null;
create index dns_zones_deleted on dns_zones (deleted) where deleted is not null;
comment on column dns_zones.team_id is 'null: a zone of the operator';
comment on column dns_zones.is_generated is 'a reverse zone that was cut from a prefix of the team';
comment on column dns_zones.managed_by is 'operator: the platform file, which may prune it';
comment on column dns_zones.version is 'incremented by every change of a record set, and by no signature: the last one in dns_versions';
comment on column dns_zones.published_version is 'the version that dns_served contains';
comment on column dns_zones.serial is 'the published serial; before the first publication that of the imported zone, or null';
comment on column dns_zones.recordset_count is 'rows in dns_recordsets, managed ones included';
comment on column dns_zones.settings is 'settings that differ from the defaults';
comment on column dns_zones.settings_version is 'incremented by every change of the settings: their ETag';
comment on column dns_zones.dnssec_options is 'algorithm, nsec3 and cds, as requested';
comment on column dns_zones.dnssec_due is 'when the state of DNSSEC is evaluated next; null if it waits for nothing';
comment on column dns_zones.status is 'observed at the name servers; a change of the zone sets it to updating';
comment on column dns_zones.reason is 'code of the reason for a status other than ok; null if there is none';
comment on column dns_zones.claimed is 'since when the zone has its name; null while another team has it. Only a claimed zone is served';
comment on column dns_zones.deleted is 'evidence for the removal from the catalog; for seven days the zone can be restored';

create table dns_secondaries (
  zone_id integer primary key references dns_zones on delete cascade,
  primaries jsonb not null,
  serial bigint check (serial between 0 and 4294967295),
  due timestamptz default now(),
  leased_until timestamptz,
  attempted timestamptz,
  transferred timestamptz,
  expires timestamptz,
  error text,
  attrs jsonb
);
create index dns_secondaries_due on dns_secondaries (due) where due is not null;
comment on column dns_secondaries.primaries is 'list of {address, port, tsig_key_id}';
comment on column dns_secondaries.serial is 'the serial of the last transfer';
comment on column dns_secondaries.due is 'next query of the primaries: SOA refresh or retry, or a NOTIFY';
comment on column dns_secondaries.expires is 'when the data may no longer be served: SOA expire after the last contact';

create table dns_recordsets (
  zone_id integer not null,
  name_key bytea not null,
  type integer not null check (type between 1 and 65535),
  team_id integer,
  name text not null,
  ttl integer not null check (ttl >= 0),
  rdata bytea[] not null check (cardinality(rdata) > 0),
  content text not null,
  source text not null default 'user' check (source in ('user', 'generated', 'system')),
  comment text not null default '',
  created timestamptz not null default now(),
  touched timestamptz not null default now(),
  primary key (zone_id, name_key, type),
  foreign key (zone_id) references dns_zones on delete cascade
);
comment on table dns_recordsets is 'the desired content of zones; what is published is in dns_served';
comment on column dns_recordsets.team_id is 'that of the zone';
comment on column dns_recordsets.rdata is 'in canonical order (RFC 4034 section 6.3); the serial of an SOA record is 0, that of the zone applies';
comment on column dns_recordsets.content is 'the records in presentation format, one a line, for answers, filters and the search';
comment on column dns_recordsets.source is 'user; generated: from a PTR template; system: SOA, NS of the apex and others that Pharos writes';

create table dns_blocks (
  zone_id integer not null references dns_zones on delete cascade,
  first bytea not null,
  count integer not null check (count >= 0),
  primary key (zone_id, first)
);
comment on table dns_blocks is
  'number of record sets from one name to the next, for large zones only: a page at any offset is found by adding a few hundred numbers';
comment on column dns_blocks.first is 'name_key with which the block starts; empty for the first block';

create table dns_versions (
  zone_id integer not null references dns_zones on delete cascade,
  version bigint not null,
  team_id integer,
  at timestamptz not null default now(),
  actor text not null,
  what text not null,
  removed bytea not null,
  added bytea not null,
  removed_count integer not null,
  changed_count integer not null,
  added_count integer not null,
  primary key (zone_id, version)
);
create index dns_versions_at on dns_versions (at);
comment on table dns_versions is 'the journal: the differences that the publish loop applies, the history and the source of a rollback';
comment on column dns_versions.what is 'code of the operation, such as recordset.update';
comment on column dns_versions.removed is 'record sets as they were, encoded by dns/zone/rrset-list.ts; a changed set is in both columns';
comment on column dns_versions.changed_count is 'record sets in both removed and added; the other counts are without them';

---------------------------------------------------------------------------------------------------------------------- published

create table dns_served (
  zone_id integer not null references dns_zones on delete cascade,
  name_key bytea not null,
  type integer not null check (type between 1 and 65535),
  ttl integer not null check (ttl >= 0),
  rdata bytea[] not null,
  rrsig bytea[] not null default '{}',
  expires timestamptz,
  primary key (zone_id, name_key, type)
);
create index dns_served_expires on dns_served (expires) where expires is not null;
comment on table dns_served is 'zones at their serial in dns_zones, signatures and denial of existence included';
comment on column dns_served.rrsig is 'rdata of the signatures of this record set';
comment on column dns_served.expires is 'the first of the signatures to expire; null without signatures';

create table dns_transfers (
  zone_id integer not null references dns_zones on delete cascade,
  position bigint generated always as identity,
  serial_from bigint not null check (serial_from between 0 and 4294967295),
  serial_to bigint not null check (serial_to between 0 and 4294967295),
  version bigint not null,
  removed bytea not null,
  added bytea not null,
  at timestamptz not null default now(),
  primary key (zone_id, position)
);
create unique index dns_transfers_from on dns_transfers (zone_id, serial_from);
create index dns_transfers_position on dns_transfers (position);
comment on table dns_transfers is 'steps of IXFR, signatures included, without the SOA records at their ends';
comment on column dns_transfers.position is 'order of publication: serials wrap';

create table dns_server_zones (
  server_id integer not null references dns_servers on delete cascade,
  zone_id integer not null references dns_zones on delete cascade,
  serial bigint check (serial between 0 and 4294967295),
  state text not null check (state in ('serving', 'behind', 'absent', 'failing', 'unreachable')),
  checked timestamptz not null,
  since timestamptz not null default now(),
  primary key (server_id, zone_id)
) with (fillfactor = 70);
create index dns_server_zones_zone on dns_server_zones (zone_id);
comment on column dns_server_zones.serial is 'the serial that the server answered last';

create table dns_holds (
  id integer generated always as identity primary key,
  kind text not null check (kind in ('publish', 'catalog', 'shrink')),
  zone_id integer references dns_zones on delete cascade,
  reason text not null,
  attrs jsonb not null default '{}',
  evidence text not null,
  state text not null default 'open' check (state in ('open', 'approved', 'rejected', 'closed')),
  created timestamptz not null default now(),
  decided timestamptz,
  decided_by text,
  check ((kind = 'catalog') = (zone_id is null))
);
create unique index dns_holds_open on dns_holds (kind, zone_id) nulls not distinct where state = 'open';
create index dns_holds_zone on dns_holds (zone_id) where zone_id is not null;
comment on table dns_holds is 'publications that wait for staff: many removed names, many removed zones, a transfer that shrinks a zone';
comment on column dns_holds.evidence is 'digest of exactly what would be removed: an approval covers this and nothing else';

------------------------------------------------------------------------------------------------------------------------- DNSSEC

create table dns_keys (
  id integer generated always as identity primary key,
  zone_id integer not null references dns_zones on delete cascade,
  algorithm integer not null check (algorithm between 1 and 255),
  flags integer not null check (flags between 256 and 257),
  tag integer not null check (tag between 0 and 65535),
  dnskey bytea not null,
  private_sealed bytea,
  state text not null check (state in ('introduced', 'active', 'retiring', 'removed')),
  created timestamptz not null default now(),
  introduced timestamptz,
  ds_seen timestamptz,
  retired timestamptz,
  removed timestamptz
);
create unique index dns_keys_zone on dns_keys (zone_id, dnskey);
comment on column dns_keys.dnskey is 'rdata of the DNSKEY record';
comment on column dns_keys.private_sealed is 'PKCS #8, bound to the id of the zone and dnskey; null: a key of another signer, or removed';
comment on column dns_keys.introduced is 'since when all name servers serve the key';
comment on column dns_keys.ds_seen is 'since when all servers of the parent serve a DS record of the key';

create table dns_delegations (
  zone_id integer primary key references dns_zones on delete cascade,
  status text not null default 'unknown' check (status in ('unknown', 'delegated', 'partial', 'elsewhere', 'absent', 'unavailable')),
  due timestamptz default now(),
  leased_until timestamptz,
  checked timestamptz,
  ns text[] not null default '{}',
  ds bytea[] not null default '{}',
  is_ds_everywhere boolean not null default false,
  ns_ttl integer,
  ds_ttl integer,
  ds_first_seen timestamptz,
  ds_last_seen timestamptz,
  dnskey_ttl_max integer,
  equal_answers integer not null default 0
);
create index dns_delegations_due on dns_delegations (due) where due is not null;
comment on table dns_delegations is 'what the servers of the parent zone answered, each asked directly';
comment on column dns_delegations.ns is 'names of the NS records at the parent, in order';
comment on column dns_delegations.ds is 'rdata of the DS records at any server of the parent';
comment on column dns_delegations.is_ds_everywhere is 'every server of the parent answered the same DS records';
comment on column dns_delegations.dnskey_ttl_max is 'largest TTL of DNSKEY records since the DS was last seen';
comment on column dns_delegations.equal_answers is 'complete and equal answers in a row';

-------------------------------------------------------------------------------------------------------------------- reverse DNS

create table dns_ptr_templates (
  id integer generated always as identity primary key,
  team_id integer not null references teams on delete cascade,
  prefix cidr not null,
  pattern text not null,
  ttl integer,
  overwrite text not null default 'generated' check (overwrite in ('never', 'generated', 'always')),
  created timestamptz not null default now(),
  touched timestamptz not null default now(),
  unique (team_id, prefix)
);
create index dns_ptr_templates_prefix on dns_ptr_templates using gist (prefix inet_ops);

------------------------------------------------------------------------------------------------------------------------- claims

-- Whether another team, or the operator, has the name, a zone above it or one below it: yes or no, and never who. `above` are the keys
-- of all names above; `before` is the first key after those below.
create function zone_is_claimed(team integer, wanted bytea, above bytea[], before bytea)
  returns table (is_same boolean, is_related boolean)
  language sql stable security definer set search_path = public, pg_temp
  as $$ select
    exists (select from dns_zones z where z.name_key = wanted
      and z.team_id is distinct from team and z.claimed is not null and z.deleted is null),
    exists (select from dns_zones z where z.name_key = any(above)
      and z.team_id is distinct from team and z.claimed is not null and z.deleted is null)
    or exists (select from dns_zones z where z.name_key > wanted and z.name_key < before
      and z.team_id is distinct from team and z.claimed is not null and z.deleted is null) $$;
revoke execute on function zone_is_claimed from public;
grant execute on function zone_is_claimed to pharos_tenant;

-- Whether the team is the most specific holder of the network: a prefix or a claimed announcement of the team covers it, and none of
-- another team that covers it is longer.
create function holds_network(team integer, wanted cidr) returns boolean
  language sql stable security definer set search_path = public, pg_temp
  as $$ select coalesce(bool_or(h.team_id = team), false) from (
    select c.team_id, masklen(c.prefix) = max(masklen(c.prefix)) over () as is_closest from (
      select p.team_id, p.prefix from prefixes p where p.prefix >>= wanted
      union all
      select a.team_id, a.prefix from announcements a
        where a.prefix >>= wanted and a.claimed is not null and a.deleted is null) c) h
  where h.is_closest $$;
revoke execute on function holds_network from public;
grant execute on function holds_network to pharos_tenant;

-------------------------------------------------------------------------------------------------------------------- team access

alter table dns_tsig_keys enable row level security;
alter table dns_zones enable row level security;
alter table dns_recordsets enable row level security;
alter table dns_versions enable row level security;
alter table dns_ptr_templates enable row level security;
create policy tenant on dns_tsig_keys to pharos_tenant using (team_id = current_team_id());
create policy tenant on dns_zones to pharos_tenant using (team_id = current_team_id());
create policy tenant on dns_recordsets to pharos_tenant using (team_id = current_team_id());
create policy tenant on dns_versions to pharos_tenant using (team_id = current_team_id());
create policy tenant on dns_ptr_templates to pharos_tenant using (team_id = current_team_id());

alter table dns_secondaries enable row level security;
alter table dns_blocks enable row level security;
alter table dns_server_zones enable row level security;
alter table dns_keys enable row level security;
alter table dns_delegations enable row level security;
create policy tenant on dns_secondaries to pharos_tenant
  using (exists (select from dns_zones z where z.id = zone_id and z.team_id = current_team_id()));
create policy tenant on dns_blocks to pharos_tenant
  using (exists (select from dns_zones z where z.id = zone_id and z.team_id = current_team_id()));
create policy tenant on dns_server_zones to pharos_tenant
  using (exists (select from dns_zones z where z.id = zone_id and z.team_id = current_team_id()));
create policy tenant on dns_keys to pharos_tenant
  using (exists (select from dns_zones z where z.id = zone_id and z.team_id = current_team_id()));
create policy tenant on dns_delegations to pharos_tenant
  using (exists (select from dns_zones z where z.id = zone_id and z.team_id = current_team_id()));

-- Only loops, as the owner of the tables, read and write these.
alter table dns_served enable row level security;
alter table dns_transfers enable row level security;
alter table dns_holds enable row level security;

grant select (id, team_id, name, algorithm, created) on dns_tsig_keys to pharos_tenant;
grant select (id, name, region, is_public) on dns_servers to pharos_tenant;
grant select on dns_defaults to pharos_tenant;
grant select, insert on dns_zones to pharos_tenant;
grant update (version, serial, recordset_count, record_count, settings, settings_version, dnssec, dnssec_since, dnssec_options,
  dnssec_due, status, reason, attrs, touched, claimed, deleted, deleted_by) on dns_zones to pharos_tenant;
grant select, insert, update (primaries, due) on dns_secondaries to pharos_tenant;
grant select, insert, update, delete on dns_recordsets to pharos_tenant;
grant select, insert, update, delete on dns_blocks to pharos_tenant;
grant select, insert on dns_versions to pharos_tenant;
grant select on dns_server_zones to pharos_tenant;
grant select (id, zone_id, algorithm, flags, tag, dnskey, state, created, introduced, ds_seen, retired, removed), insert,
  update (private_sealed, state, introduced, ds_seen, retired, removed) on dns_keys to pharos_tenant;
grant select, insert, update on dns_delegations to pharos_tenant;
grant select, insert, update, delete on dns_ptr_templates to pharos_tenant;

----------------------------------------------------------------------------------------------------------------------- messages

alter table outbox drop constraint outbox_type_check, add constraint outbox_type_check check (
  case when team_id is null then user_id is null and type in ('hold.opened', 'hold.reminder', 'hold.decided')
    when user_id is not null then type = 'notifications.changed'
    else type in ('announcement.status_changed', 'announcement.regions_changed', 'announcement.zombie',
      'announcement.unexpected_origin', 'validation.failed', 'event.started', 'event.updated', 'event.ended',
      'zone.updated', 'zone.status_changed', 'zone.dnssec_changed') end);
alter table webhooks drop constraint webhooks_events_check, add constraint webhooks_events_check check (
  cardinality(events) > 0 and events <@ case when team_id is null
    then array['hold.opened', 'hold.reminder', 'hold.decided']
    else array['announcement.status_changed', 'announcement.zombie', 'announcement.unexpected_origin', 'validation.failed',
      'event.started', 'event.updated', 'event.ended', 'zone.updated', 'zone.status_changed', 'zone.dnssec_changed'] end);
