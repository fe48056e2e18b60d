-- How services are billed by their traffic, and the bills of past months, which nothing changes.

alter table services
  add column billing_method text not null default 'flat' check (billing_method in ('p95', 'average', 'flat', 'volume')),
  add column billing_direction text not null default 'max' check (billing_direction in ('in', 'out', 'max', 'sum')),
  add column billing_scope text not null default 'port' check (billing_scope in ('port', 'service')),
  add column billing_timezone text not null default 'UTC';
comment on column services.billing_method is 'p95: 95th percentile of buckets of 5 minutes; average of them; volume: octets; flat: not by traffic';
comment on column services.billing_direction is 'as the customer sees it; max: the greater of both figures; sum: of both added per bucket';
comment on column services.billing_scope is 'port: each by itself; service: all ports added per bucket';
comment on column services.billing_timezone is 'IANA name: a month begins at its midnight';

/*
 * The assignments of ports to a service of the team that overlap the period, over ones too: a former customer may read the bills
 * of his time. Names and states are those of now.
 */
create function billed_assignments(service integer, since timestamptz, until timestamptz)
returns table (
  port_id integer, name text, circuit_id text, speed_bps bigint, valid tstzrange, interface_id integer, lag_interface_id integer,
  is_lag boolean, oper text, bits integer, created timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
  select p.id, p.name, p.circuit_id, coalesce(p.speed_bps, i.speed_bps), a.valid * tstzrange(since, until), i.id, i.lag_id,
    coalesce(i.type = 161, false), coalesce(i.oper, 'unknown'), (c.state ->> 'bits')::integer, p.created
  from port_assignments a join ports p on p.id = a.port_id left join interfaces i on i.id = p.interface_id
    left join interface_counters c on c.interface_id = i.id
  where a.service_id = service and a.team_id = current_team_id() and a.valid && tstzrange(since, until)
  order by p.name, p.id, lower(a.valid)
$$;
/* The changes between up and down of an interface of such a port. */
create function billed_states(service integer, since timestamptz, until timestamptz)
returns table (interface_id integer, at timestamptz, before text, after text)
language sql stable security definer set search_path = public, pg_temp as $$
  select l.interface_id, l.at, l.before, l.after
  from billed_assignments(service, since, until) b join interface_log l on l.interface_id = b.interface_id
  where l.kind = 'oper' and l.at >= since and l.at < until
  order by l.at
$$;
revoke execute on function billed_assignments, billed_states from public;
grant execute on function billed_assignments, billed_states to pharos_tenant;

create table billing_periods (
  id integer generated always as identity primary key,
  team_id integer not null,
  service_id integer not null,
  service_name text not null,
  billing_ref text not null,
  month text not null check (month ~ '^[0-9]{4}-[0-9]{2}$'),
  timezone text not null,
  place integer not null,
  bill jsonb not null,
  closed timestamptz not null default now(),
  unique (service_id, month, place)
);
create index billing_periods_team on billing_periods (team_id, month);
comment on table billing_periods is 'bills of months that are over: without foreign keys, so that they outlive services and ports';
comment on column billing_periods.place is 'of the bill among those of the service and month, from 0';
comment on column billing_periods.bill is 'as the API returns it';

create function refuse_bill_change() returns trigger language plpgsql as $$
begin
  raise exception 'the bill of a past month is never changed';
end $$;
create trigger billing_periods_immutable before update or delete on billing_periods
  for each row execute function refuse_bill_change();

alter table billing_periods enable row level security;
create policy tenant on billing_periods to pharos_tenant using (team_id = current_team_id());
grant select on billing_periods to pharos_tenant;

alter table outbox drop constraint outbox_type_check, add constraint outbox_type_check check (
  case when team_id is null then user_id is null and type in ('hold.opened', 'hold.reminder', 'hold.decided')
    when user_id is not null then type = 'notifications.changed'
    else type in ('announcement.status_changed', 'announcement.regions_changed', 'announcement.zombie',
      'announcement.unexpected_origin', 'validation.failed', 'event.started', 'event.updated', 'event.ended',
      'zone.updated', 'zone.status_changed', 'zone.dnssec_changed', 'port.status_changed', 'port.optic_warning',
      'service.billed') end);
alter table webhooks drop constraint webhooks_events_check, add constraint webhooks_events_check check (
  cardinality(events) > 0 and events <@ case when team_id is null
    then array['hold.opened', 'hold.reminder', 'hold.decided']
    else array['announcement.status_changed', 'announcement.zombie', 'announcement.unexpected_origin', 'validation.failed',
      'event.started', 'event.updated', 'event.ended', 'zone.updated', 'zone.status_changed', 'zone.dnssec_changed',
      'port.status_changed', 'port.optic_warning', 'service.billed'] end);
