-- phase: expand
-- runs with: 0.2.0-rc.1
-- API tokens and TSIG keys for less than a team, TSIG keys that the team creates, service accounts, and the rotation of tokens.

create table service_accounts (
  id integer primary key generated always as identity,
  team_id integer not null references teams on delete cascade,
  name text not null,
  description text not null default '',
  roles text[] not null check (
    roles <@ '{reader,editor,network,dns,billing,admin}' and cardinality(roles) between 1 and 6),
  disabled boolean not null default false,
  created timestamptz not null default now(),
  creator text not null default 'operator',
  version integer not null default 1,
  unique (id, team_id)
);
create unique index service_accounts_name on service_accounts (team_id, lower(name));
comment on table service_accounts is 'programs of a team: their API tokens outlive the member who created them';
comment on column service_accounts.disabled is 'its API tokens are refused';
create trigger service_accounts_version before update of name, description, roles, disabled on service_accounts
  for each row when (old.* is distinct from new.*) execute function raise_version();
create trigger service_accounts_actors after update of roles, disabled on service_accounts
  for each statement execute function wake_actors();
alter table service_accounts enable row level security;
create policy tenant on service_accounts to pharos_tenant using (team_id = current_team_id());
grant select, delete, insert (team_id, name, description, roles, disabled, creator), update (name, description, roles, disabled)
  on service_accounts to pharos_tenant;

alter table api_tokens
  add column service_account_id integer,
  add column is_limited boolean not null default false,
  add column previous_mac bytea,
  add column previous_until timestamptz,
  add constraint api_tokens_service_account_fkey foreign key (service_account_id, team_id)
    references service_accounts (id, team_id) on delete set null (service_account_id) not valid,
  add constraint api_tokens_previous_check check ((previous_mac is null) = (previous_until is null)) not valid;
alter table api_tokens validate constraint api_tokens_service_account_fkey;
alter table api_tokens validate constraint api_tokens_previous_check;
comment on column api_tokens.service_account_id is 'the program that has the token: its roles are those of the token';
comment on column api_tokens.is_limited is 'only for the resources of resource_limits; none are left: for nothing';
comment on column api_tokens.previous_mac is 'of the secret before the last rotation, valid until previous_until';
create index api_tokens_service_account on api_tokens (service_account_id) where service_account_id is not null;
create or replace trigger api_tokens_actors
  after delete or update of scopes, allowed_networks, is_admin, expires, revoked, previous_mac, previous_until, created_by,
    service_account_id on api_tokens
  for each statement execute function wake_actors();
grant select (service_account_id, is_limited, previous_until), insert (service_account_id, is_limited),
  update (service_account_id) on api_tokens to pharos_tenant;

/* Gives a token of the team a new secret. The team may not read MACs, and the former one is kept for the overlap. */
create function rotate_api_token(token text, new_mac bytea, overlap_hours integer) returns void
  language sql security definer set search_path = public, pg_temp as $$
  update api_tokens set secret_mac = new_mac,
    previous_mac = case when overlap_hours > 0 then secret_mac end,
    previous_until = case when overlap_hours > 0 then now() + make_interval(hours => overlap_hours) end
  where id = token and team_id = current_team_id()
$$;
revoke execute on function rotate_api_token from public;
grant execute on function rotate_api_token to pharos_tenant;

alter table teams add column token_days_max integer check (token_days_max between 1 and 1826);
comment on column teams.token_days_max is 'longest time in days until a new API token expires; null: no limit, and tokens may never expire';
grant update (token_days_max) on teams to pharos_tenant;

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
