-- phase: expand
-- runs with: 0.2.0-rc.1
-- Messages about incidents and BGP sessions of ports, and about bills for the operator.

alter table outbox drop constraint outbox_type_check, add constraint outbox_type_check check (
  case when team_id is null then user_id is null and type in ('hold.opened', 'hold.reminder', 'hold.decided',
      'staff_hold.opened', 'staff_hold.reminder', 'staff_hold.decided', 'service.billed')
    when user_id is not null then type = 'notifications.changed'
    else type in ('announcement.status_changed', 'announcement.regions_changed', 'announcement.zombie',
      'announcement.unexpected_origin', 'announcement.not_visible', 'announcement.other_path', 'validation.failed',
      'event.started', 'event.updated', 'event.ended', 'incident.started', 'incident.updated', 'incident.ended',
      'zone.updated', 'zone.status_changed', 'zone.dnssec_changed', 'port.status_changed', 'port.optic_warning',
      'port.bgp_session_changed', 'service.billed', 'cross_connect.status_changed', 'shield.list_changed') end) not valid;
alter table webhooks drop constraint webhooks_events_check, add constraint webhooks_events_check check (
  cardinality(events) > 0 and events <@ case when team_id is null
    then array['hold.opened', 'hold.reminder', 'hold.decided', 'staff_hold.opened', 'staff_hold.reminder', 'staff_hold.decided',
      'service.billed']
    else array['announcement.status_changed', 'announcement.zombie', 'announcement.unexpected_origin',
      'announcement.not_visible', 'announcement.other_path', 'validation.failed', 'event.started', 'event.updated',
      'event.ended', 'incident.started', 'incident.updated', 'incident.ended', 'zone.updated', 'zone.status_changed',
      'zone.dnssec_changed', 'port.status_changed', 'port.optic_warning', 'port.bgp_session_changed',
      'service.billed', 'cross_connect.status_changed', 'shield.list_changed'] end) not valid;
