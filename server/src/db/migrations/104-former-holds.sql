-- phase: contract
-- runs with: 0.2.0-rc.1
-- Removes the tables, columns, kinds and types that approvals have replaced. Deletions of an import that wait are planned again by its next run.

update notifications n set kind = 'approval_opened', key = c.id::text, attrs = jsonb_build_object('approval', c.id, 'area', c.area,
    'subject', coalesce(n.attrs ->> 'region', nullif(n.attrs ->> 'subject', ''), case c.area when 'dns' then 'catalog zone' else 'all scrubbers' end),
    'team', n.attrs -> 'team', 'items', c.item_count)
  from (
    select 'hold_opened' as kind, h.id::text as key, a.id, a.area, a.item_count
      from holds h join approvals a on a.area = 'routes' and a.id = h.id
    union all select 'staff_hold_opened', 'dns:' || h.id, a.id, a.area, a.item_count
      from dns_holds h join approvals a on a.area = 'dns' and a.created = h.created and a.evidence = h.evidence
    union all select 'staff_hold_opened', 'shield:' || h.id, a.id, a.area, a.item_count
      from shield_holds h join approvals a on a.area = 'shield' and a.created = h.created and a.evidence = h.evidence
        and a.scrubber is not distinct from h.scrubber) c
  where n.kind = c.kind and n.key = c.key;
delete from notifications where kind in ('hold_opened', 'staff_hold_opened');
update notification_settings set kinds = kinds - 'hold_opened' - 'staff_hold_opened' || jsonb_build_object('approval_opened',
    coalesce((kinds ->> 'hold_opened')::boolean, false) or coalesce((kinds ->> 'staff_hold_opened')::boolean, false))
  where jsonb_exists_any(kinds, '{hold_opened,staff_hold_opened}');

delete from mails where sent is null and failed is null and template in ('hold-open', 'staff-holds-open', 'import-held');
update webhooks set events = '{approval.opened,approval.reminder,approval.decided,service.billed}' where team_id is null;

drop table holds;
drop table dns_holds;
drop table shield_holds;
alter table inventory_imports drop column held, drop column alarmed;

-- Former messages stay until they expire.
alter table outbox drop constraint outbox_type_check, add constraint outbox_type_check check (
  case when team_id is null then user_id is null and type in ('approval.opened', 'approval.reminder', 'approval.decided', 'service.billed')
    when user_id is not null then type = 'notifications.changed'
    else type in ('announcement.status_changed', 'announcement.regions_changed', 'announcement.zombie',
      'announcement.unexpected_origin', 'announcement.not_visible', 'announcement.other_path', 'validation.failed',
      'event.started', 'event.updated', 'event.ended', 'incident.started', 'incident.updated', 'incident.ended',
      'zone.updated', 'zone.status_changed', 'zone.dnssec_changed', 'port.status_changed', 'port.optic_warning',
      'port.bgp_session_changed', 'service.billed', 'cross_connect.status_changed', 'shield.list_changed') end) not valid;
alter table webhooks drop constraint webhooks_events_check, add constraint webhooks_events_check check (
  cardinality(events) > 0 and events <@ case when team_id is null
    then array['approval.opened', 'approval.reminder', 'approval.decided', 'service.billed']
    else array['announcement.status_changed', 'announcement.zombie', 'announcement.unexpected_origin',
      'announcement.not_visible', 'announcement.other_path', 'validation.failed', 'event.started', 'event.updated',
      'event.ended', 'incident.started', 'incident.updated', 'incident.ended', 'zone.updated', 'zone.status_changed',
      'zone.dnssec_changed', 'port.status_changed', 'port.optic_warning', 'port.bgp_session_changed',
      'service.billed', 'cross_connect.status_changed', 'shield.list_changed'] end);
