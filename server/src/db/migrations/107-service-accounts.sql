-- phase: expand
-- runs with: 0.2.0-rc.1
-- Service accounts, and the rotation and the limits of API tokens; the resources of limited tokens are in the next step.

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
