-- Regions and their routers, announcements with their checks, letters and blackholes.

set local check_function_bodies = off;

create table regions (
  id integer generated always as identity primary key,
  slug text not null unique check (slug ~ '^[a-z0-9][a-z0-9-]{0,31}$'),
  name text not null,
  location_key text not null references locations,
  open boolean not null default true,
  epoch bigint not null default 0,
  last_check timestamptz,
  last_check_result boolean,
  last_error text,
  speakers jsonb not null,
  quorum integer check (quorum > 0),
  communities text[] not null default '{}',
  large_communities text[] not null default '{}',
  neighbors4 boolean not null default true,
  neighbors6 boolean not null default true,
  check_interval interval not null default '00:00:30',
  blackhole_next_hop jsonb not null default '{}',
  routes_missing integer not null default 0
);
comment on column regions.open is 'whether teams may announce here';
comment on column regions.epoch is 'raised by whoever takes the region''s lock: the fence against a reconciler that was paused';
comment on column regions.last_check is 'when the announcements were last compared with what the router holds';
comment on column regions.speakers is 'how each router of the region is reached; the platform file defines the shape';
comment on column regions.quorum is 'routers that must carry a route before it counts as announced; null: all that are not drained';
comment on column regions.neighbors4 is 'whether a quorum of routers has an established BGP session that carries IPv4';
comment on column regions.neighbors6 is 'the same for IPv6';
comment on column regions.check_interval is 'how often its reconciler compares it with its router';
comment on column regions.blackhole_next_hop is 'addresses that its edge routers discard, as ipv4 and ipv6; absent: 192.0.2.1 and 100::1';
comment on column regions.routes_missing is 'desired routes that the last check found on too few routers, or not advertised by them';
grant select (id, slug, name, location_key, open, last_check, last_check_result, neighbors4, neighbors6, check_interval, routes_missing) on regions to
  pharos_tenant;

create table announcements (
  id integer generated always as identity primary key,
  team_id integer not null references teams on delete cascade,
  prefix cidr not null,
  origin_asn bigint not null check (origin_asn between 1 and 4294967295),
  description text not null default '',
  enabled boolean not null default false,
  suspended boolean not null default false,
  irr_validated timestamptz,
  rpki_validated timestamptz,
  loa_validated timestamptz,
  status text not null default 'pending_validation' check (status in ('pending_validation', 'validating', 'validation_failed', 'ready', 'announcing',
    'announced', 'partially_announced', 'withdrawing', 'withdrawn', 'suspended', 'error')),
  version integer not null default 1,
  matched boolean not null default false,
  created timestamptz not null default now(),
  as_set text,
  delegate_loa boolean not null default false,
  loa_signatory text not null default '',
  managed_by text not null default 'operator' check (managed_by in ('operator', 'team')),
  vouched text[] not null default '{}' check (vouched <@ array['irr', 'rpki', 'loa']),
  clearance text not null default 'pending' check (clearance in ('pending', 'running', 'failed', 'passed')),
  claimed timestamptz,
  check_requested timestamptz,
  suspended_reason text,
  deleted timestamptz,
  checked_origin bigint,
  suspended_by text check (suspended_by in ('staff', 'validation')),
  constraint announcements_enabled_claimed check (not enabled or claimed is not null),
  constraint announcements_deleted_disabled check (deleted is null or not enabled),
  constraint announcements_suspended_by check (suspended = (suspended_by is not null))
) with (fillfactor = 50);
comment on column announcements.status is 'what was observed; written by statusOf() only, together with what it follows from';
comment on column announcements.version is 'incremented by every change of the desired side; the part of the ETag that If-Match compares';
comment on column announcements.as_set is 'AS-SET whose members may originate the prefix in the IRR';
comment on column announcements.managed_by is 'who made it: the operator''s file, which may prune it, or the team';
comment on column announcements.vouched is 'checks that the operator''s file says have passed, whatever the registries say';
comment on column announcements.clearance is 'how far the checks are; passed while irr, rpki and loa are all valid';
comment on column announcements.claimed is 'when every check had passed for the first time: since then it holds the prefix';
comment on column announcements.check_requested is 'somebody asked for all checks at once; null when that was done';
comment on column announcements.suspended_reason is 'the text of staff for the team; null if there is none';
comment on column announcements.deleted is 'deleted by its team; for seven days it can be restored';
comment on column announcements.checked_origin is 'the origin for which every check passed; a row with another one is not announced';
comment on column announcements.suspended_by is '`staff`: the provider, through the API or the platform file; `validation`: the policy for failing checks';
create index announcements_team on announcements (team_id, id);
create index announcements_unmatched on announcements (id) where not matched;
create unique index announcements_claim on announcements (prefix) where claimed is not null and deleted is null;
create unique index announcements_of_team on announcements (team_id, prefix) where deleted is null;
create unique index announcements_of_operator on announcements (prefix) where managed_by = 'operator' and deleted is null;
create index announcements_covering on announcements using gist (prefix inet_ops) where deleted is null;
create index announcements_requested on announcements (id) where check_requested is not null;
create index announcements_deleted on announcements (deleted) where deleted is not null;
create index announcements_prefix on announcements (prefix);
alter table announcements enable row level security;
create policy tenant on announcements to pharos_tenant using (team_id = current_team_id());
grant select, insert (team_id, prefix, origin_asn, description, status, as_set, delegate_loa, loa_signatory, managed_by, clearance), update
  (description, enabled, status, version, as_set, delegate_loa, loa_signatory, check_requested, deleted) on announcements to pharos_tenant;

create trigger announcements_removed after delete on announcements for each row execute function resource_removed('announcement');
create trigger announcements_ownership after insert or delete or update of team_id, prefix, origin_asn, description, claimed, deleted on announcements
  for each statement execute function raise_revision('ownership');
create trigger announcements_changed before update of team_id, prefix, origin_asn, description, claimed, deleted on announcements for each row execute
  function resource_changed();
create trigger announcements_soft_removed after update of deleted on announcements for each row when (new.deleted is not null and old.deleted is null)
  execute function resource_removed('announcement');
create trigger announcements_held after update of deleted on announcements for each row when (old.claimed is not null and old.deleted is null and
  new.deleted is not null) execute function keep_former_holding('announcement');
create trigger announcements_deleted_held after delete on announcements for each row when (old.claimed is not null and old.deleted is null) execute
  function keep_former_holding('announcement');

-- Whether another team has claimed the prefix or one that covers it, without its name.
create function prefix_is_claimed(team integer, wanted cidr) returns boolean language sql stable security definer set search_path = public, pg_temp
  as $$ select exists (select from announcements a
      where a.prefix >>= wanted and a.team_id <> team and a.claimed is not null and a.deleted is null)
    or exists (select from prefixes p where p.prefix >>= wanted and p.team_id <> team) $$;
revoke execute on function prefix_is_claimed from public;
grant execute on function prefix_is_claimed to pharos_tenant;

-- Whether the team is the most specific holder of the network: a prefix or a claimed announcement of the team covers it, and no longer one
-- of another team does.
create function holds_network(team integer, wanted cidr) returns boolean language sql stable security definer set search_path = public, pg_temp
  as $$ select coalesce(bool_or(h.team_id = team), false) from (
    select c.team_id, masklen(c.prefix) = max(masklen(c.prefix)) over () as is_closest from (
      select p.team_id, p.prefix from prefixes p where p.prefix >>= wanted
      union all
      select a.team_id, a.prefix from announcements a
        where a.prefix >>= wanted and a.claimed is not null and a.deleted is null) c) h
  where h.is_closest $$;
revoke execute on function holds_network from public;
grant execute on function holds_network to pharos_tenant;

create function shield_holds(team integer, wanted cidr) returns boolean language sql stable security definer set search_path = public, pg_temp as $$
  with holdings as (
    select p.team_id, p.prefix from prefixes p where p.prefix && wanted
    union all
    select a.team_id, a.prefix from announcements a where a.prefix && wanted and a.claimed is not null and a.deleted is null)
  select exists (
      select from holdings h where h.team_id = team and h.prefix >>= wanted
        and masklen(h.prefix) = (select max(masklen(c.prefix)) from holdings c where c.prefix >>= wanted))
    and not exists (select from holdings h where h.prefix << wanted and h.team_id <> team)
$$;
revoke execute on function shield_holds from public;
grant execute on function shield_holds to pharos_tenant;

-- One row per region that was ever configured. It is not deleted while the announcement exists: a row that is not desired is the evidence
-- on which a route is withdrawn, and a route without a row waits for an approval. Half of each page stays free, so that updates of states
-- change no index.
create table announcement_regions (
  announcement_id integer not null references announcements on delete cascade,
  region_id integer not null references regions,
  team_id integer not null references teams on delete cascade,
  configured boolean not null,
  state text not null default 'withdrawn' check (state in ('withdrawn', 'announcing', 'announced', 'withdrawing', 'error')),
  since timestamptz not null default now(),
  changes timestamptz[] not null default '{}',
  reason text,
  attrs jsonb,
  announced_origin bigint,
  restorable boolean not null default false,
  settled timestamptz,
  primary key (announcement_id, region_id)
) with (fillfactor = 50);
comment on column announcement_regions.configured is 'whether the region is in the announcement''s regions';
comment on column announcement_regions.state is 'what was last seen on the router, with the direction it is moving in';
comment on column announcement_regions.changes is 'when its desired state changed during the last hour, for damping';
comment on column announcement_regions.announced_origin is 'the origin with which a router of the region last showed the route; null once all of them have shown that it is gone';
comment on column announcement_regions.restorable is 'the announcement has no regions now, and this one was in its last set of regions: enabling it without a region restores it';
comment on column announcement_regions.settled is 'when the routers first showed the last change of the desired state; before the last of changes until then';
create index announcement_regions_region on announcement_regions (region_id);
create index announcement_regions_team on announcement_regions (team_id);
create index announcement_regions_in_motion on announcement_regions (region_id, since) where state in ('announcing', 'withdrawing') and reason is null;
alter table announcement_regions enable row level security;
create policy tenant on announcement_regions to pharos_tenant using (team_id = current_team_id());
grant select, insert, update on announcement_regions to pharos_tenant;

create table region_withdrawals (
  region_id integer not null references regions,
  at timestamptz not null default now(),
  prefix cidr not null,
  counted_for integer
);
comment on table region_withdrawals is 'withdrawals that nobody approved or asked for by name, written before they are sent';
comment on column region_withdrawals.counted_for is 'the team whose share it takes';
create index region_withdrawals_region on region_withdrawals (region_id, at);

-- One row per check of an announcement; absent until its first result.
create table announcement_validations (
  announcement_id integer not null references announcements on delete cascade,
  name text not null check (name in ('irr', 'rpki', 'loa', 'asn', 'size', 'overlap')),
  team_id integer not null references teams on delete cascade,
  state text not null check (state in ('valid', 'pending', 'missing', 'invalid', 'mismatch_asn', 'mismatch_length', 'expired', 'unavailable')),
  note text not null,
  evidence jsonb not null default '{}',
  fix text,
  checked timestamptz,
  since timestamptz not null default now(),
  next_check timestamptz,
  reason text,
  attrs jsonb not null default '{}',
  primary key (announcement_id, name)
) with (fillfactor = 70);
comment on column announcement_validations.note is 'the sentence of the reason, for webhooks';
comment on column announcement_validations.fix is 'the literal text of what to create; null where there is nothing to do';
comment on column announcement_validations.checked is 'when its registry was last asked and answered';
comment on column announcement_validations.since is 'when the state began';
comment on column announcement_validations.next_check is 'when the registry is asked again; null for what follows from other rows';
comment on column announcement_validations.reason is 'code from contract/src/check-reason.ts; null in rows from before codes existed';
comment on column announcement_validations.attrs is 'JSON object: the attributes of the reason';
create index announcement_validations_due on announcement_validations (next_check) where next_check is not null;
alter table announcement_validations enable row level security;
create policy tenant on announcement_validations to pharos_tenant using (team_id = current_team_id());
grant select, insert, update, delete on announcement_validations to pharos_tenant;

-- Changes and observations of an announcement for its team. The audit log has the changes only.
create table announcement_history (
  id bigint generated always as identity primary key,
  announcement_id integer not null references announcements on delete cascade,
  team_id integer not null references teams on delete cascade,
  at timestamptz not null default now(),
  kind text not null,
  region_id integer references regions on delete set null,
  actor text not null,
  detail jsonb not null default '{}',
  took_ms integer
);
comment on column announcement_history.took_ms is 'from the request to what was seen on the router';
create index announcement_history_announcement on announcement_history (announcement_id, id);
alter table announcement_history enable row level security;
create policy tenant on announcement_history to pharos_tenant using (team_id = current_team_id());
grant select, insert on announcement_history to pharos_tenant;

create table letters (
  id integer generated always as identity primary key,
  team_id integer not null references teams on delete cascade,
  filename text not null check (length(filename) between 1 and 200),
  media_type text not null check (media_type in ('application/pdf', 'image/png', 'image/jpeg')),
  size integer not null check (size between 1 and 10485760),
  sha256 bytea not null check (length(sha256) = 32),
  status text not null default 'pending_review' check (status in ('pending_review', 'accepted', 'rejected')),
  reason text,
  valid_until timestamptz,
  uploaded timestamptz not null default now(),
  uploaded_by text not null,
  reviewed timestamptz,
  reviewed_by text,
  replaced_by integer references letters,
  pages integer check (pages between 1 and 1000),
  check ((reason is not null) = (status = 'rejected')),
  constraint letters_check1 check ((reviewed is not null) = (status <> 'pending_review')),
  constraint letters_check2 check (replaced_by is null or status = 'pending_review')
);
comment on column letters.reviewed_by is 'actor; null also if it was accepted without a person';
comment on column letters.replaced_by is 'the newer letter, where every announcement of a pending one has a newer one; the API then calls it rejected';
comment on column letters.pages is 'null for files that were uploaded before pages were counted';
create index letters_team on letters (team_id, id);
create index letters_pending on letters (id) where status = 'pending_review' and replaced_by is null;
alter table letters enable row level security;
create policy tenant on letters to pharos_tenant using (team_id = current_team_id());
grant select, insert (team_id, filename, media_type, size, sha256, valid_until, uploaded, uploaded_by, pages), update (replaced_by) on letters to
  pharos_tenant;

create table letter_announcements (
  letter_id integer not null references letters on delete cascade,
  announcement_id integer not null references announcements on delete cascade,
  team_id integer not null references teams on delete cascade,
  replaced boolean not null default false,
  origin_asn bigint not null,
  primary key (letter_id, announcement_id)
);
comment on column letter_announcements.replaced is 'a newer letter was uploaded for it before this one was decided';
comment on column letter_announcements.origin_asn is 'of the announcement at the upload: the letter does not authorize another one';
create index letter_announcements_announcement on letter_announcements (announcement_id, letter_id);
alter table letter_announcements enable row level security;
create policy tenant on letter_announcements to pharos_tenant using (team_id = current_team_id());
grant select, insert (letter_id, announcement_id, team_id, origin_asn), update (replaced) on letter_announcements to pharos_tenant;

-- A table of its own, because nearly all statements about letters do not need megabytes.
create table letter_files (
  letter_id integer primary key references letters on delete cascade,
  team_id integer not null references teams on delete cascade,
  content bytea not null
);
alter table letter_files alter column content set storage external;
alter table letter_files enable row level security;
create policy tenant on letter_files to pharos_tenant using (team_id = current_team_id());
grant select, insert on letter_files to pharos_tenant;

-- The last result of each method that a team has tried. The holder of an ASN is in asns.
create table asn_proofs (
  team_id integer not null references teams on delete cascade,
  asn bigint not null check (asn between 1 and 4294967295),
  method text not null check (method in ('rdap_email', 'peeringdb', 'aut_num', 'dns_txt', 'roa')),
  state text not null check (state in ('valid', 'pending', 'missing', 'unavailable', 'error')),
  evidence jsonb not null default '{}',
  note text not null,
  missing_since timestamptz,
  checked timestamptz not null,
  reason text,
  attrs jsonb not null default '{}',
  primary key (team_id, asn, method)
) with (fillfactor = 70);
comment on column asn_proofs.evidence is 'JSON object: what was read, and where';
comment on column asn_proofs.missing_since is 'since when no check has found what was valid before; null where it is there or never was';
comment on column asn_proofs.reason is 'code from contract/src/asn-proof-reason.ts; null in rows from before codes existed';
comment on column asn_proofs.attrs is 'JSON object: the attributes of the reason';
alter table asn_proofs enable row level security;
create policy tenant on asn_proofs to pharos_tenant using (team_id = current_team_id());
grant select, insert, update on asn_proofs to pharos_tenant;

create table region_routers (
  region_id integer not null references regions on delete cascade,
  name text not null,
  drained timestamptz,
  applied jsonb,
  last_check timestamptz,
  last_check_result boolean,
  last_error text,
  routes integer,
  neighbors jsonb not null default '[]',
  daemon text,
  neighbor_checks jsonb not null default '[]',
  primary key (region_id, name)
);
comment on table region_routers is 'what the reconciler last saw of each router; for staff';
comment on column region_routers.drained is 'since when its routes are withdrawn, and left to the other routers of the region';
comment on column region_routers.applied is 'the ASN and next hops with which its routes were last announced';
comment on column region_routers.daemon is 'router ID and owner at the last check: an address may have several spellings';
comment on column region_routers.neighbor_checks is 'for each neighbor and address family the time of its last check, and the routes that it did not receive';

create table notified_statuses (
  announcement_id integer primary key references announcements on delete cascade,
  team_id integer not null references teams on delete cascade,
  status text not null
);
comment on table notified_statuses is 'last status sent to the team, of announcements whose stored status was not shown at the time; empty while every router can be read';
create index notified_statuses_team on notified_statuses (team_id);
alter table notified_statuses enable row level security;
create policy tenant on notified_statuses to pharos_tenant using (team_id = current_team_id());
grant select, insert, update, delete on notified_statuses to pharos_tenant;

create table announcement_proofs (
  announcement_id integer not null references announcements on delete cascade,
  kind text not null check (kind in ('dns_txt', 'rdap')),
  team_id integer not null references teams on delete cascade,
  state text not null check (state in ('valid', 'missing', 'invalid', 'unavailable')),
  note text not null,
  evidence jsonb not null default '{}',
  fix text,
  checked timestamptz,
  since timestamptz not null default now(),
  next_check timestamptz not null,
  reason text,
  attrs jsonb not null default '{}',
  primary key (announcement_id, kind)
) with (fillfactor = 70);
comment on column announcement_proofs.checked is 'when the name servers or the registry last answered; what they said then stands while they are silent';
comment on column announcement_proofs.since is 'when the state began';
comment on column announcement_proofs.next_check is 'when they are asked again';
comment on column announcement_proofs.reason is 'code from contract/src/check-reason.ts; null in rows from before codes existed';
comment on column announcement_proofs.attrs is 'JSON object: the attributes of the reason';
alter table announcement_proofs enable row level security;
create policy tenant on announcement_proofs to pharos_tenant using (team_id = current_team_id());

create table visibility_sources (
  name text primary key,
  label text not null,
  position integer not null,
  is_used boolean not null default false,
  as_of timestamptz,
  problem text,
  checked timestamptz not null
);
comment on table visibility_sources is 'the configured sources of visibility, as the process that follows them last saw them';
comment on column visibility_sources.name is 'the URL without credentials; for operators';
comment on column visibility_sources.is_used is 'whether the summaries are from this source, and it has current data';
comment on column visibility_sources.as_of is 'time of its data';
comment on column visibility_sources.problem is 'why it has no current data; null if it has';
comment on column visibility_sources.checked is 'when the following process last wrote this row; if that is long ago, no process follows';
grant select (is_used, as_of, checked) on visibility_sources to pharos_tenant;

create table announcement_visibility (
  announcement_id integer primary key references announcements on delete cascade,
  team_id integer not null references teams on delete cascade,
  state text not null check (state in ('current', 'partial')),
  reason text,
  collectors_total integer not null check (collectors_total >= 0),
  collectors_seeing integer not null,
  origins jsonb not null default '[]',
  more_specifics jsonb not null default '[]',
  rpki text not null,
  change_at timestamptz,
  change_kind text check (change_kind in ('announced', 'withdrawn')),
  seconds_to_80pct integer check (seconds_to_80pct >= 0),
  stuck integer not null default 0,
  zombie boolean,
  notified_zombie boolean not null default false,
  notified_routes jsonb not null default '[]',
  ours integer not null default 0,
  not_visible boolean not null default false,
  other_path boolean not null default false,
  check ((reason is null) = (state = 'current')),
  constraint announcement_visibility_check1 check (collectors_seeing between 0 and collectors_total),
  constraint announcement_visibility_check2 check ((change_at is null) = (change_kind is null))
);
comment on table announcement_visibility is 'summary of what route collectors report of each announced prefix; valid only while a row of visibility_sources is used and current';
comment on column announcement_visibility.reason is 'code from contract/src/visibility.ts';
comment on column announcement_visibility.origins is 'JSON list: asn, count, expected';
comment on column announcement_visibility.more_specifics is 'JSON list: cidr, asn, count';
comment on column announcement_visibility.change_at is 'last change on the routers of all regions together';
comment on column announcement_visibility.seconds_to_80pct is 'propagation time of that change; null if not reached or not measured';
comment on column announcement_visibility.stuck is 'collectors that have the route of our announcement although it was withdrawn';
comment on column announcement_visibility.zombie is 'null: not known';
comment on column announcement_visibility.notified_zombie is 'whether the team was last notified that a zombie started';
comment on column announcement_visibility.notified_routes is 'the routes of other networks of which the team was last notified';
comment on column announcement_visibility.ours is 'collectors with the route of our announcement and our ASN in its path';
comment on column announcement_visibility.not_visible is 'whether the team was last notified that hardly any collector sees it';
comment on column announcement_visibility.other_path is 'whether the team was last notified that no path to it is through us';
create index announcement_visibility_team on announcement_visibility (team_id);
alter table announcement_visibility enable row level security;
create policy tenant on announcement_visibility to pharos_tenant using (team_id = current_team_id());
grant select on announcement_visibility to pharos_tenant;

create table blackholes (
  id integer generated always as identity primary key,
  team_id integer not null references teams on delete cascade,
  host cidr not null check (masklen(host::inet) = case family(host::inet) when 4 then 32 else 128 end),
  event_id text,
  comment text not null default '',
  forced boolean not null,
  created timestamptz not null default now(),
  expires timestamptz not null,
  ended timestamptz,
  unique (id, team_id),
  check (expires <= created + '25:00:00'::interval)
);
comment on column blackholes.expires is 'never extended; an hour more than the API allows, for clocks that differ';
comment on column blackholes.ended is 'null until it was ended or its time is over; the routes depend on expires too, so that a late loop extends nothing';
create index blackholes_team on blackholes (team_id, created, id);
create index blackholes_host on blackholes (host, id);
create index blackholes_due on blackholes (expires) where ended is null;
create index blackholes_event on blackholes (event_id) where event_id is not null;
alter table blackholes enable row level security;
create policy tenant on blackholes to pharos_tenant using (team_id = current_team_id());
grant select, insert, update (ended) on blackholes to pharos_tenant;

create table blackhole_regions (
  blackhole_id integer not null,
  region_id integer not null references regions on delete cascade,
  team_id integer not null,
  state text not null check (state in ('withdrawn', 'announcing', 'announced', 'withdrawing', 'error')),
  since timestamptz not null default now(),
  reason text,
  attrs jsonb,
  settled timestamptz,
  primary key (blackhole_id, region_id),
  foreign key (blackhole_id, team_id) references blackholes(id, team_id) on delete cascade
);
comment on column blackhole_regions.state is 'what was last seen on the routers, as in announcement_regions';
comment on column blackhole_regions.settled is 'when the routers first showed the black hole, or its end; before that of the request until then';
create index blackhole_regions_region on blackhole_regions (region_id, blackhole_id);
alter table blackhole_regions enable row level security;
create policy tenant on blackhole_regions to pharos_tenant using (team_id = current_team_id());
grant select, insert, update (state, since, reason, attrs) on blackhole_regions to pharos_tenant;

create function blackholes_in_region(region integer, team integer, except_host cidr) returns integer language sql stable security definer set
  search_path = public, pg_temp as $$
  select count(*)::integer from blackhole_regions br join blackholes b on b.id = br.blackhole_id
  where br.region_id = region and b.ended is null and b.expires > now() and not (b.team_id = team and b.host = except_host)
$$;
revoke execute on function blackholes_in_region from public;
grant execute on function blackholes_in_region to pharos_tenant;

create table former_speakers (
  id integer generated always as identity primary key,
  region_id integer not null references regions on delete cascade,
  name text not null,
  settings jsonb not null,
  identity text not null unique,
  since timestamptz not null default now(),
  prefixes cidr[] not null,
  last_check timestamptz,
  last_error text
);
comment on table former_speakers is 'routers that a region no longer has; a row is deleted once the router was read empty twice, or staff say that it is gone';
comment on column former_speakers.identity is 'kind of the driver with the address and the owner: two speakers with the same identity have the same routes';
comment on column former_speakers.prefixes is 'at the last successful check; before the first one, the prefixes that it may have';
create index former_speakers_region on former_speakers (region_id);
alter table former_speakers enable row level security;
