-- phase: expand
-- runs with: 0.2.0
-- Identity providers of teams: signing in with OpenID Connect.

create table identity_providers (
  id integer generated always as identity primary key,
  key text not null unique check (key ~ '^[a-z2-7]{12}$'),
  team_id integer not null references teams on delete cascade,
  kind text not null check (kind = 'oidc'),
  name text not null check (char_length(name) between 1 and 100),
  status text not null default 'draft' check (status in ('draft', 'active', 'disabled')),
  settings jsonb not null,
  secret_sealed bytea not null,
  session_hours integer not null default 12 check (session_hours between 1 and 168),
  second_factor text not null default 'claim' check (second_factor in ('claim', 'local', 'trust')),
  default_roles text[] not null default '{}' check (default_roles <@ '{reader,editor,network,dns,billing}'),
  tested timestamptz,
  unreachable timestamptz,
  created timestamptz not null default now(),
  version integer not null default 1,
  unique (id, team_id)
);
comment on column identity_providers.key is 'random, in the redirect URI: customers cannot be counted';
comment on column identity_providers.settings is 'of the driver: issuer, client id, names of claims';
comment on column identity_providers.secret_sealed is 'client secret, AES-256-GCM under a key derived from the secret';
comment on column identity_providers.session_hours is 'lifetime of a proof, which a refresh does not extend';
comment on column identity_providers.default_roles is 'of people whom no mapping names; empty: they are refused';
comment on column identity_providers.tested is 'when a test last ended in roles';
comment on column identity_providers.unreachable is 'since when it does not answer; null if the last attempt reached it';
create index identity_providers_team on identity_providers (team_id);
alter table identity_providers enable row level security;
create policy tenant on identity_providers to pharos_tenant using (team_id = current_team_id());
grant select (id, key, team_id, kind, name, status, settings, session_hours, second_factor, default_roles, tested, unreachable, created, version), delete,
  insert (key, team_id, kind, name, settings, secret_sealed, session_hours, second_factor, default_roles), update (name, status, settings, secret_sealed,
  session_hours, second_factor, default_roles, version) on identity_providers to pharos_tenant;

create table provider_mappings (
  provider_id integer not null references identity_providers on delete cascade,
  group_name text not null check (char_length(group_name) between 1 and 300),
  roles text[] not null check (roles <@ '{reader,editor,network,dns,billing,admin}' and cardinality(roles) between 1 and 6),
  primary key (provider_id, group_name)
);
alter table provider_mappings enable row level security;
create policy tenant on provider_mappings to pharos_tenant using (exists (
  select from identity_providers p where p.id = provider_mappings.provider_id and p.team_id = current_team_id()));
grant select, insert, delete on provider_mappings to pharos_tenant;

alter table domains add column provider_id integer,
  add constraint domains_provider foreign key (provider_id, team_id) references identity_providers (id, team_id) on delete set null (provider_id)
  not valid;
comment on column domains.provider_id is 'identity provider with which its addresses sign in, while the domain is verified';
create index domains_provider on domains (provider_id) where provider_id is not null;
grant update (provider_id) on domains to pharos_tenant;

-- Read before a person is known to be a member: the code does so as the owner, by key.
create table user_identities (
  id integer generated always as identity primary key,
  provider_id integer not null references identity_providers on delete cascade,
  subject text not null check (octet_length(subject) between 1 and 1000),
  user_id integer not null references users on delete cascade,
  email text not null,
  linked timestamptz not null default now(),
  last_used timestamptz,
  unique (provider_id, subject)
);
comment on table user_identities is 'it counts while the domain of its address is verified for the team and bound to the provider';
comment on column user_identities.subject is 'compared byte by byte';
create index user_identities_user on user_identities (user_id);
alter table user_identities enable row level security;
create policy tenant on user_identities to pharos_tenant using (exists (
  select from identity_providers p where p.id = user_identities.provider_id and p.team_id = current_team_id()));

create table auth_flows (
  state_hash bytea primary key,
  provider_id integer not null references identity_providers on delete cascade,
  kind text not null check (kind in ('sign_in', 'test', 'factor', 'link')),
  cookie_mac bytea,
  content_sealed bytea not null,
  expires timestamptz not null
);
comment on table auth_flows is 'sign-ins under way: each works once, and is deleted before its answer is read';
comment on column auth_flows.state_hash is 'SHA-256 of the random state';
comment on column auth_flows.cookie_mac is 'of the cookie of the browser that started it; null for the link of a mail';
comment on column auth_flows.content_sealed is 'nonce, PKCE verifier and page to return to; or the assertion that waits for a second factor or a link';
create index auth_flows_expires on auth_flows (expires);
alter table auth_flows enable row level security;

create table sso_attempts (
  id bigint generated always as identity primary key,
  provider_id integer not null references identity_providers on delete cascade,
  at timestamptz not null default now(),
  reason text not null,
  claims text[] not null,
  request_id text not null
);
comment on table sso_attempts is 'failed sign-ins, the last 50 of each provider';
comment on column sso_attempts.claims is 'names of the claims, no values';
create index sso_attempts_provider on sso_attempts (provider_id, id);
alter table sso_attempts enable row level security;
create policy tenant on sso_attempts to pharos_tenant using (exists (
  select from identity_providers p where p.id = sso_attempts.provider_id and p.team_id = current_team_id()));
grant select on sso_attempts to pharos_tenant;

-- Proofs stay when their provider is deleted: a session without any proof counts as opened by the account itself.
alter table session_proofs
  add column provider_id integer references identity_providers on delete set null,
  drop constraint session_proofs_kind_check,
  add constraint session_proofs_kind_check check (kind in ('local', 'provider')) not valid,
  add constraint session_proofs_expires check (kind = 'local' or expires is not null) not valid;
comment on column session_proofs.kind is 'local: a password or a passkey of the account; provider: an identity provider of a team, which opens that team only';
comment on column session_proofs.expires is 'null: as long as the session; set for a provider';
create index session_proofs_provider on session_proofs (provider_id) where provider_id is not null;

-- Accounts that an identity provider has created have no password.
alter table users alter column password_hash drop not null;
comment on column users.password_hash is 'null: the account signs in with an identity provider only';

create or replace function account_state(email text, password_hash text) returns bytea language sql immutable parallel safe
  as $$ select sha256(convert_to(lower(email) || ' ' || coalesce(password_hash, ''), 'UTF8')) $$;

-- The user as a session may see it: a session that identity providers have opened does not show teams of others.
create function session_user_profile(for_user integer, in_team integer, of_session uuid) returns json language sql stable as $$
  select case when l.is_local then p.profile
    else (p.profile::jsonb || jsonb_build_object('teams', coalesce((
      select jsonb_agg(t.team order by t.at) from jsonb_array_elements(p.profile::jsonb -> 'teams') with ordinality t(team, at)
      where exists (select from session_proofs o join identity_providers i on i.id = o.provider_id
        where o.session_id = of_session and o.expires > now() and i.team_id = (t.team ->> 'id')::integer)),
      '[]')))::json end
  from (select user_profile(for_user, in_team) as profile) p,
    (select coalesce(bool_or(o.kind = 'local' and coalesce(o.expires > now(), true)), true) as is_local
      from session_proofs o where o.session_id = of_session) l
$$;

-- Ends what a provider of the team has opened: all of it, or for addresses of one domain. Sessions are not shown to the team role.
create function end_provider_proofs(in_team integer, of_provider integer, of_domain text) returns void language sql security definer set search_path =
  public, pg_temp as $$
    update session_proofs p set expires = now() from sessions s, identity_providers o
    where s.id = p.session_id and o.id = p.provider_id and o.team_id = in_team and coalesce(current_team_id(), in_team) = in_team
      and p.expires > now() and o.id = coalesce(of_provider, o.id)
      and (of_domain is null or exists (select from user_identities i
        where i.provider_id = o.id and i.user_id = s.user_id and split_part(lower(i.email), '@', 2) = of_domain))
  $$;
revoke execute on function end_provider_proofs from public;
grant execute on function end_provider_proofs to pharos_tenant;
