-- A rollup of each team's events by time and class, for time series of millions of events. The loop that writes the events
-- writes it, as it now writes their counts: a trigger copied every row.
--
-- Rows of a team's hours are far apart in the table, since all teams write at the same time: a year of a large team was 65,000 blocks. The
-- index has all values, so that a series reads it alone.

create table team_event_hours (
  team_id integer not null,
  minutes smallint not null check (minutes = 15 or minutes = 60),
  at timestamptz not null,
  classification_key text collate "C" not null,
  started integer not null,
  ended integer not null,
  max_bps bigint,
  max_pps bigint,
  primary key (team_id, minutes, at, classification_key) include (started, ended, max_bps, max_pps)
);
comment on table team_event_hours is 'written by analysis/event-rollup.store.ts';
comment on column team_event_hours.minutes is 'length; quarters are for time zones whose hours begin at a quarter of an hour of UTC';
comment on column team_event_hours.at is 'when it begins';
comment on column team_event_hours.max_bps is
  'of events that overlap it, have ended and lasted a day at most; null: none. Longer events would be in many rows, and are few';
alter table team_event_hours enable row level security;
create policy tenant on team_event_hours to pharos_tenant using (team_id = current_team_id());
grant select on team_event_hours to pharos_tenant;

/* The rows of an event, as hoursOf() of analysis/event-rollup.ts has them. */
create function event_hours(start_at timestamptz, end_at timestamptz, bps bigint, pps bigint)
  returns table (minutes smallint, at timestamptz, started integer, ended integer, max_bps bigint, max_pps bigint)
  language sql immutable parallel safe
  as $$
    with parts as (
      select length, floor(extract(epoch from start_at) / (length * 60))::bigint as first,
        floor(extract(epoch from end_at) / (length * 60))::bigint as last,
        coalesce(end_at - start_at <= interval '24 hours', false) as is_kept
      from unnest(array[15, 60]::smallint[]) length)
    select length, to_timestamp(n * length * 60), (n = first)::integer, (n is not distinct from last)::integer,
      case when is_kept then bps end, case when is_kept then pps end
    from parts cross join lateral (
      select generate_series(first, last) as n where is_kept
      union select first where not is_kept
      union select last where not is_kept and last is not null) p
  $$;

insert into team_event_hours (team_id, minutes, at, classification_key, started, ended, max_bps, max_pps)
  select e.team_id, h.minutes, h.at, e.classification_key, sum(h.started), sum(h.ended), max(h.max_bps), max(h.max_pps)
  from team_events e cross join event_hours(e.start_at, e.end_at, e.affected_bps, e.affected_pps) h
  group by 1, 2, 3, 4;

create or replace function delete_team_events() returns trigger
  language plpgsql security definer set search_path = public, pg_temp
  as $$
begin
  delete from team_events where team_id = old.id;
  delete from team_event_counts where team_id = old.id;
  delete from team_event_hours where team_id = old.id;
  delete from team_event_facets where team_id = old.id;
  return null;
end $$;

drop trigger team_events_inserted on team_events;
drop trigger team_events_updated on team_events;
drop trigger team_events_deleted on team_events;
drop function count_team_events();
