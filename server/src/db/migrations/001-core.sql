-- Teams, users and members, locations, and the state of the installation and its processes.
--
-- Two walls keep teams apart. The first is `team_id = $n` in every store function. The second is row-level security: the work of the API
-- for a team runs as the role pharos_tenant with the setting pharos.team_id, and sees no other team. Loops and the operator's commands
-- run as the owner of the tables: policies do not apply to it.

set local check_function_bodies = off;

-- A role belongs to the cluster, not to the database: another database of the same server or an administrator may have created it. It is looked
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

grant usage on schema public to pharos_tenant;

-- Locks the parent too, not only the default partition. A statement reads the list of partitions when it is planned and then waits for the
-- default partition: without the lock on the parent it would find moved rows in neither place, since its list is older than the move and
-- its snapshot is newer.
create function create_month_partitions(month date) returns void language plpgsql as $$
declare
  first timestamptz := date_trunc('month', month::timestamp) at time zone 'UTC';
  past timestamptz := (date_trunc('month', month::timestamp) + interval '1 month') at time zone 'UTC';
  partitioned text[];
  parent text;
  key text;
  part text;
begin
  perform pg_advisory_xact_lock(hashtext('create_month_partitions'));
  foreach partitioned slice 1 in array array[['deliveries', 'received'], ['audit_entries', 'at']] loop
    parent := partitioned[1];
    key := partitioned[2];
    part := format('%s_%s', parent, to_char(month, 'YYYY_MM'));
    continue when to_regclass(part) is not null;
    execute format('lock table only %I in access exclusive mode', parent);
    execute format('lock table %I in access exclusive mode', parent || '_default');
    execute format('create table %I (like %I including defaults including constraints including indexes)', part, parent);
    execute format('alter table %I disable trigger user', parent || '_default');
    execute format('with moved as (delete from %I where %I >= %L and %I < %L returning *) insert into %I select * from moved',
      parent || '_default', key, first, key, past, part);
    execute format('alter table %I enable trigger user', parent || '_default');
    execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, part, first, past);
    if parent = 'audit_entries' then
      execute format('create trigger audit_entries_not_emptied before truncate on %I for each statement execute function refuse_change()', part);
    end if;
  end loop;
end $$;

create table locations (
  key text primary key check (key ~ '^[a-z0-9][a-z0-9-]{0,31}$'),
  name text not null,
  country text not null check (country ~ '^[A-Z]{2}$'),
  timezone text not null,
  managed_by text not null default 'platform' check (managed_by in ('platform', 'netbox'))
);
comment on column locations.timezone is 'IANA name, such as Europe/Amsterdam';
comment on column locations.managed_by is 'the source that creates, changes and deletes the row, as for devices, ports and services';
grant select on locations to pharos_tenant;

create function raise_revision() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update revisions set revision = revision + 1 where name = tg_argv[0];
  perform pg_notify('pharos', tg_argv[0]);
  return null;
end $$;
create trigger locations_ownership after update on locations for each statement execute function raise_revision('ownership');

-- The team of the transaction; null outside of the work for a team, so that no policy lets a row through.
create function current_team_id() returns integer language sql stable parallel safe
  as $$ select nullif(current_setting('pharos.team_id', true), '')::integer $$;

create table teams (
  id integer generated always as identity primary key,
  slug text not null unique check (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  name text not null,
  enable_sdwan boolean not null default false,
  enable_dns boolean not null default false,
  enabled_modules text[] not null default '{}',
  created timestamptz not null default now(),
  require_2fa boolean not null default false,
  description text not null default '',
  billing_email text not null default '',
  technical_email text not null default '',
  abuse_email text not null default '',
  noc_phone text not null default '',
  country text not null default '' check (country = '' or country ~ '^[A-Z]{2}$'),
  timezone text not null default 'UTC',
  version integer not null default 1,
  renamed timestamptz,
  default_roles text[] not null default '{reader}' check (default_roles <@ '{reader,editor,network,dns,billing}' and cardinality(default_roles) between
    1 and 5),
  token_days_max integer check (token_days_max between 1 and 1826)
);
comment on column teams.timezone is 'IANA name, such as Europe/Amsterdam';
comment on column teams.version is 'raised by every change; the ETag';
comment on column teams.renamed is 'when the team last named itself; null while the name is the operator''s';
comment on column teams.default_roles is 'of members who join by a domain, and of is_admin false in requests';
comment on column teams.token_days_max is 'longest time in days until a new API token expires; null: no limit, and tokens may never expire';
alter table teams enable row level security;
create policy tenant on teams to pharos_tenant using (id = current_team_id());
grant select, update (name, require_2fa, description, billing_email, technical_email, abuse_email, noc_phone, country, timezone, renamed,
  default_roles, token_days_max) on teams to pharos_tenant;

-- Processes discard what they know about credentials. Only a notification: a counter in a row made concurrent changes wait for each
-- other until the commit, up to a deadlock.
create function wake_actors() returns trigger language plpgsql as $$
begin
  perform pg_notify('pharos', 'actors');
  return null;
end $$;
create trigger teams_actors after delete or update of enabled_modules, require_2fa on teams for each statement execute function wake_actors();

-- By trigger, because the platform file changes rows too.
create function raise_version() returns trigger language plpgsql as $$
begin
  new.version := old.version + 1;
  return new;
end $$;
create trigger teams_version before update on teams for each row when (old.* is distinct from new.*) execute function raise_version();

create function delete_team_events() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from team_events where team_id = old.id;
  delete from team_event_counts where team_id = old.id;
  delete from team_event_hours where team_id = old.id;
  delete from team_event_facets where team_id = old.id;
  return null;
end $$;
create trigger teams_events_deleted after delete on teams for each row execute function delete_team_events();

create table users (
  id integer generated always as identity primary key,
  email text not null,
  email_confirmed timestamptz,
  password_hash text not null,
  username text not null,
  first_name text not null default '',
  last_name text not null default '',
  display_name text not null default '',
  avatar_url text not null default '',
  country text not null default '' check (country = '' or country ~ '^[A-Z]{2}$'),
  is_staff boolean not null default false,
  is_demo boolean not null default false,
  billing_uuid uuid not null default gen_random_uuid(),
  session_version integer not null default 1,
  created timestamptz not null default now(),
  password_chosen timestamptz,
  totp_enabled timestamptz,
  managed_by text not null default 'team' check (managed_by in ('operator', 'team'))
);
comment on column users.is_demo is 'an account with a published password: refused on any interface but loopback';
comment on column users.session_version is 'raised to end every access token of the user at once (claim sv)';
comment on column users.password_chosen is 'when the user last chose it; null while it is the one that the platform file gave, which then counts no more';
comment on column users.totp_enabled is 'since when signing in needs a code of the second factor; null while it does not';
comment on column users.managed_by is 'whether the operator made the account, or a team by an invitation';
create unique index users_email on users (lower(email));
alter table users enable row level security;
grant select (id, email, first_name, last_name, display_name, totp_enabled) on users to pharos_tenant;

create trigger users_actors after delete or update of is_staff, is_demo, session_version, email_confirmed, totp_enabled on users for each statement
  execute function wake_actors();

create function staff_actors() returns text[] language sql stable security definer set search_path = public, pg_temp as $$
  select coalesce(array_agg('user:' || id), '{}') from users where is_staff
$$;
revoke execute on function staff_actors from public;
grant execute on function staff_actors to pharos_tenant;

create sequence member_ids as integer;
grant usage on sequence member_ids to pharos_tenant;

create table memberships (
  team_id integer not null references teams on delete cascade,
  user_id integer not null references users on delete cascade,
  is_admin boolean not null default false,
  joined timestamptz not null default now(),
  id integer not null default nextval('member_ids'::regclass) unique,
  invited_by integer references users on delete set null,
  version integer not null default 1,
  managed_by text not null default 'team' check (managed_by in ('operator', 'team')),
  roles text[] not null,
  roles_source text not null default 'manual' check (roles_source in ('manual', 'provider', 'scim')),
  primary key (team_id, user_id),
  constraint memberships_roles check (roles is null or (roles <@ '{reader,editor,network,dns,billing,admin}' and cardinality(roles) between 1 and 6 and
    is_admin = ('admin' = any (roles))))
);
comment on column memberships.id is 'of one sequence with invitations';
comment on column memberships.version is 'raised by every change; the ETag';
comment on column memberships.managed_by is 'who decided last that there is this member, and in which role';
comment on column memberships.roles is 'admin or others; is_admin agrees';
comment on column memberships.roles_source is 'who decides on the roles: an admin of the team, or a provider of identities';
create index memberships_user on memberships (user_id);
create index memberships_invited_by on memberships (invited_by);
alter table memberships enable row level security;
create policy tenant on memberships to pharos_tenant using (team_id = current_team_id());
grant select, delete, update (is_admin, managed_by, roles, roles_source) on memberships to pharos_tenant;

create trigger memberships_actors after insert or delete or update on memberships for each statement execute function wake_actors();
create trigger memberships_version before update on memberships for each row when (old.* is distinct from new.*) execute function raise_version();

-- The user as the API returns it, in one team; null if the user is neither a member of the team nor staff. A function, because signing in,
-- refreshing a session and reading the account must not differ.
create function user_profile(for_user integer, in_team integer) returns json language sql stable as $$
  select json_build_object(
    'id', u.id,
    'email', u.email,
    'avatar_url', u.avatar_url,
    'username', u.username,
    'first_name', u.first_name,
    'last_name', u.last_name,
    'display_name', u.display_name,
    'country', u.country,
    'is_staff', u.is_staff,
    'billing_uuid', u.billing_uuid,
    'current_team', json_build_object('id', t.id, 'name', t.name, 'is_admin', coalesce(m.is_admin, false),
      'enable_sdwan', t.enable_sdwan, 'enable_dns', t.enable_dns),
    'teams', coalesce((
      select json_agg(json_build_object('id', o.id, 'name', o.name, 'is_admin', om.is_admin,
        'enable_sdwan', o.enable_sdwan, 'enable_dns', o.enable_dns) order by o.name, o.id)
      from memberships om join teams o on o.id = om.team_id where om.user_id = u.id), '[]'),
    'enabled_modules', to_json(t.enabled_modules))
  from users u
  join teams t on t.id = in_team
  left join memberships m on m.team_id = t.id and m.user_id = u.id
  where u.id = for_user and (m.user_id is not null or u.is_staff)
$$;

create policy tenant on users to pharos_tenant using (exists (select from memberships m where m.team_id = current_team_id() and m.user_id = users.id));

create table idempotency_keys (
  team_id integer references teams on delete cascade,
  credential text not null,
  key text not null,
  request_hash bytea not null,
  status integer not null,
  body json,
  etag text,
  created timestamptz not null default now(),
  constraint idempotency_keys_key unique nulls not distinct (credential, key, team_id)
);
comment on column idempotency_keys.team_id is 'null for the key of a staff token';
comment on column idempotency_keys.body is 'the body of the answer with its fields in order; null if it has none';
create index idempotency_keys_created on idempotency_keys (created);
alter table idempotency_keys enable row level security;
create policy tenant on idempotency_keys to pharos_tenant using (team_id = current_team_id());
grant select, insert, delete on idempotency_keys to pharos_tenant;

-- The revision of a map in memory is raised by triggers, because a writer that forgot it would leave the map stale without notice.
create table revisions (
  name text primary key,
  revision bigint not null default 1
);

-- A former member does not join again by the domain of the e-mail address, only by an invitation.
create table former_members (
  team_id integer not null references teams on delete cascade,
  user_id integer not null references users on delete cascade,
  removed timestamptz not null default now(),
  ended_by text not null default 'team' check (ended_by in ('operator', 'team')),
  primary key (team_id, user_id)
);
comment on column former_members.ended_by is 'the operator''s file brings back whom it took away, and nobody else';
create index former_members_user on former_members (user_id);
alter table former_members enable row level security;
create policy tenant on former_members to pharos_tenant using (team_id = current_team_id());
grant select, insert on former_members to pharos_tenant;

create table processes (
  id uuid primary key,
  host text not null,
  pid integer not null,
  version text not null,
  roles text[] not null,
  started timestamptz not null,
  seen timestamptz not null,
  loops jsonb not null,
  registries jsonb not null,
  flow_store jsonb,
  clock_ms bigint
);
comment on table processes is 'running processes; one that ends removes its row, one that is killed leaves it until it has aged';
comment on column processes.loops is 'each loop: name, interval_seconds, last_success or null';
comment on column processes.registries is 'each source of ROAs or route objects: kind, name, ok, answered or null';
comment on column processes.clock_ms is 'by how much the clock of the process is ahead of that of the database; null if it has not been compared';

create table provider (
  key text primary key check (key = 'provider'),
  name text not null,
  accent text check (accent ~ '^#[0-9a-f]{6}$'),
  support text,
  logo text
);
comment on table provider is 'at most one row';
comment on column provider.accent is '#rrggbb; null: that of the portal';
comment on column provider.support is 'mailto: or https: link';
comment on column provider.logo is 'SVG';

create table installation (
  key text default 'installation' primary key check (key = 'installation'),
  uuid uuid,
  system_identifier text,
  database_oid bigint,
  timeline integer,
  schema_floor text,
  lost_keys text[] not null default '{}'
);
comment on table installation is 'one row';
comment on column installation.system_identifier is 'of the cluster, from pg_control_system(): an unsigned number of 64 bits';
comment on column installation.schema_floor is 'the oldest release that may run, such as 0.3.0: raised by pharos migrate --finish; null: any release before the first one that had phases';
comment on column installation.lost_keys is 'ids of keys of sealed values, in hexadecimal, whose loss the operator has accepted';

insert into revisions (name) values ('ownership');
insert into installation default values;
