-- Restores of a backup that wait for staff, and limits of credentials to resources.

set local check_function_bodies = off;

create table restores (
  id integer generated always as identity primary key,
  detected timestamptz not null default now(),
  reason text not null check (reason in ('head_missing', 'other_database', 'by_hand')),
  evidence jsonb not null,
  sessions_ended integer not null default 0,
  closed timestamptz,
  closed_by text
);
comment on table restores is 'while one is not closed, nothing is sent';
comment on column restores.evidence is 'known_head and found_head of the audit log, and the identity of the database before and after';
create unique index restores_open on restores ((true)) where closed is null;
create index restores_closed on restores (closed);
alter table restores enable row level security;

create table restore_sources (
  restore_id integer not null references restores on delete cascade,
  area text not null,
  name text not null,
  compared timestamptz,
  problem text,
  primary key (restore_id, area, name)
);
comment on table restore_sources is 'the regions, scrubbers and name servers that were compared with the restored database';
comment on column restore_sources.problem is 'why the last comparison failed; null if it did not';
alter table restore_sources enable row level security;

create table restore_items (
  id bigint generated always as identity primary key,
  restore_id integer not null references restores on delete cascade,
  area text not null check (area in ('routes', 'blackholes', 'shield', 'zones', 'mails', 'deliveries')),
  source text not null,
  subject text not null,
  kind text not null check (kind in ('add', 'remove', 'change', 'queued')),
  team_id integer references teams on delete set null,
  database jsonb,
  network jsonb,
  adoptable boolean not null,
  decision text check (decision in ('apply', 'adopt', 'discard', 'send')),
  decided timestamptz,
  decided_by text,
  applied timestamptz,
  unique (restore_id, area, source, subject)
);
comment on table restore_items is 'differences between a restored database and the network';
comment on column restore_items.source is 'name of the region, scrubber or name server; empty for queues';
comment on column restore_items.adoptable is 'whether the database can take over what the network has';
alter table restore_items enable row level security;

create table resource_limits (
  id integer generated always as identity primary key,
  team_id integer not null references teams on delete cascade,
  token_id text references api_tokens on delete cascade,
  tsig_key_id integer references dns_tsig_keys on delete cascade,
  zone_id integer references dns_zones on delete cascade,
  names text[],
  types text[],
  prefix_id integer references prefixes on delete cascade,
  network cidr,
  port_id integer references ports on delete cascade,
  service_id integer references services on delete cascade,
  check (num_nonnulls(token_id, tsig_key_id) = 1),
  constraint resource_limits_check1 check (num_nonnulls(zone_id, prefix_id, port_id, service_id) = 1),
  constraint resource_limits_check2 check ((prefix_id is null) = (network is null)),
  constraint resource_limits_check3 check (zone_id is not null or (names is null and types is null))
);
comment on table resource_limits is 'the resources of a limited API token or TSIG key; a row goes with its resource';
comment on column resource_limits.names is 'patterns relative to the zone; null: all names';
comment on column resource_limits.types is 'types of record sets; null: all types';
comment on column resource_limits.network is 'the prefix of the team, or a part of it';
create index resource_limits_team on resource_limits (team_id);
create index resource_limits_token on resource_limits (token_id) where token_id is not null;
create index resource_limits_tsig_key on resource_limits (tsig_key_id) where tsig_key_id is not null;
create index resource_limits_zone on resource_limits (zone_id) where zone_id is not null;
create index resource_limits_prefix on resource_limits (prefix_id) where prefix_id is not null;
create index resource_limits_port on resource_limits (port_id) where port_id is not null;
create index resource_limits_service on resource_limits (service_id) where service_id is not null;
alter table resource_limits enable row level security;
create policy tenant on resource_limits to pharos_tenant using (team_id = current_team_id());
grant select, insert (team_id, token_id, tsig_key_id, zone_id, names, types, prefix_id, network, port_id, service_id) on resource_limits to
  pharos_tenant;

create trigger resource_limits_actors after delete on resource_limits for each statement execute function wake_actors();
create trigger resource_limits_access after insert or delete on resource_limits for each statement execute function wake_dns_access();
