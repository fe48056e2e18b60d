-- Blocks of six hours in the rollup of events: a year of days is read from a quarter of the rows. Peaks of events of more than a day were read from
-- the events, which took longer than all else in a team with millions of them: they are now in the blocks, and in the rows in which the event
-- started and ended.

alter table team_event_hours drop constraint team_event_hours_minutes_check,
  add constraint team_event_hours_minutes_check check (minutes = 15 or minutes = 60 or minutes = 360);
comment on column team_event_hours.minutes is 'length; quarters are for time zones whose hours begin at a quarter of an hour of UTC';
comment on column team_event_hours.max_bps is
  'of events that have ended and overlap it; null: none. Events of more than a day, of blocks 30 days, are only in the rows in which they started and ended';

/* The rows of an event, as hoursOf() of analysis/event-rollup.ts has them. */
create or replace function event_hours(start_at timestamptz, end_at timestamptz, bps bigint, pps bigint)
  returns table (minutes smallint, at timestamptz, started integer, ended integer, max_bps bigint, max_pps bigint)
  language sql immutable parallel safe
  as $$
    with parts as (
      select length, floor(extract(epoch from start_at) / (length * 60))::bigint as first,
        floor(extract(epoch from end_at) / (length * 60))::bigint as last,
        coalesce(end_at - start_at <= longest, false) as is_kept
      from (values (15::smallint, interval '24 hours'), (60, '24 hours'), (360, '720 hours')) l (length, longest))
    select length, to_timestamp(n * length * 60), (n = first)::integer, (n is not distinct from last)::integer,
      case when last is not null then bps end, case when last is not null then pps end
    from parts cross join lateral (
      select generate_series(first, last) as n where is_kept
      union select first where not is_kept
      union select last where not is_kept and last is not null) p
  $$;

truncate team_event_hours;
insert into team_event_hours (team_id, minutes, at, classification_key, started, ended, max_bps, max_pps)
  select e.team_id, h.minutes, h.at, e.classification_key, sum(h.started), sum(h.ended), max(h.max_bps), max(h.max_pps)
  from team_events e cross join event_hours(e.start_at, e.end_at, e.affected_bps, e.affected_pps) h
  group by 1, 2, 3, 4;
