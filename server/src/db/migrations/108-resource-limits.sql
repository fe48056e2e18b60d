-- phase: expand
-- runs with: 0.2.0-rc.1
-- TSIG keys that a team creates, and the resources of API tokens and TSIG keys for less than a team.

alter table dns_tsig_keys
  add column label text not null default '',
  add column managed_by text not null default 'operator' check (managed_by in ('operator', 'team')),
  add column may_transfer boolean not null default false,
  add column allowed_networks cidr[] not null default '{}',
  add column expires timestamptz,
  add column is_limited boolean not null default false,
  add column creator text not null default 'operator';
comment on column dns_tsig_keys.managed_by is 'operator: the platform file, which may prune it';
comment on column dns_tsig_keys.may_transfer is 'may transfer all zones of its team; the settings of a zone name further keys';
comment on column dns_tsig_keys.allowed_networks is 'addresses from which it may be used; empty: from everywhere';
comment on column dns_tsig_keys.is_limited is 'only for the zones of resource_limits; none are left: for nothing';
grant select (label, managed_by, may_update, may_transfer, allowed_networks, expires, is_limited, creator),
  insert (team_id, name, algorithm, secret_sealed, label, managed_by, may_update, may_transfer, allowed_networks, expires, is_limited,
    creator), delete on dns_tsig_keys to pharos_tenant;

create table resource_limits (
  id integer primary key generated always as identity,
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
  check (num_nonnulls(zone_id, prefix_id, port_id, service_id) = 1),
  check ((prefix_id is null) = (network is null)),
  check (zone_id is not null or (names is null and types is null))
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
grant select, insert (team_id, token_id, tsig_key_id, zone_id, names, types, prefix_id, network, port_id, service_id)
  on resource_limits to pharos_tenant;
create trigger resource_limits_actors after delete on resource_limits for each statement execute function wake_actors();

/* Name servers read again who may transfer zones: after a change of keys or of what they may. */
create function wake_dns_access() returns trigger language plpgsql as $$
begin
  perform pg_notify('pharos', 'dns-access');
  return null;
end $$;
create trigger dns_tsig_keys_access after insert or update or delete on dns_tsig_keys
  for each statement execute function wake_dns_access();
create trigger resource_limits_access after insert or delete on resource_limits
  for each statement execute function wake_dns_access();
