-- phase: expand
-- runs with: 0.2.0
-- SCIM: identity providers of teams provision members. And logout: the session at the identity provider that a proof came from.

create table scim_tokens (
  id text primary key check (id ~ '^[a-z2-7]{12}$'),
  provider_id integer not null unique,
  team_id integer not null,
  secret_mac bytea not null,
  previous_mac bytea,
  previous_until timestamptz,
  allowed_networks cidr[] not null default '{}',
  created timestamptz not null default now(),
  last_used timestamptz,
  last_used_address inet,
  foreign key (provider_id, team_id) references identity_providers (id, team_id) on delete cascade,
  check ((previous_mac is null) = (previous_until is null))
);
comment on table scim_tokens is 'while a provider has one, SCIM decides who is a member, and signing in makes nobody one';
comment on column scim_tokens.id is 'public part of the token';
comment on column scim_tokens.secret_mac is 'HMAC-SHA256 with a key derived from the secret';
comment on column scim_tokens.previous_mac is 'of the secret before the last rotation, valid until previous_until';
comment on column scim_tokens.last_used is 'updated at most once a minute';
alter table scim_tokens enable row level security;
create policy tenant on scim_tokens to pharos_tenant using (team_id = current_team_id());
grant select (id, provider_id, team_id, allowed_networks, created, last_used, last_used_address, previous_until), delete,
  insert (id, provider_id, team_id, secret_mac, allowed_networks), update (allowed_networks) on scim_tokens to pharos_tenant;

-- The team role may not read the former secret, which the rotation keeps.
create function rotate_scim_token(in_team integer, token text, new_mac bytea, overlap_hours integer, networks cidr[]) returns void language sql
  security definer set search_path = public, pg_temp as $$
    update scim_tokens set secret_mac = new_mac,
      previous_mac = case when overlap_hours > 0 then secret_mac end,
      previous_until = case when overlap_hours > 0 then now() + make_interval(hours => overlap_hours) end,
      allowed_networks = coalesce(networks, allowed_networks)
    where id = token and team_id = in_team and coalesce(current_team_id(), in_team) = in_team
  $$;
revoke execute on function rotate_scim_token from public;
grant execute on function rotate_scim_token to pharos_tenant;

create table scim_users (
  id uuid primary key default gen_random_uuid(),
  provider_id integer not null,
  team_id integer not null,
  user_name text not null check (char_length(user_name) between 1 and 320),
  external_id text check (char_length(external_id) between 1 and 300),
  email text not null,
  display_name text not null,
  given_name text not null,
  family_name text not null,
  active boolean not null,
  user_id integer references users on delete cascade,
  member_id integer unique references memberships (id) on delete set null,
  created timestamptz not null default now(),
  updated timestamptz not null default now(),
  version integer not null default 1,
  unique (id, provider_id),
  foreign key (provider_id, team_id) references identity_providers (id, team_id) on delete cascade
);
comment on column scim_users.user_name is 'compared without case, as SCIM defines it';
comment on column scim_users.email is 'canonical';
comment on column scim_users.user_id is 'null: no account belongs to it yet, as without a role';
comment on column scim_users.member_id is 'the membership that SCIM decides on; null: it has made none, or an admin has removed the member';
create unique index scim_users_name on scim_users (provider_id, lower(user_name));
create unique index scim_users_email on scim_users (provider_id, lower(email));
create unique index scim_users_account on scim_users (provider_id, user_id) where user_id is not null;
create index scim_users_external on scim_users (provider_id, external_id) where external_id is not null;
create index scim_users_user on scim_users (user_id) where user_id is not null;
create index scim_users_created on scim_users (provider_id, created, id);
alter table scim_users enable row level security;
create policy tenant on scim_users to pharos_tenant using (team_id = current_team_id());
grant select on scim_users to pharos_tenant;

create table scim_groups (
  id uuid primary key default gen_random_uuid(),
  provider_id integer not null,
  team_id integer not null,
  display_name text not null check (char_length(display_name) between 1 and 300),
  external_id text check (char_length(external_id) between 1 and 300),
  created timestamptz not null default now(),
  updated timestamptz not null default now(),
  version integer not null default 1,
  unique (id, provider_id),
  unique (provider_id, display_name),
  foreign key (provider_id, team_id) references identity_providers (id, team_id) on delete cascade
);
comment on column scim_groups.display_name is 'compared byte by byte with the groups of provider_mappings, and so is external_id';
create index scim_groups_created on scim_groups (provider_id, created, id);
alter table scim_groups enable row level security;
create policy tenant on scim_groups to pharos_tenant using (team_id = current_team_id());
grant select on scim_groups to pharos_tenant;

create table scim_members (
  group_id uuid not null,
  scim_user_id uuid not null,
  provider_id integer not null,
  team_id integer not null,
  primary key (group_id, scim_user_id),
  foreign key (group_id, provider_id) references scim_groups (id, provider_id) on delete cascade,
  foreign key (scim_user_id, provider_id) references scim_users (id, provider_id) on delete cascade,
  foreign key (provider_id, team_id) references identity_providers (id, team_id) on delete cascade
);
comment on column scim_members.provider_id is 'of both: a group has users of its own provider only';
create index scim_members_user on scim_members (scim_user_id);
alter table scim_members enable row level security;
create policy tenant on scim_members to pharos_tenant using (team_id = current_team_id());
grant select on scim_members to pharos_tenant;

alter table former_members drop constraint former_members_ended_by_check,
  add constraint former_members_ended_by_check check (ended_by in ('operator', 'team', 'scim')) not valid;
comment on column former_members.ended_by is 'the platform file and SCIM bring back whom they took away, and nobody else';

alter table session_proofs add column idp_session text;
comment on column session_proofs.idp_session is 'session at the identity provider (sid), for its back-channel logout; null: it states none';
create index session_proofs_idp_session on session_proofs (provider_id, idp_session) where idp_session is not null;
