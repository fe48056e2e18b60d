-- Signing in: sessions and their keys, second factors, tokens of the API, invitations and domains of a team.

set local check_function_bodies = off;

-- A token that was sent by mail is bound to this value: it is invalid once the address or the password has changed.
create function account_state(email text, password_hash text) returns bytea language sql immutable strict parallel safe
  as $$ select sha256(convert_to(lower(email) || ' ' || password_hash, 'UTF8')) $$;

create table sessions (
  id uuid default gen_random_uuid() primary key,
  user_id integer not null references users on delete cascade,
  team_id integer not null references teams on delete cascade,
  counter integer not null default 1,
  rotations timestamptz[] not null default '{}',
  created timestamptz not null default now(),
  last_used timestamptz not null default now(),
  expires timestamptz not null,
  revoked timestamptz,
  revoked_reason text,
  address inet,
  user_agent text,
  second_factor boolean not null default false,
  renewed_until timestamptz[] not null default '{}',
  last_address inet,
  last_user_agent text
);
comment on column sessions.counter is 'number of the newest refresh token; only its bearer can rotate';
comment on column sessions.rotations is 'when the tokens counter-n .. counter-1 were rotated, oldest first: the last one, and those before it that are repeatable';
comment on column sessions.second_factor is 'whether a code of the second factor opened it';
comment on column sessions.renewed_until is 'for each token of rotations, until when it is repeatable after its grace period was renewed; null if it was not';
comment on column sessions.last_address is 'from where it was last refreshed, or else opened';
comment on column sessions.last_user_agent is 'by which user agent it was last refreshed, or else opened';
create index sessions_user on sessions (user_id);
alter table sessions enable row level security;
create policy tenant on sessions to pharos_tenant using (team_id = current_team_id());
grant select (id, user_id, team_id, last_used, revoked), update (revoked, revoked_reason) on sessions to pharos_tenant;

create trigger sessions_actors after delete or update of team_id, revoked on sessions for each statement execute function wake_actors();

create table signing_keys (
  kid text primary key,
  public_jwk jsonb not null,
  private_key_sealed bytea not null,
  created timestamptz not null default now(),
  active_from timestamptz not null,
  retires timestamptz not null
);
comment on column signing_keys.private_key_sealed is 'PKCS #8, AES-256-GCM under a key derived from the secret';
comment on column signing_keys.retires is 'when it leaves the JWKS: its last access token has expired by then';

-- Counted in the database, so that all processes count together. A row is deleted a day after its last attempt, or by a success.
create table sign_in_failures (
  account_mac bytea not null,
  origin text not null,
  failures integer not null,
  latest timestamptz not null,
  primary key (account_mac, origin)
);
comment on column sign_in_failures.account_mac is 'of the address in lower case, whether or not there is such an account';
comment on column sign_in_failures.origin is 'a network from which the account signed in lately, or `elsewhere` for all others together';
comment on column sign_in_failures.failures is 'attempts that did not succeed, those among them that are under way';
comment on column sign_in_failures.latest is 'when the latest attempt began';
create index sign_in_failures_latest on sign_in_failures (latest);

-- The secret of the codes of a user (RFC 6238). The row exists from the moment at which the user begins to set it up.
create table second_factors (
  user_id integer primary key references users on delete cascade,
  secret_sealed bytea not null,
  pending_until timestamptz,
  last_step bigint not null default 0,
  wrong_codes integer not null default 0,
  wrong_since timestamptz not null default now()
);
comment on column second_factors.pending_until is 'until when the first code may turn it on; null once it is on';
comment on column second_factors.last_step is 'the newest time step of which a code was accepted: none up to it is accepted again';
comment on column second_factors.wrong_codes is 'tried since wrong_since, without those that were right; counted for a quarter of an hour';

create table recovery_codes (
  id bigint generated always as identity primary key,
  user_id integer not null references users on delete cascade,
  code_mac bytea not null,
  created timestamptz not null default now(),
  used timestamptz
);
create index recovery_codes_user on recovery_codes (user_id);

create table invitations (
  id integer default nextval('member_ids'::regclass) primary key,
  team_id integer not null references teams on delete cascade,
  email text not null,
  is_admin boolean not null default false,
  token_mac bytea not null,
  invited_by integer references users on delete set null,
  inviter text not null,
  inviter_name text not null,
  version integer not null default 1,
  created timestamptz not null default now(),
  sent timestamptz not null default now(),
  expires timestamptz not null,
  accepted timestamptz,
  accepted_by integer references users on delete cascade,
  account_created boolean not null default false,
  roles text[] not null,
  check ((accepted is null) = (accepted_by is null)),
  constraint invitations_roles check (roles is null or (roles <@ '{reader,editor,network,dns,billing,admin}' and cardinality(roles) between 1 and 6 and
    is_admin = ('admin' = any (roles))))
);
comment on column invitations.id is 'of one sequence with memberships: the member keeps it';
comment on column invitations.token_mac is 'of the token in the newest mail; those before it are dead';
comment on column invitations.inviter is 'who may withdraw it by leaving: user:7 or token:...';
comment on column invitations.inviter_name is 'as the mail said it';
comment on column invitations.sent is 'when the newest mail was';
comment on column invitations.accepted is 'kept until it expires, so that a link that is followed twice answers twice';
comment on column invitations.roles is 'admin or others; is_admin agrees';
create unique index invitations_open on invitations (team_id, lower(email)) where accepted is null;
create index invitations_invited_by on invitations (invited_by);
create index invitations_accepted_by on invitations (accepted_by);
alter table invitations enable row level security;
create policy tenant on invitations to pharos_tenant using (team_id = current_team_id());
grant delete, insert (id, team_id, email, is_admin, token_mac, invited_by, inviter, inviter_name, expires, roles), select (id, team_id, email,
  is_admin, invited_by, inviter, version, created, sent, expires, accepted, roles), update (email, is_admin, token_mac, invited_by, inviter,
  inviter_name, sent, expires, roles) on invitations to pharos_tenant;

create trigger invitations_version before update of email, is_admin, roles, token_mac, expires on invitations for each row when (old.* is distinct
  from new.*) execute function raise_version();

create table domains (
  id integer generated always as identity primary key,
  team_id integer not null references teams on delete cascade,
  domain text not null check (domain = lower(domain)),
  auto_join boolean not null default false,
  created timestamptz not null default now(),
  verified timestamptz,
  pending_since timestamptz not null default now(),
  last_check timestamptz,
  last_check_result text check (last_check_result in ('valid', 'missing', 'mismatch', 'unavailable', 'claimed')),
  missed integer not null default 0 check (missed between 0 and 2),
  due timestamptz default now(),
  leased_until timestamptz,
  unique (team_id, domain)
);
comment on column domains.domain is 'lower case, A-labels, no dot at the end';
comment on column domains.auto_join is 'who confirms an address in it becomes a member, while it is verified';
comment on column domains.verified is 'since when the record is known to stand there; null where it is not, or no longer';
comment on column domains.pending_since is 'since when the record is awaited: the longer, the less often it is looked for';
comment on column domains.missed is 'daily checks in a row that did not find the record; the third ends the verification';
comment on column domains.due is 'when it is checked next; null where it was given up';
comment on column domains.leased_until is 'a check is going on: nobody else begins one before';
create unique index domains_verified on domains (domain) where verified is not null;
create index domains_due on domains (due) where due is not null;
alter table domains enable row level security;
create policy tenant on domains to pharos_tenant using (team_id = current_team_id());
grant select, delete, insert (team_id, domain, auto_join, created, pending_since, due), update (auto_join, verified, pending_since, last_check,
  last_check_result, missed, due) on domains to pharos_tenant;

-- Whether another team has verified the domain, without its name. Asked after the asking team has proved it too.
create function domain_is_claimed(team integer, wanted text) returns boolean language sql stable security definer set search_path = public, pg_temp
  as $$ select exists (select from domains d where d.domain = wanted and d.verified is not null and d.team_id <> team) $$;
revoke execute on function domain_is_claimed from public;
grant execute on function domain_is_claimed to pharos_tenant;

create table staff_tokens (
  id text primary key check (id ~ '^[a-z2-7]{12}$'),
  name text not null,
  secret_mac bytea not null,
  scopes text[] not null check (cardinality(scopes) > 0 and scopes <@ array['admin:read', 'admin:write']),
  allowed_networks cidr[] not null default '{}',
  created timestamptz not null default now(),
  expires timestamptz not null,
  last_used timestamptz,
  last_used_address inet,
  revoked timestamptz
);
comment on column staff_tokens.allowed_networks is 'networks from which it can be used; empty: from everywhere';
comment on column staff_tokens.last_used is 'updated at most once a minute';

create trigger staff_tokens_actors after delete or update of scopes, allowed_networks, expires, revoked on staff_tokens for each statement execute
  function wake_actors();

create table service_accounts (
  id integer generated always as identity primary key,
  team_id integer not null references teams on delete cascade,
  name text not null,
  description text not null default '',
  roles text[] not null check (roles <@ '{reader,editor,network,dns,billing,admin}' and cardinality(roles) between 1 and 6),
  disabled boolean not null default false,
  created timestamptz not null default now(),
  creator text not null default 'operator',
  version integer not null default 1,
  unique (id, team_id)
);
comment on table service_accounts is 'programs of a team: their API tokens outlive the member who created them';
comment on column service_accounts.disabled is 'its API tokens are refused';
create unique index service_accounts_name on service_accounts (team_id, lower(name));
alter table service_accounts enable row level security;
create policy tenant on service_accounts to pharos_tenant using (team_id = current_team_id());
grant select, delete, insert (team_id, name, description, roles, disabled, creator), update (name, description, roles, disabled) on service_accounts
  to pharos_tenant;

create trigger service_accounts_version before update of name, description, roles, disabled on service_accounts for each row when (old.* is distinct
  from new.*) execute function raise_version();
create trigger service_accounts_actors after update of roles, disabled on service_accounts for each statement execute function wake_actors();

create table api_tokens (
  id text primary key,
  team_id integer not null references teams on delete cascade,
  name text not null,
  secret_mac bytea not null,
  scopes text[] not null,
  allowed_networks cidr[] not null default '{}',
  is_admin boolean not null default false,
  created timestamptz not null default now(),
  expires timestamptz,
  max_unused_days integer check (max_unused_days > 0),
  last_used timestamptz,
  revoked timestamptz,
  created_by integer references users on delete set null,
  last_used_address inet,
  creator text not null default 'operator',
  service_account_id integer,
  is_limited boolean not null default false,
  previous_mac bytea,
  previous_until timestamptz,
  constraint api_tokens_previous_check check ((previous_mac is null) = (previous_until is null)),
  constraint api_tokens_service_account_fkey foreign key (service_account_id, team_id) references service_accounts(id, team_id) on delete set
    null(service_account_id)
);
comment on column api_tokens.created_by is 'the user, while the account exists: removing the member revokes the token';
comment on column api_tokens.last_used_address is 'where it was used from when last_used was written';
comment on column api_tokens.creator is 'actor; kept after the account is deleted';
comment on column api_tokens.service_account_id is 'the program that has the token: its roles are those of the token';
comment on column api_tokens.is_limited is 'only for the resources of resource_limits; none are left: for nothing';
comment on column api_tokens.previous_mac is 'of the secret before the last rotation, valid until previous_until';
create index api_tokens_team on api_tokens (team_id);
create index api_tokens_created_by on api_tokens (created_by);
create index api_tokens_service_account on api_tokens (service_account_id) where service_account_id is not null;
alter table api_tokens enable row level security;
create policy tenant on api_tokens to pharos_tenant using (team_id = current_team_id());
grant insert (id, team_id, name, secret_mac, scopes, allowed_networks, is_admin, expires, max_unused_days, created_by, creator, service_account_id,
  is_limited), select (id, team_id, name, scopes, allowed_networks, is_admin, created, expires, max_unused_days, last_used, revoked, created_by,
  last_used_address, creator, service_account_id, is_limited, previous_until), update (name, scopes, allowed_networks, is_admin, expires, revoked,
  service_account_id) on api_tokens to pharos_tenant;

create trigger api_tokens_actors after delete or update of scopes, allowed_networks, is_admin, expires, revoked, previous_mac, previous_until,
  created_by, service_account_id on api_tokens for each statement execute function wake_actors();

create function rotate_api_token(token text, new_mac bytea, overlap_hours integer) returns void language sql security definer set search_path =
  public, pg_temp as $$
  update api_tokens set secret_mac = new_mac,
    previous_mac = case when overlap_hours > 0 then secret_mac end,
    previous_until = case when overlap_hours > 0 then now() + make_interval(hours => overlap_hours) end
  where id = token and team_id = current_team_id()
$$;
revoke execute on function rotate_api_token from public;
grant execute on function rotate_api_token to pharos_tenant;
