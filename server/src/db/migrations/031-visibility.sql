-- How route collectors in other networks see the announced prefixes: one row for each announcement with the summary, not
-- one for each BGP update. One process follows the sources; all processes read these rows.

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
  announcement_id integer primary key references announcements(id) on delete cascade,
  team_id integer not null references teams(id) on delete cascade,
  state text not null check (state in ('current', 'partial')),
  reason text check ((reason is null) = (state = 'current')),
  collectors_total integer not null check (collectors_total >= 0),
  collectors_seeing integer not null check (collectors_seeing between 0 and collectors_total),
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
  check ((change_at is null) = (change_kind is null))
);
create index announcement_visibility_team on announcement_visibility (team_id);
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

alter table announcement_visibility enable row level security;
create policy tenant on announcement_visibility to pharos_tenant using (team_id = current_team_id());
grant select on announcement_visibility to pharos_tenant;

alter table outbox
  drop constraint outbox_type_check,
  add constraint outbox_type_check check (case when team_id is null
    then type in ('hold.opened', 'hold.reminder', 'hold.decided')
    else type in ('announcement.status_changed', 'announcement.zombie', 'announcement.unexpected_origin',
      'validation.failed', 'event.started', 'event.updated', 'event.ended') end);
alter table webhooks
  drop constraint webhooks_events_check,
  add constraint webhooks_events_check check (cardinality(events) > 0 and events <@ case when team_id is null
    then array['hold.opened', 'hold.reminder', 'hold.decided']
    else array['announcement.status_changed', 'announcement.zombie', 'announcement.unexpected_origin',
      'validation.failed', 'event.started', 'event.updated', 'event.ended'] end);
