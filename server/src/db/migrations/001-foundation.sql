-- The foundation: places, teams and users, sessions, what a team holds, announcements per region, deliveries and events.
--
-- Two walls keep teams apart. The first is `team_id = $n` in every store function. The second is row-level security:
-- the API's work for a team runs as the role pharos_tenant with the setting pharos.team_id, and sees nothing else.
-- Loops and the operator's commands run as the owner of the tables, whom the policies do not bind.

-- A role belongs to the cluster, not to the database: another database of the same server may have made it already, or
-- an administrator, where the owner of this database may make no roles. Asked for first, because such an owner is refused
-- whether or not the role is there.
do $$
begin
  if to_regrole('pharos_tenant') is null then
    create role pharos_tenant nologin;
  end if;
exception when duplicate_object or unique_violation then null;
end $$;

-- Since version 16 who makes a role belongs to it without being able to become it.
do $$
declare
  becoming text := case when current_setting('server_version_num')::integer >= 160000 then 'SET' else 'MEMBER' end;
begin
  if not pg_has_role(current_user, 'pharos_tenant', becoming) then
    execute format('grant pharos_tenant to %I', current_user);
  end if;
end $$;

grant usage on schema public to pharos_tenant;

-- The team that this transaction works for; null outside of tenant work, so that every policy then shows nothing.
create function current_team_id() returns integer language sql stable parallel safe
  as $$ select nullif(current_setting('pharos.team_id', true), '')::integer $$;

------------------------------------------------------------------------------------------------------------- places

create table locations (
  key text primary key check (key ~ '^[a-z0-9][a-z0-9-]{0,31}$'),
  name text not null,
  country text not null check (country ~ '^[A-Z]{2}$'),
  timezone text not null
);
comment on column locations.timezone is 'IANA name, such as Europe/Amsterdam';

create table regions (
  id integer generated always as identity primary key,
  slug text not null unique check (slug ~ '^[a-z0-9][a-z0-9-]{0,31}$'),
  name text not null,
  location_key text not null references locations,
  open boolean not null default true,
  speaker jsonb not null,
  epoch bigint not null default 0,
  last_check timestamptz,
  last_check_result boolean,
  last_error text
);
comment on column regions.open is 'whether teams may announce here';
comment on column regions.speaker is 'how the router of the region is reached; the operator''s file holds its shape';
comment on column regions.epoch is 'raised by whoever takes the region''s lock: the fence against a reconciler that was paused';
comment on column regions.last_check is 'when the announcements were last compared with what the router holds';

-------------------------------------------------------------------------------------------------- teams and users

create table teams (
  id integer generated always as identity primary key,
  slug text not null unique check (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  name text not null,
  enable_sdwan boolean not null default false,
  enable_dns boolean not null default false,
  enabled_modules text[] not null default '{}',
  created timestamptz not null default now()
);

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
  created timestamptz not null default now()
);
create unique index users_email on users (lower(email));
comment on column users.is_demo is 'an account with a published password: refused on any interface but loopback';
comment on column users.session_version is 'raised to end every access token of the user at once (claim sv)';

create table memberships (
  team_id integer not null references teams on delete cascade,
  user_id integer not null references users on delete cascade,
  is_admin boolean not null default false,
  created timestamptz not null default now(),
  primary key (team_id, user_id)
);
create index memberships_user on memberships (user_id);

-- The user as the API shows it, working in one team; null when the team is neither the user's nor the user staff.
-- A function, because signing in, refreshing and "who am I" must never differ, and a refresh is one statement.
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

---------------------------------------------------------------------------------------------------------- session

create table sessions (
  id uuid primary key default gen_random_uuid(),
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
  user_agent text
);
create index sessions_user on sessions (user_id);
comment on column sessions.counter is 'number of the newest refresh token; only its bearer can rotate';
comment on column sessions.rotations is 'when the tokens counter-n .. counter-1 were rotated, oldest first, kept for the grace period';

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
  revoked timestamptz
);
create index api_tokens_team on api_tokens (team_id);

create table idempotency_keys (
  team_id integer not null references teams on delete cascade,
  credential text not null,
  key text not null,
  request_hash bytea not null,
  status integer not null,
  body jsonb,
  etag text,
  created timestamptz not null default now(),
  primary key (credential, key)
);
create index idempotency_keys_created on idempotency_keys (created);

------------------------------------------------------------------------------------------------ what a team holds

create table prefixes (
  id integer generated always as identity primary key,
  team_id integer not null references teams on delete cascade,
  prefix cidr not null,
  name text not null default '',
  location_key text references locations,
  matched boolean not null default false,
  created timestamptz not null default now(),
  unique (team_id, prefix)
);
create index prefixes_unmatched on prefixes (id) where not matched;
comment on column prefixes.matched is 'false until past events have been matched against it';

create table asns (
  id integer generated always as identity primary key,
  team_id integer not null references teams on delete cascade,
  asn bigint not null check (asn between 1 and 4294967295),
  name text not null default '',
  verified timestamptz,
  matched boolean not null default false,
  created timestamptz not null default now(),
  unique (team_id, asn)
);
create index asns_unmatched on asns (id) where not matched;

------------------------------------------------------------------------------------------------------------ byoip

create table announcements (
  id integer generated always as identity primary key,
  team_id integer not null references teams on delete cascade,
  prefix cidr not null unique,
  origin_asn bigint not null check (origin_asn between 1 and 4294967295),
  description text not null default '',
  enabled boolean not null default false,
  suspended boolean not null default false,
  irr_validated timestamptz,
  rpki_validated timestamptz,
  loa_validated timestamptz,
  status text not null default 'pending_validation' check (status in (
    'pending_validation', 'validating', 'validation_failed', 'ready', 'announcing', 'announced',
    'partially_announced', 'withdrawing', 'withdrawn', 'suspended', 'error')),
  version integer not null default 1,
  matched boolean not null default false,
  created timestamptz not null default now()
) with (fillfactor = 50);
create index announcements_team on announcements (team_id, id);
create index announcements_unmatched on announcements (id) where not matched;
comment on column announcements.status is 'what was observed; written by statusOf() only, together with what it follows from';
comment on column announcements.version is 'raised by every change; the ETag';

-- Half of each page is left free, so that a reconciler which writes ten thousand states writes no index.
-- One row per region that was ever configured. It is never deleted while the announcement exists: a row that says
-- "not here" is the evidence on which a route may be withdrawn; a route without a row is held for a human.
create table announcement_regions (
  announcement_id integer not null references announcements on delete cascade,
  region_id integer not null references regions,
  team_id integer not null references teams on delete cascade,
  configured boolean not null,
  state text not null default 'withdrawn' check (state in ('withdrawn', 'announcing', 'announced', 'withdrawing', 'error')),
  since timestamptz not null default now(),
  message text,
  changes timestamptz[] not null default '{}',
  primary key (announcement_id, region_id)
) with (fillfactor = 50);
create index announcement_regions_region on announcement_regions (region_id);
create index announcement_regions_team on announcement_regions (team_id);
comment on column announcement_regions.configured is 'whether the region is in the announcement''s regions';
comment on column announcement_regions.state is 'what was last seen on the router, with the direction it is moving in';
comment on column announcement_regions.changes is 'when its desired state changed during the last hour, for damping';

create table holds (
  id integer generated always as identity primary key,
  region_id integer not null references regions,
  reason text not null,
  detail text not null,
  withdrawals cidr[] not null,
  state text not null default 'open' check (state in ('open', 'approved', 'rejected', 'closed')),
  created timestamptz not null default now(),
  decided timestamptz,
  decided_by integer references users
);
create unique index holds_open on holds (region_id) where state = 'open';
comment on column holds.withdrawals is 'what would be withdrawn; an approval covers these and no others';

create table region_withdrawals (
  region_id integer not null references regions,
  at timestamptz not null default now(),
  withdrawals integer not null,
  approved boolean not null
);
create index region_withdrawals_region on region_withdrawals (region_id, at);
comment on table region_withdrawals is 'what was sent to the router, written before it is sent: the guard''s memory of the last minutes';

--------------------------------------------------------------------------------------------------------- analysis

create table sources (
  key text primary key check (key ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  kind text not null,
  name text not null,
  secret_mac bytea not null,
  settings jsonb not null default '{}',
  created timestamptz not null default now()
);

create table deliveries (
  id bigint generated always as identity,
  source_key text not null references sources,
  delivery_id text not null,
  received timestamptz not null default now(),
  content_type text,
  body bytea not null,
  state text not null default 'new' check (state in ('new', 'done', 'failed')),
  error text,
  processed timestamptz,
  primary key (id, received),
  unique (source_key, delivery_id, received)
) partition by range (received);
create table deliveries_default partition of deliveries default;
create index deliveries_new on deliveries (id) where state = 'new';
create index deliveries_source on deliveries (source_key, received);

-- A delivery id is unique for its source whatever the month; the partitioned table cannot say so itself.
create table delivery_ids (
  source_key text not null references sources,
  delivery_id text not null,
  received timestamptz not null default now(),
  primary key (source_key, delivery_id)
);

create table events (
  id text collate "C" primary key,
  source_key text not null,
  source_event_id text not null,
  flags text[] not null,
  status text[] not null,
  affected_network cidr,
  source_timezone text not null,
  start_at timestamptz not null,
  end_at timestamptz,
  source_resource_id text not null,
  source_location_id text not null,
  source_country text not null,
  source_location text not null,
  classification_key text not null,
  description text not null,
  affected_bps bigint not null,
  affected_pps bigint not null,
  parsed_data jsonb not null,
  has_attachment boolean not null default false,
  merge_state jsonb,
  updated timestamptz not null default now(),
  unique (source_key, source_event_id)
);
create index events_network on events (affected_network, id);
comment on column events.id is 'follows from source_key and source_event_id';
comment on column events.affected_bps is 'bits per second, the peak so far';
comment on column events.affected_pps is 'packets per second, the peak so far';
comment on column events.merge_state is
  'what the other columns do not say and merging the next observation needs; null: the next observation starts anew';

-- The networks of the few events that affect several, affected_network among them.
create table event_networks (
  network cidr not null,
  event_id text collate "C" not null references events on delete cascade,
  primary key (network, event_id)
);
create index event_networks_event on event_networks (event_id);

create table event_relationships (
  id bigint generated always as identity primary key,
  event_id text collate "C" not null references events on delete cascade,
  team_id integer not null references teams on delete cascade,
  match_resource text not null check (match_resource in ('announcement', 'prefix', 'service', 'port', 'asn')),
  match_resource_id integer not null,
  match_resource_name text not null,
  match_resource_link text not null,
  match_type text not null check (match_type in ('exact', 'covers', 'covered_by', 'origin_asn', 'source_resource')),
  match_value text not null,
  unique (event_id, team_id, match_resource, match_resource_id, match_type)
);
create index event_relationships_team on event_relationships (team_id);
create index event_relationships_resource on event_relationships (match_resource, match_resource_id, event_id);

-- The read model of the related list: one row per event and team that it concerns, with the record as the API prints
-- it. Written in the transaction that writes the event, so that a page and its count are one snapshot. There is no
-- reference to events: each row is written after its event by the one writer there is, and a check costs 16 us a row.
-- Whoever deletes events deletes these first.
create table team_events (
  team_id integer not null references teams on delete cascade,
  event_id text collate "C" not null,
  start_at timestamptz not null,
  end_at timestamptz,
  span smallint not null generated always as (case when end_at is null then 99
    else ceil(ln(greatest(extract(epoch from end_at - start_at)::float8, 1)) / ln(2::float8)) end) stored,
  affected_bps bigint not null,
  affected_pps bigint not null,
  flags integer not null,
  affected_network cidr,
  classification_key text collate "C" not null,
  description text not null,
  record text not null,
  relationships text not null,
  primary key (team_id, event_id)
);
-- With the columns of the default ordering, so that a deep offset walks the index only, and with those of every filter:
-- a search then reads the team's part of this index instead of rows that lie between those of all other teams.
create index team_events_start on team_events (team_id, start_at, end_at, affected_bps, affected_pps, event_id)
  include (flags, affected_network, classification_key, description);
create index team_events_flags on team_events (team_id, flags, start_at, end_at, affected_bps, affected_pps, event_id);
create index team_events_end on team_events (team_id, end_at, event_id) include (flags);
create index team_events_bps on team_events (team_id, affected_bps, event_id);
create index team_events_pps on team_events (team_id, affected_pps, event_id);
create index team_events_span on team_events (team_id, span, start_at, end_at, event_id);
create index team_events_network on team_events (team_id, affected_network)
  include (start_at, end_at, affected_bps, affected_pps, event_id, classification_key, flags);
create index team_events_class on team_events (team_id, classification_key, event_id);
comment on column team_events.span is 'it lasted at most 2^span seconds; 99 while it is not over';
comment on column team_events.flags is 'a bit for each flag, in the order of the contract';
comment on column team_events.description is 'in lower case, for searching; at most 500 characters, or the index would not take it';
comment on column team_events.record is 'JSON object without its closing brace, for the list and for the detail';
comment on column team_events.relationships is 'JSON array';

-- How many of a team's events have which flags and lie in which bucket of a measure: the exact count of a page without
-- counting, and the place of a deep offset without walking there. Kept by trigger: see count_team_events().
create table team_event_counts (
  team_id integer not null references teams on delete cascade,
  measure text collate "C" not null
    check (measure in ('all', 'start', 'start_block', 'end', 'end_block', 'bps', 'pps')),
  bucket integer not null,
  flags integer not null,
  events bigint not null,
  primary key (team_id, measure, bucket, flags)
) with (fillfactor = 50);
comment on column team_event_counts.bucket is 'start, end: days since 1970 in UTC (2147483647: not over); '
  'start_block, end_block: those by 64, so that ten years are summed up in 60 rows; bps, pps: rate_bucket(); all: 0';
comment on column team_event_counts.flags is 'as in team_events; 0 for bps and pps, of which there are too many buckets';

create function day_bucket(at timestamptz) returns integer language sql immutable parallel safe
  as $$ select coalesce((at at time zone 'UTC')::date - date '1970-01-01', 2147483647) $$;

-- 16 buckets for each doubling, by whole numbers only, so that rate_bucket(x) >= b exactly where x >= bucket_rate(b).
create function rate_bucket(rate bigint) returns integer language sql immutable strict parallel safe
  as $$ select case when rate < 16 then rate::integer
    else (61 - position(B'1' in rate::bit(64))) * 16
      + ((rate >> (60 - position(B'1' in rate::bit(64)))) & 15)::integer end $$;

create function bucket_rate(bucket integer) returns bigint language sql immutable strict parallel safe
  as $$ select case when bucket < 16 then bucket::bigint
    else (16 + bucket % 16)::bigint << (bucket / 16 - 1) end $$;

-- Arrays, because a VALUES list would be compiled anew for each event, at 200 us.
create function event_buckets(start_at timestamptz, end_at timestamptz, bps bigint, pps bigint, event_flags integer)
  returns table (measure text, bucket integer, flags integer) language sql immutable parallel safe
  as $$ select * from unnest(
    array['all', 'start', 'start_block', 'end', 'end_block', 'bps', 'pps'],
    array[0, day_bucket(start_at), day_bucket(start_at) / 64, day_bucket(end_at), day_bucket(end_at) / 64,
      rate_bucket(bps), rate_bucket(pps)],
    array[event_flags, event_flags, event_flags, event_flags, event_flags, 0, 0]) $$;

-- By trigger, because a writer that forgot would make every count wrong for good. Rows are locked in one order.
-- Whoever writes team_events holds the teams' lock (event.store.ts), so that two writers cannot cross each other.
create function count_team_events() returns trigger language plpgsql security definer set search_path = public as $$
begin
  if tg_op = 'INSERT' then
    insert into team_event_counts as c (team_id, measure, bucket, flags, events)
      select e.team_id, b.measure, b.bucket, b.flags, count(*)
      from new_rows e cross join event_buckets(e.start_at, e.end_at, e.affected_bps, e.affected_pps, e.flags) b
      group by 1, 2, 3, 4 order by 1, 2, 3, 4
      on conflict (team_id, measure, bucket, flags) do update set events = c.events + excluded.events;
  elsif tg_op = 'UPDATE' then
    insert into team_event_counts as c (team_id, measure, bucket, flags, events)
      select e.team_id, b.measure, b.bucket, b.flags, sum(e.n)
      from (select 1 as n, team_id, start_at, end_at, affected_bps, affected_pps, flags from new_rows
        union all select -1, team_id, start_at, end_at, affected_bps, affected_pps, flags from old_rows) e
        cross join event_buckets(e.start_at, e.end_at, e.affected_bps, e.affected_pps, e.flags) b
      group by 1, 2, 3, 4 having sum(e.n) <> 0 order by 1, 2, 3, 4
      on conflict (team_id, measure, bucket, flags) do update set events = c.events + excluded.events;
  else
    -- Where the whole team goes, its counts may be gone already: nothing is inserted here.
    update team_event_counts c set events = c.events - d.events
      from (select e.team_id, b.measure, b.bucket, b.flags, count(*) as events
        from old_rows e cross join event_buckets(e.start_at, e.end_at, e.affected_bps, e.affected_pps, e.flags) b
        group by 1, 2, 3, 4 order by 1, 2, 3, 4) d
      where (c.team_id, c.measure, c.bucket, c.flags) = (d.team_id, d.measure, d.bucket, d.flags);
  end if;
  return null;
end $$;

create trigger team_events_inserted after insert on team_events referencing new table as new_rows
  for each statement execute function count_team_events();
create trigger team_events_updated after update on team_events referencing old table as old_rows new table as new_rows
  for each statement execute function count_team_events();
create trigger team_events_deleted after delete on team_events referencing old table as old_rows
  for each statement execute function count_team_events();

------------------------------------------------------------------------------------------------------------ audit

create table audit_entries (
  id bigint generated always as identity,
  at timestamptz not null default now(),
  team_id integer,
  actor text not null,
  action text not null,
  target text not null,
  before jsonb,
  after jsonb,
  request_id text,
  address inet,
  primary key (id, at)
) partition by range (at);
create table audit_entries_default partition of audit_entries default;
create index audit_entries_team on audit_entries (team_id, at);

-- Tables that grow without end are cut by month. Rows of a month without a partition go to the default one, so that a
-- maintenance run that is late loses nothing; they move when the month gets its own, since a partition cannot be
-- attached while the default one holds rows of its range.
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
    -- Nobody may write to the default partition between the move and the attachment.
    execute format('lock table %I in access exclusive mode', parent || '_default');
    execute format('create table %I (like %I including defaults including constraints including indexes)', part, parent);
    execute format('with moved as (delete from %I where %I >= %L and %I < %L returning *) insert into %I select * from moved',
      parent || '_default', key, first, key, past, part);
    execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, part, first, past);
  end loop;
end $$;

-------------------------------------------------------------------------------------------- changes that others follow

-- A revision is raised whenever what it counts changes, by trigger, because a writer that forgot would leave the
-- matcher with a stale map and nobody would notice.
create table revisions (
  name text primary key,
  revision bigint not null default 1
);
insert into revisions (name) values ('ownership'), ('actors');

create function raise_revision() returns trigger language plpgsql security definer set search_path = public as $$
begin
  update revisions set revision = revision + 1 where name = tg_argv[0];
  perform pg_notify('pharos', tg_argv[0]);
  return null;
end $$;

create trigger prefixes_ownership after insert or delete or update of team_id, prefix, name, location_key on prefixes
  for each statement execute function raise_revision('ownership');
create trigger asns_ownership after insert or delete or update of team_id, asn, name on asns
  for each statement execute function raise_revision('ownership');
create trigger announcements_ownership
  after insert or delete or update of team_id, prefix, origin_asn, description on announcements
  for each statement execute function raise_revision('ownership');
create trigger locations_ownership after update on locations
  for each statement execute function raise_revision('ownership');

-- A resource that was changed has to be matched again against past events; of one that is gone, the relationships are
-- still to be taken away. The rematch loop does both.
create table removed_resources (
  match_resource text not null check (match_resource in ('announcement', 'prefix', 'service', 'port', 'asn')),
  match_resource_id integer not null,
  removed timestamptz not null default now(),
  primary key (match_resource, match_resource_id)
);

create function resource_changed() returns trigger language plpgsql as $$
begin
  new.matched := false;
  return new;
end $$;

create function resource_removed() returns trigger language plpgsql security definer set search_path = public as $$
begin
  insert into removed_resources (match_resource, match_resource_id) values (tg_argv[0], old.id) on conflict do nothing;
  return null;
end $$;

create trigger prefixes_changed before update of team_id, prefix, name, location_key on prefixes
  for each row execute function resource_changed();
create trigger asns_changed before update of team_id, asn, name on asns
  for each row execute function resource_changed();
create trigger announcements_changed before update of team_id, prefix, origin_asn, description on announcements
  for each row execute function resource_changed();
create trigger prefixes_removed after delete on prefixes for each row execute function resource_removed('prefix');
create trigger asns_removed after delete on asns for each row execute function resource_removed('asn');
create trigger announcements_removed after delete on announcements
  for each row execute function resource_removed('announcement');

create trigger users_actors after delete or update of is_staff, is_demo, session_version, email_confirmed on users
  for each statement execute function raise_revision('actors');
create trigger memberships_actors after insert or delete or update on memberships
  for each statement execute function raise_revision('actors');
create trigger teams_actors after delete or update of enabled_modules on teams
  for each statement execute function raise_revision('actors');
create trigger sessions_actors after delete or update of team_id, revoked on sessions
  for each statement execute function raise_revision('actors');
create trigger api_tokens_actors after delete or update of scopes, allowed_networks, is_admin, expires, revoked on api_tokens
  for each statement execute function raise_revision('actors');

-------------------------------------------------------------------------------------------------- the second wall

alter table prefixes enable row level security;
alter table asns enable row level security;
alter table announcements enable row level security;
alter table announcement_regions enable row level security;
alter table idempotency_keys enable row level security;
alter table api_tokens enable row level security;
alter table audit_entries enable row level security;
alter table events enable row level security;
alter table event_relationships enable row level security;
alter table team_events enable row level security;
alter table team_event_counts enable row level security;
alter table teams enable row level security;
alter table memberships enable row level security;

create policy tenant on prefixes to pharos_tenant using (team_id = current_team_id());
create policy tenant on asns to pharos_tenant using (team_id = current_team_id());
create policy tenant on announcements to pharos_tenant using (team_id = current_team_id());
create policy tenant on announcement_regions to pharos_tenant using (team_id = current_team_id());
create policy tenant on idempotency_keys to pharos_tenant using (team_id = current_team_id());
create policy tenant on api_tokens to pharos_tenant using (team_id = current_team_id());
create policy tenant on audit_entries to pharos_tenant using (team_id = current_team_id());
create policy tenant on event_relationships to pharos_tenant using (team_id = current_team_id());
create policy tenant on team_events to pharos_tenant using (team_id = current_team_id());
create policy tenant on team_event_counts to pharos_tenant using (team_id = current_team_id());
create policy tenant on teams to pharos_tenant using (id = current_team_id());
create policy tenant on memberships to pharos_tenant using (team_id = current_team_id());
-- An event belongs to no team; it is seen by those to whom it is related. By key only: a scan would ask once per row.
create policy tenant on events to pharos_tenant using (exists (
  select from team_events te where te.team_id = current_team_id() and te.event_id = events.id));

grant select on locations, teams, memberships, prefixes, asns, announcements, announcement_regions, events,
  event_relationships, team_events, team_event_counts to pharos_tenant;
grant select (id, slug, name, location_key, open, last_check, last_check_result) on regions to pharos_tenant;
grant update (enabled, status, version) on announcements to pharos_tenant;
grant insert, update on announcement_regions to pharos_tenant;
grant select, insert, delete on idempotency_keys to pharos_tenant;
grant insert on audit_entries to pharos_tenant;
