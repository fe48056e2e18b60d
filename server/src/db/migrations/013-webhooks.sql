-- What has happened, for whoever wants to hear of it, and where it is told: webhooks of teams with what is to be sent.

-- Times and flags as the API writes them.
create function iso_time(at timestamptz) returns text language sql stable parallel safe
  as $$ select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$;

-- By nothing but operators, so that it becomes a part of the statement that calls it: a function of its own would be planned
-- anew for each row.
create function flag_words(flags integer) returns text[] language sql immutable parallel safe
  as $$ select array_remove(array[case when flags & 1 <> 0 then 'INCOMING' end, case when flags & 2 <> 0 then 'OUTGOING' end,
    case when flags & 4 <> 0 then 'INTERNAL' end, case when flags & 8 <> 0 then 'IPV6' end,
    case when flags & 16 <> 0 then 'CARPET_BOMB' end, case when flags & 32 <> 0 then 'MULTI_VECTOR' end,
    case when flags & 64 <> 0 then 'BLACKHOLED' end], null) $$;

------------------------------------------------------------------------------------------------------------ outbox

-- Written by triggers, in the transaction in which it happened, so that no use-case can forget it and nothing is told that
-- was taken back. There is no reference to teams: a check of each row would cost more than the row.
-- Whoever follows it reads in the order (xid, id), from where he was, up to `xid < pg_snapshot_xmin(pg_current_snapshot())`:
-- a transaction below that is over, so no row can still appear before one that was read.
create table outbox (
  id bigint generated always as identity,
  team_id integer not null,
  type text not null check (type in ('announcement.status_changed', 'validation.failed',
    'event.started', 'event.updated', 'event.ended')),
  at timestamptz not null default now(),
  data json not null,
  xid xid8 not null default pg_current_xact_id(),
  primary key (xid, id)
);
create index outbox_team on outbox (team_id, xid, id);
-- In the collation of the ids of events, or it would not be used to find them.
create index outbox_ended on outbox ((data ->> 'id') collate "C", team_id) where type = 'event.ended';
comment on column outbox.xid is 'the transaction in which it happened; rows become visible in no order, and are read in this one';

-- These functions fix how their statements are carried out, since a session plans each of them once, perhaps for a single
-- row and with empty tables, and then uses that plan for thousands: old and new rows are joined by hashing, and a table is
-- looked into by its index (`lateral ... offset 0`, or a subselect that gives one value).
create function tell_announcement_statuses() returns trigger
  language plpgsql security definer set search_path = public set enable_seqscan = off set enable_nestloop = off as $$
begin
  insert into outbox (team_id, type, data)
    select n.team_id, 'announcement.status_changed', row_to_json(d)
    from new_rows n join old_rows o on o.id = n.id
      cross join lateral (select n.id as announcement_id, n.prefix::text as cidr, n.origin_asn, o.status as before,
        n.status as after, iso_time(now()) as at) d
    where n.status <> o.status
    order by n.id;
  return null;
end $$;

create trigger announcements_told after update on announcements
  referencing old table as old_rows new table as new_rows
  for each statement execute function tell_announcement_statuses();

-- From valid to a state that says no. A registry that is silent leaves the last state standing.
create function tell_failed_validations() returns trigger
  language plpgsql security definer set search_path = public set enable_seqscan = off set enable_nestloop = off as $$
begin
  insert into outbox (team_id, type, data)
    select n.team_id, 'validation.failed', row_to_json(d)
    from new_rows n
      join old_rows o on o.announcement_id = n.announcement_id and o.name = n.name
      cross join lateral (
        select a.id as announcement_id, a.prefix::text as cidr, a.origin_asn, n.name, n.state, n.note, n.fix
        from announcements a where a.id = n.announcement_id and a.deleted is null offset 0) d
    where o.state = 'valid' and n.state in ('missing', 'invalid', 'mismatch_asn', 'mismatch_length', 'expired')
    order by n.announcement_id, n.name;
  return null;
end $$;

create trigger announcement_validations_told after update on announcement_validations
  referencing old table as old_rows new table as new_rows
  for each statement execute function tell_failed_validations();

-- What is news about an event, and what is history: deliveries are read late or again, and prefixes that a team adds find
-- their past events. `events.updated = now()` says that this transaction wrote the event, and did not only match it.
--   appears                 started, and ended where it is over: if it began within a day and is either not over, or news
--   is over now             ended, unless it was over a day ago or this end has been told
--   was over, is not now    nothing: a replay builds it anew
--   another peak or flag    updated, unless it was over a day ago, or its end has been told and a replay builds it anew
create function tell_events() returns trigger
  language plpgsql security definer set search_path = public set enable_seqscan = off set enable_nestloop = off as $$
declare
  recent constant timestamptz := now() - interval '1 day';
begin
  if tg_op = 'INSERT' then
    insert into outbox (team_id, type, data)
      select e.team_id, k.type, row_to_json(d)
      from new_rows e
        join unnest(array['event.started', 'event.ended']) with ordinality k(type, place)
          on k.place = 1 or e.end_at is not null
        cross join lateral (select e.event_id as id, coalesce(e.affected_network::text, '') as affected_network,
          e.classification_key, iso_time(e.start_at) as start, iso_time(e.end_at) as end, e.affected_bps,
          e.affected_pps, flag_words(e.flags) as flags) d
      where e.start_at > recent
        and (e.end_at is null or (select v.updated from events v where v.id = e.event_id) = now())
      order by e.event_id, e.team_id, k.place;
  else
    insert into outbox (team_id, type, data)
      select n.team_id, case when o.end_at is null and n.end_at is not null then 'event.ended' else 'event.updated' end,
        row_to_json(d)
      from new_rows n join old_rows o on o.team_id = n.team_id and o.event_id = n.event_id
        cross join lateral (select n.event_id as id, coalesce(n.affected_network::text, '') as affected_network,
          n.classification_key, iso_time(n.start_at) as start, iso_time(n.end_at) as end, n.affected_bps,
          n.affected_pps, flag_words(n.flags) as flags) d
      where (n.end_at is distinct from o.end_at
          or (n.affected_bps, n.affected_pps, n.flags) <> (o.affected_bps, o.affected_pps, o.flags))
        and case
          when n.end_at is null then o.end_at is null and n.start_at > now() - interval '7 days'
          else n.end_at > recent end
        and (o.end_at is not null or not exists (
          select from outbox b
          where b.type = 'event.ended' and b.data ->> 'id' = n.event_id and b.team_id = n.team_id
            and (n.end_at is null or b.data ->> 'end' = iso_time(n.end_at))))
      order by n.event_id, n.team_id;
  end if;
  return null;
end $$;

create trigger team_events_told after insert on team_events referencing new table as new_rows
  for each statement execute function tell_events();
create trigger team_events_told_again after update on team_events
  referencing old table as old_rows new table as new_rows
  for each statement execute function tell_events();

---------------------------------------------------------------------------------------------------------- webhooks

create table webhooks (
  id integer generated always as identity primary key,
  team_id integer not null references teams on delete cascade,
  url text not null,
  description text not null default '',
  events text[] not null check (cardinality(events) > 0 and events <@ array['announcement.status_changed',
    'validation.failed', 'event.started', 'event.updated', 'event.ended']),
  enabled boolean not null default true,
  disabled_reason text check (disabled_reason in ('user', 'gone', 'failing')),
  secret_sealed bytea not null,
  former_secret_sealed bytea,
  former_secret_until timestamptz,
  version integer not null default 1,
  created timestamptz not null default now(),
  created_by text not null,
  modified timestamptz not null default now(),
  last_delivery timestamptz,
  failing_since timestamptz,
  failures integer not null default 0,
  resting_until timestamptz,
  claim bigint not null default 0,
  claimed_until timestamptz,
  check (enabled = (disabled_reason is null))
) with (fillfactor = 50);
create index webhooks_team on webhooks (team_id, id);
create index webhooks_enabled on webhooks (id) where enabled;
comment on column webhooks.secret_sealed is 'signs; bound to the id of the webhook';
comment on column webhooks.former_secret_until is 'until then the former secret signs too';
comment on column webhooks.version is 'raised by every change that somebody asked for; the ETag';
comment on column webhooks.last_delivery is 'when a message was last taken';
comment on column webhooks.failing_since is 'when the first of the failures in a row was; null after a success';
comment on column webhooks.resting_until is 'nothing is sent before: it did not answer, or asked for a pause';
comment on column webhooks.claim is 'raised by whoever sends: what an earlier one has to say no longer counts';
comment on column webhooks.claimed_until is 'somebody sends, or was killed while he did';

create table webhook_deliveries (
  id bigint generated always as identity primary key,
  webhook_id integer not null references webhooks on delete cascade,
  team_id integer not null,
  message_id text not null,
  type text not null,
  body text not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed', 'cancelled')),
  created timestamptz not null default now(),
  due timestamptz not null default now(),
  step integer not null default 0,
  attempt_count integer not null default 0,
  attempts jsonb not null default '[]',
  last_attempt timestamptz,
  last_status integer,
  last_error text,
  duration_ms integer
);
create index webhook_deliveries_webhook on webhook_deliveries (webhook_id, id);
create index webhook_deliveries_due on webhook_deliveries (webhook_id, due, id) where state = 'pending';
create index webhook_deliveries_created on webhook_deliveries (created) where state <> 'pending';
comment on column webhook_deliveries.message_id is 'the same for all webhooks, and for every attempt';
comment on column webhook_deliveries.body is 'what is signed and sent, to the byte';
comment on column webhook_deliveries.due is 'when it is tried next';
comment on column webhook_deliveries.step is 'how many attempts of the schedule were made; begins anew when somebody has it sent again';
comment on column webhook_deliveries.attempts is 'the last of them';

-- A row for each webhook that wants it, by trigger as well: one statement for all that happened, and next to nothing where no
-- webhook is.
create function fan_out() returns trigger
  language plpgsql security definer set search_path = public set enable_seqscan = off as $$
begin
  insert into webhook_deliveries (webhook_id, team_id, message_id, type, body)
    select w.id, w.team_id, concat('msg_', to_hex((extract(epoch from n.at) * 1000)::bigint), '_', to_hex(n.id)), n.type,
      concat('{"type":"', n.type, '","timestamp":"', iso_time(n.at), '","data":', n.data, '}')
    from new_rows n cross join lateral (
      select w.id, w.team_id from webhooks w
      where w.team_id = n.team_id and w.enabled and n.type = any(w.events)
        and (select case when n.type like 'event.%' then 'lighthouse' else 'ipam' end = any(t.enabled_modules)
          from teams t where t.id = w.team_id)
      offset 0) w
    order by n.id, w.id;
  if found then
    perform pg_notify('pharos', 'webhooks');
  end if;
  return null;
end $$;

create trigger outbox_fanned_out after insert on outbox referencing new table as new_rows
  for each statement execute function fan_out();

alter table outbox enable row level security;
alter table webhooks enable row level security;
alter table webhook_deliveries enable row level security;
create policy tenant on outbox to pharos_tenant using (team_id = current_team_id());
create policy tenant on webhooks to pharos_tenant using (team_id = current_team_id());
create policy tenant on webhook_deliveries to pharos_tenant using (team_id = current_team_id());
grant select, insert, delete on webhooks to pharos_tenant;
grant update (url, description, events, enabled, disabled_reason, secret_sealed, former_secret_sealed,
  former_secret_until, version, modified, failing_since, failures, resting_until) on webhooks to pharos_tenant;
grant select on webhook_deliveries to pharos_tenant;
grant insert (webhook_id, team_id, message_id, type, body, due) on webhook_deliveries to pharos_tenant;
grant update (state, due, step, attempt_count, attempts, last_attempt, last_status, last_error, duration_ms)
  on webhook_deliveries to pharos_tenant;
