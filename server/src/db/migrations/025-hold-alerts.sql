-- Staff learn of holds: when they were last alerted, and messages to the operator's own webhook, which belongs to no team.

alter table holds
  add column alert_due timestamptz not null default now(),
  add column alerted timestamptz,
  add column alerted_prefixes integer;
create index holds_alert_due on holds (alert_due) where state = 'open';
comment on column holds.alert_due is 'when staff get the next mail about it, while it is open';
comment on column holds.alerted is 'when staff last got a mail about it, or about the hold that it replaced';
comment on column holds.alerted_prefixes is 'how many prefixes that mail was about';

alter table outbox
  alter column team_id drop not null,
  drop constraint outbox_type_check,
  add constraint outbox_type_check check (case when team_id is null
    then type in ('hold.opened', 'hold.reminder', 'hold.decided')
    else type in ('announcement.status_changed', 'validation.failed', 'event.started', 'event.updated', 'event.ended') end);
comment on column outbox.team_id is 'null: a message to the operator';

alter table webhooks
  alter column team_id drop not null,
  drop constraint webhooks_events_check,
  add constraint webhooks_events_check check (cardinality(events) > 0 and events <@ case when team_id is null
    then array['hold.opened', 'hold.reminder', 'hold.decided']
    else array['announcement.status_changed', 'validation.failed', 'event.started', 'event.updated', 'event.ended'] end);
create unique index webhooks_operator on webhooks ((true)) where team_id is null;
comment on column webhooks.team_id is 'null: the webhook of the operator, which the settings define';
alter table webhook_deliveries alter column team_id drop not null;

create or replace function fan_out() returns trigger
  language plpgsql security definer set search_path = public, pg_temp set enable_seqscan = off as $$
declare
  added boolean;
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
  added := found;
  -- Messages to the operator have no team, and follow no module.
  if exists (select from new_rows where team_id is null) then
    insert into webhook_deliveries (webhook_id, message_id, type, body)
      select w.id, concat('msg_', to_hex((extract(epoch from n.at) * 1000)::bigint), '_', to_hex(n.id)), n.type,
        concat('{"type":"', n.type, '","timestamp":"', iso_time(n.at), '","data":', n.data, '}')
      from new_rows n join webhooks w on w.team_id is null and w.enabled and n.type = any(w.events)
      where n.team_id is null
      order by n.id;
    added := added or found;
  end if;
  if added then
    perform pg_notify('pharos', 'webhooks');
  end if;
  return null;
end $$;
