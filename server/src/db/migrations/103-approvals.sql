-- phase: expand
-- runs with: 0.2.0-rc.1
-- One table for changes of any area that wait for staff, instead of holds, dns_holds, shield_holds and the columns of inventory_imports.

create table approvals (
  id integer generated always as identity primary key,
  area text not null check (area in ('routes', 'dns', 'shield', 'platform')),
  kind text not null,
  region_id integer references regions,
  zone_id integer references dns_zones on delete cascade,
  list_id integer references shield_lists on delete cascade,
  team_id integer references teams on delete cascade,
  scrubber text,
  findings jsonb not null check (jsonb_array_length(findings) > 0),
  items jsonb not null default '[]',
  item_count integer not null check (item_count >= 0),
  evidence text not null,
  context jsonb not null default '[]',
  state text not null default 'open' check (state in ('open', 'approved', 'rejected', 'closed')),
  created timestamptz not null default now(),
  decided timestamptz,
  decided_by text,
  note text,
  valid_until timestamptz,
  replaces integer references approvals on delete set null,
  alert_due timestamptz not null default now(),
  alerted timestamptz,
  alerted_items integer,
  constraint approvals_subject check (case area
    when 'routes' then kind = 'changes' and region_id is not null and num_nonnulls(zone_id, list_id, team_id, scrubber) = 0
    when 'dns' then kind in ('publish', 'catalog', 'shrink') and (kind = 'catalog') = (zone_id is null)
      and num_nonnulls(region_id, list_id, team_id, scrubber) = 0
    when 'shield' then num_nonnulls(region_id, zone_id) = 0
    else kind = 'import' and num_nonnulls(region_id, zone_id, list_id, team_id, scrubber) = 0 end),
  constraint approvals_decided check ((state = 'open') = (decided is null))
);
create unique index approvals_open on approvals (area, kind, region_id, zone_id, list_id, scrubber) nulls not distinct
  where state = 'open';
create index approvals_decided_evidence on approvals (area, evidence) where state in ('approved', 'rejected');
create index approvals_alert_due on approvals (alert_due) where state = 'open';
create index approvals_region on approvals (region_id) where region_id is not null;
create index approvals_zone on approvals (zone_id) where zone_id is not null;
create index approvals_list on approvals (list_id) where list_id is not null;
create index approvals_team on approvals (team_id) where team_id is not null;
create index approvals_replaces on approvals (replaces) where replaces is not null;
alter table approvals enable row level security;
comment on table approvals is 'changes that wait for staff, and their decisions; an approval never changes, and a plan with more is another one';
comment on column approvals.kind is 'changes, publish, catalog, shrink, import, or the reason of a change of shield rules';
comment on column approvals.findings is 'reasons with their attributes, the gravest first';
comment on column approvals.items is 'changes: change, value, router, from, to; of routes all, otherwise the first 1000';
comment on column approvals.evidence is 'digest of everything that a decision covers, also of what is not stored in items';
comment on column approvals.context is 'routes without a row, as the routers had them when it was opened: router, route';
comment on column approvals.decided is 'when it was decided, or closed since it was replaced or nothing of it is planned';
comment on column approvals.decided_by is 'actor; null while it is open, and if it was closed without a decision';
comment on column approvals.valid_until is 'when the decision ends; null: no end';
comment on column approvals.replaces is 'the approval that was closed because its plan has changed';
comment on column approvals.alert_due is 'when staff get the next mail about it, while it is open';
comment on column approvals.alerted is 'when staff last got a mail about it, or about the approval that it replaced';
comment on column approvals.alerted_items is 'how many items that mail was about';

create function pg_temp.type_name(type integer) returns text language sql immutable as $$
  select coalesce((jsonb_build_object('1', 'A', '2', 'NS', '5', 'CNAME', '6', 'SOA', '12', 'PTR', '15', 'MX', '16', 'TXT', '28', 'AAAA',
    '33', 'SRV', '35', 'NAPTR', '39', 'DNAME', '43', 'DS', '44', 'SSHFP', '52', 'TLSA', '64', 'SVCB', '65', 'HTTPS', '257', 'CAA')
    ->> type::text), 'TYPE' || type)
$$;

-- Holds keep their ids, and those of DNS and shield rules get higher ones: the ids of the three tables overlap. Staff get a mail about each open
-- one again, since those in the queue are of templates that no longer exist.
insert into approvals (id, area, kind, region_id, findings, items, item_count, evidence, context, state, created, decided, decided_by,
    valid_until, alerted, alerted_items)
  overriding system value
  select h.id, 'routes', 'changes', h.region_id,
    case when h.findings = '[]' then jsonb_build_array(jsonb_build_object('reason', h.reason, 'attrs', '{}'::jsonb)) else h.findings end,
    i.items, jsonb_array_length(i.items), md5(i.items::text), h.routes, h.state, h.created,
    case when h.state <> 'open' then coalesce(h.decided, h.created) end, h.decided_by,
    h.decided + case h.state when 'approved' then interval '15 minutes' when 'rejected' then interval '24 hours' end,
    h.alerted, h.alerted_prefixes
  from holds h
    cross join lateral (
      select coalesce((select jsonb_agg(jsonb_build_object('change', 'withdraw', 'value', w.cidr) order by w.place)
          from unnest(h.withdrawals) with ordinality w (cidr, place)), '[]')
        || coalesce((select jsonb_agg(jsonb_build_object('change', 'replace', 'value', g.change -> 'prefix',
            'router', g.change -> 'router', 'from', g.change -> 'from', 'to', g.change -> 'to') order by g.place)
          from jsonb_array_elements(h.changes) with ordinality g (change, place)), '[]') as items) i;

insert into approvals (id, area, kind, zone_id, findings, items, item_count, evidence, state, created, decided, decided_by, alerted,
    alerted_items)
  overriding system value
  select h.id + (select coalesce(max(id), 0) from holds), 'dns', h.kind, h.zone_id,
    jsonb_build_array(jsonb_build_object('reason', h.reason, 'attrs', case when h.attrs ? 'zone_ids'
      then jsonb_build_object('zone_ids', h.attrs -> 'zone_ids') else '{}'::jsonb end)),
    coalesce((select jsonb_agg(jsonb_build_object('change', 'remove', 'value', case jsonb_typeof(s.one) when 'string' then s.one
        else to_jsonb((s.one ->> 'name') || ' ' || pg_temp.type_name((s.one ->> 'type')::integer)) end) order by s.place)
      from jsonb_array_elements(h.attrs -> 'sets') with ordinality s (one, place)), '[]'),
    coalesce((h.attrs ->> 'count')::integer, 0), h.evidence, h.state, h.created,
    case when h.state <> 'open' then coalesce(h.decided, h.created) end, h.decided_by, h.alerted,
    coalesce((h.attrs ->> 'count')::integer, 0)
  from dns_holds h;

insert into approvals (id, area, kind, list_id, team_id, scrubber, findings, items, item_count, evidence, state, created, decided,
    decided_by, alerted, alerted_items)
  overriding system value
  select h.id + (select coalesce(max(id), 0) from holds) + (select coalesce(max(id), 0) from dns_holds), 'shield', h.reason, h.list_id, h.team_id, h.scrubber,
    jsonb_build_array(jsonb_build_object('reason', h.reason, 'attrs', h.attrs - 'prefixes')),
    i.items, jsonb_array_length(i.items), h.evidence, h.state, h.created,
    case when h.state <> 'open' then coalesce(h.decided, h.created) end, h.decided_by, h.alerted, jsonb_array_length(i.items)
  from shield_holds h
    cross join lateral (
      select coalesce((select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
          'change', case when h.attrs ? 'prefixes' then 'remove' else 'apply' end, 'value', p.value, 'router', h.scrubber)) order by p.place)
        from jsonb_array_elements_text(case when h.attrs ? 'prefixes' then h.attrs -> 'prefixes'
          when h.attrs ? 'prefix' then jsonb_build_array(h.attrs -> 'prefix') else '[]' end) with ordinality p (value, place)), '[]')
        as items) i;

select setval(pg_get_serial_sequence('approvals', 'id'), (select coalesce(max(id), 0) + 1 from approvals), false);

alter table outbox drop constraint outbox_type_check, add constraint outbox_type_check check (
  case when team_id is null then user_id is null and type in ('approval.opened', 'approval.reminder', 'approval.decided',
      'hold.opened', 'hold.reminder', 'hold.decided', 'staff_hold.opened', 'staff_hold.reminder', 'staff_hold.decided', 'service.billed')
    when user_id is not null then type = 'notifications.changed'
    else type in ('announcement.status_changed', 'announcement.regions_changed', 'announcement.zombie',
      'announcement.unexpected_origin', 'announcement.not_visible', 'announcement.other_path', 'validation.failed',
      'event.started', 'event.updated', 'event.ended', 'incident.started', 'incident.updated', 'incident.ended',
      'zone.updated', 'zone.status_changed', 'zone.dnssec_changed', 'port.status_changed', 'port.optic_warning',
      'port.bgp_session_changed', 'service.billed', 'cross_connect.status_changed', 'shield.list_changed') end) not valid;
alter table webhooks drop constraint webhooks_events_check, add constraint webhooks_events_check check (
  cardinality(events) > 0 and events <@ case when team_id is null
    then array['approval.opened', 'approval.reminder', 'approval.decided', 'hold.opened', 'hold.reminder', 'hold.decided',
      'staff_hold.opened', 'staff_hold.reminder', 'staff_hold.decided', 'service.billed']
    else array['announcement.status_changed', 'announcement.zombie', 'announcement.unexpected_origin',
      'announcement.not_visible', 'announcement.other_path', 'validation.failed', 'event.started', 'event.updated',
      'event.ended', 'incident.started', 'incident.updated', 'incident.ended', 'zone.updated', 'zone.status_changed',
      'zone.dnssec_changed', 'port.status_changed', 'port.optic_warning', 'port.bgp_session_changed',
      'service.billed', 'cross_connect.status_changed', 'shield.list_changed'] end) not valid;
