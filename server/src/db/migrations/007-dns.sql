-- Zones with their record sets, versions and keys, the name servers, and what they serve.

set local check_function_bodies = off;

create table dns_tsig_keys (
  id integer generated always as identity primary key,
  team_id integer references teams on delete cascade,
  name text not null unique check (name = lower(name) and name like '%_.'),
  algorithm text not null default 'hmac-sha256' check (algorithm in ('hmac-sha1', 'hmac-sha224', 'hmac-sha256', 'hmac-sha384', 'hmac-sha512')),
  secret_sealed bytea not null,
  created timestamptz not null default now(),
  may_update boolean not null default false,
  label text not null default '',
  managed_by text not null default 'operator' check (managed_by in ('operator', 'team')),
  may_transfer boolean not null default false,
  allowed_networks cidr[] not null default '{}',
  expires timestamptz,
  is_limited boolean not null default false,
  creator text not null default 'operator',
  check (team_id is not null or not may_update)
);
comment on column dns_tsig_keys.team_id is 'null: a key of the operator';
comment on column dns_tsig_keys.name is 'unique over all teams: a message names the key and no team';
comment on column dns_tsig_keys.secret_sealed is 'bound to the name of the key';
comment on column dns_tsig_keys.may_update is 'may change all zones of its team by UPDATE (RFC 2136); a key given to another server for transfers should not';
comment on column dns_tsig_keys.managed_by is 'operator: the platform file, which may prune it';
comment on column dns_tsig_keys.may_transfer is 'may transfer all zones of its team; the settings of a zone name further keys';
comment on column dns_tsig_keys.allowed_networks is 'addresses from which it may be used; empty: from everywhere';
comment on column dns_tsig_keys.is_limited is 'only for the zones of resource_limits; none are left: for nothing';
create index dns_tsig_keys_team on dns_tsig_keys (team_id) where team_id is not null;
alter table dns_tsig_keys enable row level security;
create policy tenant on dns_tsig_keys to pharos_tenant using (team_id = current_team_id());
grant delete, insert (team_id, name, algorithm, secret_sealed, may_update, label, managed_by, may_transfer, allowed_networks, expires, is_limited,
  creator), select (id, team_id, name, algorithm, created, may_update, label, managed_by, may_transfer, allowed_networks, expires, is_limited,
  creator) on dns_tsig_keys to pharos_tenant;

create function wake_dns_access() returns trigger language plpgsql as $$
begin
  perform pg_notify('pharos', 'dns-access');
  return null;
end $$;
create trigger dns_tsig_keys_access after insert or delete or update on dns_tsig_keys for each statement execute function wake_dns_access();

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
grant select (id, name, region, is_public, signing) on dns_servers to pharos_tenant;

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
  is_apex_ns_editable boolean not null default false,
  aliases_max integer not null default 50 check (aliases_max >= 0)
);
comment on table dns_defaults is 'at most one row, from the platform file: what applies to zones and teams without a setting of their own';
comment on column dns_defaults.hostmaster is 'mailbox of SOA records as a name';
comment on column dns_defaults.zones_max is 'zones of one team';
comment on column dns_defaults.recordsets_max is 'record sets of one zone';
comment on column dns_defaults.aliases_max is 'ALIAS records of one zone';
grant select on dns_defaults to pharos_tenant;

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
  dnssec text not null default 'disabled' check (dnssec in ('disabled', 'signing', 'pending_ds', 'active', 'pending_disabled', 'error')),
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
  is_catalog boolean not null default false,
  withdrawn timestamptz,
  resign_requested timestamptz,
  dnssec_reason text,
  dnssec_removal boolean not null default false,
  dnssec_serial bigint check (dnssec_serial between 0 and 4294967295),
  powerdns jsonb not null default '{}',
  alias_requested timestamptz,
  deletion_held timestamptz,
  served_version bigint default 0,
  unique (id, team_id),
  check ((claimed is null) = (status = 'pending_verification'))
) with (fillfactor = 70);
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
comment on column dns_zones.is_catalog is 'the catalog zone (RFC 9432), which lists all others: written by its loop alone';
comment on column dns_zones.withdrawn is 'since when the catalog zone does not contain the zone and name servers stop to serve it: only after it was deleted';
comment on column dns_zones.resign_requested is 'since when the zone is to be published again without a change of a record set: keys changed, or signatures expire';
comment on column dns_zones.dnssec_reason is 'code of what the state waits for or fails at; null if nothing';
comment on column dns_zones.dnssec_removal is 'pending_disabled although the parent had DS records: it was asked to delete them';
comment on column dns_zones.dnssec_serial is 'the first serial with the current keys: once all name servers have it, they are introduced; null until it is published';
comment on column dns_zones.powerdns is 'kind, account and soa_edit_api as a client of the PowerDNS-compatible API has set them; they have no effect';
comment on column dns_zones.alias_requested is 'addresses of ALIAS records changed that are not published';
comment on column dns_zones.deletion_held is 'since when its removal from the name servers waits for an approval of the provider';
comment on column dns_zones.served_version is 'the newest version that all its name servers have served; null if it is not known';
create unique index dns_zones_name on dns_zones (name_key) where claimed is not null and deleted is null;
create unique index dns_zones_of_team on dns_zones (team_id, name_key) nulls not distinct where deleted is null;
create index dns_zones_team on dns_zones (team_id, name_key);
create index dns_zones_unpublished on dns_zones (id) where version > published_version and claimed is not null and deleted is null;
create index dns_zones_dnssec_due on dns_zones (dnssec_due) where dnssec_due is not null and deleted is null;
create index dns_zones_deleted on dns_zones (deleted) where deleted is not null;
create unique index dns_zones_catalog on dns_zones (is_catalog) where is_catalog and deleted is null;
create index dns_zones_published on dns_zones (published);
create index dns_zones_resign on dns_zones (id) where resign_requested is not null;
create index dns_zones_alias on dns_zones (id) where alias_requested is not null;
alter table dns_zones enable row level security;
create policy tenant on dns_zones to pharos_tenant using (team_id = current_team_id());
grant select, insert, update (version, serial, recordset_count, record_count, settings, settings_version, dnssec, dnssec_since, dnssec_options,
  dnssec_due, status, reason, attrs, claimed, touched, deleted, deleted_by, resign_requested, dnssec_reason, dnssec_removal, dnssec_serial, powerdns)
  on dns_zones to pharos_tenant;

-- Whether another team or the operator has the name, a zone above it or a zone below it, without its name. `above` are the keys of all names
-- above; `before` is the first key after the names below.
create function zone_is_claimed(team integer, wanted bytea, above bytea[], before bytea) returns table(is_same boolean, is_related boolean) language
  sql stable security definer set search_path = public, pg_temp as $$ select
    exists (select from dns_zones z where z.name_key = wanted
      and z.team_id is distinct from team and z.claimed is not null and z.deleted is null),
    exists (select from dns_zones z where z.name_key = any(above)
      and z.team_id is distinct from team and z.claimed is not null and z.deleted is null)
    or exists (select from dns_zones z where z.name_key > wanted and z.name_key < before
      and z.team_id is distinct from team and z.claimed is not null and z.deleted is null) $$;
revoke execute on function zone_is_claimed from public;
grant execute on function zone_is_claimed to pharos_tenant;

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
  attrs jsonb,
  notified timestamptz
);
comment on column dns_secondaries.primaries is 'list of {address, port, tsig_key_id}';
comment on column dns_secondaries.serial is 'the serial of the last transfer';
comment on column dns_secondaries.due is 'next query of the primaries: SOA refresh or retry, or a NOTIFY';
comment on column dns_secondaries.expires is 'when the data may no longer be served: SOA expire after the last contact';
comment on column dns_secondaries.notified is 'last NOTIFY; after `attempted` it came during a transfer, and the primaries are asked once more';
create index dns_secondaries_due on dns_secondaries (due) where due is not null;
alter table dns_secondaries enable row level security;
create policy tenant on dns_secondaries to pharos_tenant using (exists (select from dns_zones z where z.id = dns_secondaries.zone_id and z.team_id =
  current_team_id()));
grant select, insert, update (primaries, due) on dns_secondaries to pharos_tenant;

create table dns_recordsets (
  zone_id integer not null references dns_zones on delete cascade,
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
  primary key (zone_id, name_key, type)
);
comment on table dns_recordsets is 'the desired content of zones; what is published is in dns_served';
comment on column dns_recordsets.team_id is 'that of the zone';
comment on column dns_recordsets.rdata is 'in canonical order (RFC 4034 section 6.3); the serial of an SOA record is 0, that of the zone applies';
comment on column dns_recordsets.content is 'the records in presentation format, one a line, for answers, filters and the search';
comment on column dns_recordsets.source is 'user; generated: from a PTR template; system: SOA, NS of the apex and others that Pharos writes';
create index dns_recordsets_alias on dns_recordsets (zone_id, name_key) where type = 65401;
create index dns_recordsets_alias_name on dns_recordsets (name_key) where type = 65401;
alter table dns_recordsets enable row level security;
create policy tenant on dns_recordsets to pharos_tenant using (team_id = current_team_id());
grant select, insert, update, delete on dns_recordsets to pharos_tenant;

create table dns_blocks (
  zone_id integer not null references dns_zones on delete cascade,
  first bytea not null,
  count integer not null check (count >= 0),
  primary key (zone_id, first)
);
comment on table dns_blocks is 'number of record sets from one name to the next, for large zones only: a page at any offset is found by adding a few hundred numbers';
comment on column dns_blocks.first is 'name_key with which the block starts; empty for the first block';
alter table dns_blocks enable row level security;
create policy tenant on dns_blocks to pharos_tenant using (exists (select from dns_zones z where z.id = dns_blocks.zone_id and z.team_id =
  current_team_id()));
grant select, insert, update, delete on dns_blocks to pharos_tenant;

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
comment on table dns_versions is 'the journal: the differences that the publish loop applies, the history and the source of a rollback';
comment on column dns_versions.what is 'code of the operation, such as recordset.update';
comment on column dns_versions.removed is 'record sets as they were, encoded by dns/zone/rrset-list.ts; a changed set is in both columns';
comment on column dns_versions.changed_count is 'record sets in both removed and added; the other counts are without them';
create index dns_versions_at on dns_versions (at);
alter table dns_versions enable row level security;
create policy tenant on dns_versions to pharos_tenant using (team_id = current_team_id());
grant select, insert on dns_versions to pharos_tenant;

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
comment on table dns_served is 'zones at their serial in dns_zones, signatures and denial of existence included';
comment on column dns_served.rrsig is 'rdata of the signatures of this record set';
comment on column dns_served.expires is 'the first of the signatures to expire; null without signatures';
create index dns_served_expires on dns_served (expires) where expires is not null;
create index dns_served_chain on dns_served (zone_id, type, name_key) where type in (47, 50);
alter table dns_served enable row level security;

create table dns_transfers (
  zone_id integer not null references dns_zones on delete cascade,
  position bigint generated always as identity,
  serial_from bigint not null check (serial_from between 0 and 4294967295),
  serial_to bigint not null check (serial_to between 0 and 4294967295),
  version bigint not null,
  removed bytea not null,
  added bytea not null,
  at timestamptz not null default now(),
  primary key (zone_id, "position")
);
comment on table dns_transfers is 'steps of IXFR: whole sets, each followed by its signatures as a set of type RRSIG; the SOA of the step''s end is the first set';
comment on column dns_transfers.position is 'order of publication: serials wrap';
create unique index dns_transfers_from on dns_transfers (zone_id, serial_from);
create index dns_transfers_position on dns_transfers ("position");
alter table dns_transfers enable row level security;

create table dns_server_zones (
  server_id integer not null references dns_servers on delete cascade,
  zone_id integer not null references dns_zones on delete cascade,
  serial bigint check (serial between 0 and 4294967295),
  state text not null check (state in ('serving', 'behind', 'absent', 'failing', 'unreachable')),
  checked timestamptz not null,
  since timestamptz not null default now(),
  reached timestamptz,
  primary key (server_id, zone_id)
) with (fillfactor = 70);
comment on column dns_server_zones.serial is 'the serial that the server answered last';
comment on column dns_server_zones.reached is 'when the server was first seen at `serial`, or at a later one; null before';
create index dns_server_zones_zone on dns_server_zones (zone_id);
alter table dns_server_zones enable row level security;
create policy tenant on dns_server_zones to pharos_tenant using (exists (select from dns_zones z where z.id = dns_server_zones.zone_id and z.team_id =
  current_team_id()));
grant select on dns_server_zones to pharos_tenant;

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
comment on column dns_keys.dnskey is 'rdata of the DNSKEY record';
comment on column dns_keys.private_sealed is 'PKCS #8, bound to the id of the zone and dnskey; null: a key of another signer, or removed';
comment on column dns_keys.introduced is 'since when all name servers serve the key';
comment on column dns_keys.ds_seen is 'since when all servers of the parent serve a DS record of the key';
create unique index dns_keys_zone on dns_keys (zone_id, dnskey);
alter table dns_keys enable row level security;
create policy tenant on dns_keys to pharos_tenant using (exists (select from dns_zones z where z.id = dns_keys.zone_id and z.team_id =
  current_team_id()));
grant insert, select (id, zone_id, algorithm, flags, tag, dnskey, state, created, introduced, ds_seen, retired, removed), update (private_sealed,
  state, introduced, ds_seen, retired, removed) on dns_keys to pharos_tenant;

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
  equal_answers integer not null default 0,
  delegated_seen timestamptz
);
comment on table dns_delegations is 'what the servers of the parent zone answered, each asked directly';
comment on column dns_delegations.ns is 'names of the NS records at the parent, in order';
comment on column dns_delegations.ds is 'rdata of the DS records at any server of the parent';
comment on column dns_delegations.is_ds_everywhere is 'every server of the parent answered the same DS records';
comment on column dns_delegations.dnskey_ttl_max is 'largest TTL of DNSKEY records since the DS was last seen';
comment on column dns_delegations.equal_answers is 'complete and equal answers in a row';
comment on column dns_delegations.delegated_seen is 'when the parent was last seen to delegate to the assigned servers, or to some of them';
create index dns_delegations_due on dns_delegations (due) where due is not null;
alter table dns_delegations enable row level security;
create policy tenant on dns_delegations to pharos_tenant using (exists (select from dns_zones z where z.id = dns_delegations.zone_id and z.team_id =
  current_team_id()));
grant select, insert, update on dns_delegations to pharos_tenant;

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
alter table dns_ptr_templates enable row level security;
create policy tenant on dns_ptr_templates to pharos_tenant using (team_id = current_team_id());
grant select, insert, update, delete on dns_ptr_templates to pharos_tenant;

create table dns_aliases (
  zone_id integer not null references dns_zones on delete cascade,
  name_key bytea not null,
  target bytea not null,
  a bytea[] not null default '{}',
  aaaa bytea[] not null default '{}',
  resolved timestamptz,
  checked timestamptz not null,
  due timestamptz not null,
  reason text check (reason in ('unreachable', 'refused', 'no_addresses', 'not_public', 'loop')),
  is_unserved boolean not null default false,
  primary key (zone_id, name_key)
);
comment on table dns_aliases is 'the addresses of the targets of ALIAS records; a row is of the record set with the same name and target';
comment on column dns_aliases.target is 'the name whose addresses these are, as in the record';
comment on column dns_aliases.resolved is 'the last answer with addresses; null before the first';
comment on column dns_aliases.reason is 'why the last attempt brought no addresses; the former ones stay published';
comment on column dns_aliases.is_unserved is 'whether the last attempt left the name without any published address';
create index dns_aliases_due on dns_aliases (due);
alter table dns_aliases enable row level security;
create policy tenant on dns_aliases to pharos_tenant using (exists (select from dns_zones z where z.id = dns_aliases.zone_id and z.team_id =
  current_team_id()));
grant select on dns_aliases to pharos_tenant;
