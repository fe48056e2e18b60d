-- Staff learn of holds of DNS and shield: when they are next told about each, and messages to the operator's webhook.
alter table dns_holds add column alert_due timestamptz default now(), add column alerted timestamptz;
alter table shield_holds add column alert_due timestamptz default now(), add column alerted timestamptz;
update dns_holds set alert_due = null where state <> 'open';
update shield_holds set alert_due = null where state <> 'open';
create index dns_holds_alert_due on dns_holds (alert_due) where alert_due is not null;
create index shield_holds_alert_due on shield_holds (alert_due) where alert_due is not null;
comment on column dns_holds.alert_due is 'when staff are next told about it; null: its end was reported';
comment on column dns_holds.alerted is 'when staff last got a mail about it, or about the hold that it replaced';
comment on column shield_holds.alert_due is 'when staff are next told about it; null: its end was reported';
comment on column shield_holds.alerted is 'when staff last got a mail about it, or about the hold that it replaced';

alter table outbox drop constraint outbox_type_check, add constraint outbox_type_check check (
  case when team_id is null then user_id is null and type in ('hold.opened', 'hold.reminder', 'hold.decided',
      'staff_hold.opened', 'staff_hold.reminder', 'staff_hold.decided')
    when user_id is not null then type = 'notifications.changed'
    else type in ('announcement.status_changed', 'announcement.regions_changed', 'announcement.zombie',
      'announcement.unexpected_origin', 'validation.failed', 'event.started', 'event.updated', 'event.ended',
      'zone.updated', 'zone.status_changed', 'zone.dnssec_changed', 'port.status_changed', 'port.optic_warning',
      'service.billed', 'cross_connect.status_changed', 'shield.list_changed') end);
alter table webhooks drop constraint webhooks_events_check, add constraint webhooks_events_check check (
  cardinality(events) > 0 and events <@ case when team_id is null
    then array['hold.opened', 'hold.reminder', 'hold.decided', 'staff_hold.opened', 'staff_hold.reminder', 'staff_hold.decided']
    else array['announcement.status_changed', 'announcement.zombie', 'announcement.unexpected_origin', 'validation.failed',
      'event.started', 'event.updated', 'event.ended', 'zone.updated', 'zone.status_changed', 'zone.dnssec_changed',
      'port.status_changed', 'port.optic_warning', 'service.billed', 'cross_connect.status_changed', 'shield.list_changed'] end);
