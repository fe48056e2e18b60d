-- Whether a region's router was read lately. Until it was, no answer and no message claims that a prefix is announced there;
-- the stored states stay as they were last seen (decision 027).

-- Written by the reconciler that takes the region over, from its setting; the processes that answer requests have none.
alter table regions add column check_interval interval not null default '30 seconds';
comment on column regions.check_interval is 'how often its reconciler compares it with its router';
grant select (check_interval, neighbors4, neighbors6) on regions to pharos_tenant;

-- The result of a region's last check as it is shown: a check that is overdue by two more has failed. Null before the first.
create function check_result(last_check timestamptz, result boolean, check_interval interval) returns boolean
  language sql stable parallel safe
  as $$ select case when result then (last_check > now() - 3 * check_interval - interval '1 minute') is true
    else result end $$;

-- Which families of announced routes a region is known to carry: its routers were read, and have established sessions.
create function region_reach() returns table (id integer, carries4 boolean, carries6 boolean)
  language sql stable parallel safe
  as $$
    select r.id, c.is_read and r.neighbors4, c.is_read and r.neighbors6
    from regions r cross join lateral (
      select check_result(r.last_check, r.last_check_result, r.check_interval) is true as is_read) c $$;

-- Announcements that are announced in a region whose routers cannot be read or have no session, and whether they are in
-- another that carries them. Costs nothing while every region is well. Give it a team or announcements, or it reads those
-- of all teams.
create function unread_announcements() returns table (announcement_id integer, team_id integer, is_read_elsewhere boolean)
  language sql stable parallel safe
  as $$
    select ar.announcement_id, ar.team_id, bool_or(c.carries)
    from announcement_regions ar
      join announcements a on a.id = ar.announcement_id
      join region_reach() r on r.id = ar.region_id
      cross join lateral (
        select case family(a.prefix) when 4 then r.carries4 else r.carries6 end as carries) c
    where ar.configured and ar.state = 'announced' and (
      select not bool_and(o.carries4 and o.carries6) from region_reach() o)
    group by ar.announcement_id, ar.team_id
    having not bool_and(c.carries) $$;

-- The status of an announcement as it is shown: of one that is in unread_announcements() it depends on
-- `is_read_elsewhere`, which is null for every other. As shownAnnouncement() in shown-announcement.ts.
create function shown_status(status text, is_read_elsewhere boolean) returns text
  language sql immutable parallel safe
  as $$
    select case
      when is_read_elsewhere is null or status not in ('announced', 'partially_announced') then status
      when is_read_elsewhere then 'partially_announced'
      else 'announcing' end $$;

-- What teams were told of announcements whose stored status was not shown at the time. Empty while every router is read.
create table announcement_statuses_told (
  announcement_id integer primary key references announcements(id) on delete cascade,
  team_id integer not null references teams(id) on delete cascade,
  status text not null
);
create index announcement_statuses_told_team on announcement_statuses_told (team_id);
alter table announcement_statuses_told enable row level security;
create policy tenant on announcement_statuses_told to pharos_tenant using (team_id = current_team_id());

-- Writes what is told of the announcements where it is not what was told last: by default `told`, the status before.
create function tell_shown_statuses(ids integer[], told text[]) returns void
  language plpgsql set enable_seqscan = off as $$
begin
  with shown as materialized (
    select a.id, a.team_id, a.prefix, a.origin_asn, a.status as stored, coalesce(t.status, n.told) as told,
      shown_status(a.status, u.is_read_elsewhere) as status
    from unnest(ids, told) n(id, told)
      join announcements a on a.id = n.id
      left join (select * from unread_announcements() where announcement_id = any(ids)) u on u.announcement_id = a.id
      left join announcement_statuses_told t on t.announcement_id = a.id),
  written as (
    insert into outbox (team_id, type, data)
    select s.team_id, 'announcement.status_changed', row_to_json(d)
    from shown s
      cross join lateral (select s.id as announcement_id, s.prefix::text as cidr, s.origin_asn, s.told as before,
        s.status as after, iso_time(now()) as at) d
    where s.status <> s.told
    order by s.id),
  kept as (
    insert into announcement_statuses_told (announcement_id, team_id, status)
    select id, team_id, status from shown where status <> stored
    on conflict (announcement_id) do update set status = excluded.status
      where announcement_statuses_told.status <> excluded.status)
  delete from announcement_statuses_told where announcement_id in (select id from shown where status = stored);
end $$;

create or replace function tell_announcement_statuses() returns trigger
  language plpgsql security definer set search_path = public, pg_temp set enable_seqscan = off set enable_nestloop = off as $$
begin
  if exists (select from announcement_statuses_told) or exists (
    select from region_reach() where not (carries4 and carries6))
  then
    perform tell_shown_statuses(array_agg(n.id order by n.id), array_agg(o.status order by n.id))
    from new_rows n join old_rows o on o.id = n.id
    where n.status <> o.status or n.id in (select announcement_id from announcement_statuses_told);
    return null;
  end if;
  insert into outbox (team_id, type, data)
    select n.team_id, 'announcement.status_changed', row_to_json(d)
    from new_rows n join old_rows o on o.id = n.id
      cross join lateral (select n.id as announcement_id, n.prefix::text as cidr, n.origin_asn, o.status as before,
        n.status as after, iso_time(now()) as at) d
    where n.status <> o.status
    order by n.id;
  return null;
end $$;

-- A check that succeeded shows what was not shown before.
create function tell_checked_statuses() returns trigger
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform tell_shown_statuses(array_agg(announcement_id order by announcement_id), array_agg(status order by announcement_id))
  from announcement_statuses_told having count(*) > 0;
  return null;
end $$;

create trigger regions_told after update of last_check, last_check_result, neighbors4, neighbors6 on regions
  for each statement execute function tell_checked_statuses();
