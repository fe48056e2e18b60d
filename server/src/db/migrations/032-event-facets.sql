-- Facets of a team's events: the combinations of flags, status, class, source and description that occur. There are some
-- hundred, so that every filter by them is a set of facets, and counts by facet make its count and its pages exact.

create table team_event_facets (
  id integer generated always as identity,
  team_id integer not null,
  flags integer not null,
  status integer not null,
  classification_key text not null,
  source_key text not null,
  description text,
  primary key (team_id, id),
  unique nulls not distinct (team_id, flags, status, classification_key, source_key, description)
);
comment on column team_event_facets.flags is 'a bit for each flag, in the order of the contract';
comment on column team_event_facets.status is 'a bit for each status, in the order of the contract';
comment on column team_event_facets.description is
  'in lower case, U+0001 in place of the affected network; null: varies, see team_events.description';
alter table team_event_facets enable row level security;
create policy tenant on team_event_facets to pharos_tenant using (team_id = current_team_id());
grant select on team_event_facets to pharos_tenant;

alter table team_events add column facet integer;
comment on column team_events.facet is 'team_event_facets.id';

create temporary table event_facets on commit drop as
  select team_id, event_id, flags, classification_key, r.record ->> 'source_key' as source_key,
    (select coalesce(bit_or(1 << (array_position(array['EVENT_PENDING', 'EVENT_ONGOING', 'EVENT_ENDED', 'MITIGATION_ACTIVE',
        'MITIGATION_ENDED', 'ACKNOWLEDGED', 'FALSE_POSITIVE'], status) - 1)), 0)
      from json_array_elements_text(r.record -> 'status') status) as status,
    case when n.at > 0 then left(description, n.at - 1) || chr(1) || substr(description, n.at + length(n.network))
      else description end as description
  from team_events
    cross join lateral (select (team_events.record || '}')::json as record offset 0) r
    cross join lateral (select abbrev(affected_network::inet) as network,
      strpos(description, abbrev(affected_network::inet)) as at) n;
-- Descriptions that differ from event to event are searched in the events.
update event_facets set description = null where team_id in (
  select team_id from (
    select distinct team_id, flags, status, classification_key, source_key, description from event_facets) f
  group by team_id having count(*) > 500);
analyze event_facets;
insert into team_event_facets (team_id, flags, status, classification_key, source_key, description)
  select distinct team_id, flags, status, classification_key, source_key, description from event_facets;

-- Every row is written again, which is faster without the indexes.
drop index team_events_flags;
drop index team_events_start;
drop index team_events_end;
drop index team_events_bps;
drop index team_events_pps;
drop index team_events_class;
drop index team_events_network;
drop index team_events_span;
alter table team_events disable trigger user;
update team_events e set facet = f.id
  from event_facets n join team_event_facets f
    on (f.team_id, f.flags, f.status, f.classification_key, f.source_key)
      = (n.team_id, n.flags, n.status, n.classification_key, n.source_key)
    and f.description is not distinct from n.description
  where (e.team_id, e.event_id) = (n.team_id, n.event_id);
alter table team_events enable trigger user;
alter table team_events alter column facet set not null;

create index team_events_facet on team_events
  (team_id, facet, start_at, end_at, affected_bps, affected_pps, event_id);
create index team_events_start on team_events (team_id, start_at, end_at, affected_bps, affected_pps, event_id)
  include (facet, affected_network, classification_key, description);
create index team_events_end on team_events (team_id, end_at, event_id) include (facet);
create index team_events_bps on team_events (team_id, affected_bps, event_id) include (facet);
create index team_events_pps on team_events (team_id, affected_pps, event_id) include (facet);
create index team_events_class on team_events (team_id, classification_key, event_id) include (facet);
create index team_events_span on team_events (team_id, span, start_at, end_at, event_id);
create index team_events_network on team_events (team_id, affected_network)
  include (start_at, end_at, affected_bps, affected_pps, event_id, classification_key, facet);

-- Events that concern no team are in the list of team 0, which only staff, and teams that held the prefix, read.
alter table team_events drop constraint team_events_team_id_fkey;
comment on column team_events.team_id is '0: the event concerns no team';
create function delete_team_events() returns trigger
  language plpgsql security definer set search_path = public, pg_temp
  as $$
begin
  delete from team_events where team_id = old.id;
  delete from team_event_counts where team_id = old.id;
  delete from team_event_facets where team_id = old.id;
  return null;
end $$;
create trigger teams_events_deleted after delete on teams for each row execute function delete_team_events();

create temporary table unmatched_events on commit drop as
  select e.*, (select coalesce(bit_or(1 << (array_position(array['INCOMING', 'OUTGOING', 'INTERNAL', 'IPV6', 'CARPET_BOMB',
      'MULTI_VECTOR', 'BLACKHOLED'], flag) - 1)), 0) from unnest(e.flags) flag) as flag_bits,
    (select coalesce(bit_or(1 << (array_position(array['EVENT_PENDING', 'EVENT_ONGOING', 'EVENT_ENDED', 'MITIGATION_ACTIVE',
      'MITIGATION_ENDED', 'ACKNOWLEDGED', 'FALSE_POSITIVE'], one) - 1)), 0) from unnest(e.status) one) as status_bits
  from events e where not exists (select from team_events t where t.event_id = e.id);
insert into team_event_facets (team_id, flags, status, classification_key, source_key, description)
  select distinct 0, flag_bits, status_bits, classification_key, source_key, null from unmatched_events;
alter table team_events disable trigger user;
insert into team_events (team_id, event_id, start_at, end_at, affected_bps, affected_pps, flags, affected_network,
    classification_key, description, record, relationships, facet)
  select 0, e.id, e.start_at, e.end_at, e.affected_bps, e.affected_pps, flag_bits, e.affected_network, e.classification_key,
    lower(e.description), left(row_to_json(r)::text, -1), '[]', f.id
  from unmatched_events e
    join team_event_facets f on (f.team_id, f.flags, f.status, f.classification_key, f.source_key)
      = (0, flag_bits, status_bits, e.classification_key, e.source_key)
    cross join lateral (select e.id, e.flags, e.status, coalesce(e.affected_network::text, '') as affected_network,
      e.source_timezone, to_char(e.start_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as start,
      to_char(e.end_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "end", e.source_key, e.source_event_id,
      e.source_resource_id, e.source_location_id, e.source_country, e.source_location, '' as target_country,
      '' as target_location, e.classification_key, e.description, e.affected_bps, e.affected_pps) r;
alter table team_events enable trigger user;

-- Counts by facet, and of all facets together. The key begins with the facet, because a query reads the buckets of one.
drop function event_buckets(timestamptz, timestamptz, bigint, bigint, integer);
create function event_buckets(start_at timestamptz, end_at timestamptz, bps bigint, pps bigint, event_facet integer)
  returns table (facet integer, measure text, bucket integer)
  language sql immutable parallel safe
  as $$ select * from unnest(
    array[event_facet, event_facet, event_facet, event_facet, event_facet, 0, 0, 0, 0, 0, 0, 0],
    array['all', 'start', 'start_block', 'end', 'end_block', 'all', 'start', 'start_block', 'end', 'end_block', 'bps', 'pps'],
    array[0, day_bucket(start_at), day_bucket(start_at) / 64, day_bucket(end_at), day_bucket(end_at) / 64,
      0, day_bucket(start_at), day_bucket(start_at) / 64, day_bucket(end_at), day_bucket(end_at) / 64,
      rate_bucket(bps), rate_bucket(pps)]) $$;

drop table team_event_counts;
create table team_event_counts (
  team_id integer not null,
  facet integer not null,
  measure text collate "C" not null
    check (measure in ('all', 'start', 'start_block', 'end', 'end_block', 'bps', 'pps')),
  bucket integer not null,
  events bigint not null,
  primary key (team_id, facet, measure, bucket)
);
comment on column team_event_counts.facet is 'team_event_facets.id; 0: of all facets together';
comment on column team_event_counts.bucket is
  'start, end: days since 1970 in UTC (2147483647: not ended); start_block, end_block: blocks of 64 days; bps, pps: rate_bucket(); all: 0';
alter table team_event_counts enable row level security;
create policy tenant on team_event_counts to pharos_tenant using (team_id = current_team_id());
grant select on team_event_counts to pharos_tenant;

create or replace function count_team_events() returns trigger
  language plpgsql security definer set search_path = public, pg_temp
  as $$
begin
  if tg_op = 'INSERT' then
    insert into team_event_counts as c (team_id, facet, measure, bucket, events)
      select e.team_id, b.facet, b.measure, b.bucket, count(*)
      from new_rows e cross join event_buckets(e.start_at, e.end_at, e.affected_bps, e.affected_pps, e.facet) b
      group by 1, 2, 3, 4 order by 1, 2, 3, 4
      on conflict (team_id, facet, measure, bucket) do update set events = c.events + excluded.events;
  elsif tg_op = 'UPDATE' then
    insert into team_event_counts as c (team_id, facet, measure, bucket, events)
      select e.team_id, b.facet, b.measure, b.bucket, sum(e.n)
      from (select 1 as n, team_id, start_at, end_at, affected_bps, affected_pps, facet from new_rows
        union all select -1, team_id, start_at, end_at, affected_bps, affected_pps, facet from old_rows) e
        cross join event_buckets(e.start_at, e.end_at, e.affected_bps, e.affected_pps, e.facet) b
      group by 1, 2, 3, 4 having sum(e.n) <> 0 order by 1, 2, 3, 4
      on conflict (team_id, facet, measure, bucket) do update set events = c.events + excluded.events;
  else
    -- If the whole team is deleted, its counts may be deleted already: nothing is inserted here.
    update team_event_counts c set events = c.events - d.events
      from (select e.team_id, b.facet, b.measure, b.bucket, count(*) as events
        from old_rows e cross join event_buckets(e.start_at, e.end_at, e.affected_bps, e.affected_pps, e.facet) b
        group by 1, 2, 3, 4 order by 1, 2, 3, 4) d
      where (c.team_id, c.facet, c.measure, c.bucket) = (d.team_id, d.facet, d.measure, d.bucket);
  end if;
  return null;
end $$;

insert into team_event_counts (team_id, facet, measure, bucket, events)
  select e.team_id, b.facet, b.measure, b.bucket, count(*)
  from team_events e cross join event_buckets(e.start_at, e.end_at, e.affected_bps, e.affected_pps, e.facet) b
  group by 1, 2, 3, 4;

-- Prefixes that a team held, and when: it may still see events of that time that concern no other team.
create table former_holdings (
  id bigint generated always as identity primary key,
  team_id integer not null references teams on delete cascade,
  prefix cidr not null,
  held_from timestamptz not null,
  held_until timestamptz not null
);
create index former_holdings_team on former_holdings (team_id, prefix);
alter table former_holdings enable row level security;
create policy tenant on former_holdings to pharos_tenant using (team_id = current_team_id());

create function keep_former_holding() returns trigger
  language plpgsql security definer set search_path = public, pg_temp
  as $$
begin
  -- If the whole team is deleted, no team may see its events.
  insert into former_holdings (team_id, prefix, held_from, held_until)
    select old.team_id, old.prefix, case tg_argv[0] when 'prefix' then (to_jsonb(old) ->> 'created')::timestamptz
      else (to_jsonb(old) ->> 'claimed')::timestamptz end, now()
    where exists (select from teams where id = old.team_id);
  return null;
end $$;
create trigger prefixes_held after delete on prefixes
  for each row execute function keep_former_holding('prefix');
create trigger announcements_held after update of deleted on announcements
  for each row when (old.claimed is not null and old.deleted is null and new.deleted is not null)
  execute function keep_former_holding('announcement');
create trigger announcements_deleted_held after delete on announcements
  for each row when (old.claimed is not null and old.deleted is null)
  execute function keep_former_holding('announcement');
insert into former_holdings (team_id, prefix, held_from, held_until)
  select team_id, prefix, claimed, deleted from announcements where claimed is not null and deleted is not null;
