-- phase: contract
-- runs with: 0.2.0-rc.1
-- `ports.linked_at` becomes `interface_since`, as the code names the time from which rows of an interface belong to a port.

alter table ports rename column linked_at to interface_since;
comment on column ports.interface_since is 'since when it has its interface; null if neither the port nor the interface had another one before';
alter view held_ports rename column linked_at to interface_since;

create or replace view held_ports with (security_barrier) as
  select a.team_id, a.service_id, a.valid, p.id, p.circuit_id, p.name, p.device_id, p.interface_key, p.interface_id, p.media, p.speed_bps,
    p.description, p.panel, p.module, p.position, p.interface_since,
    d.name as device_name, d.location_key, s.seen, s.next_poll, s.lease_until,
    i.admin, i.oper, i.type, i.speed_bps as interface_speed_bps, i.last_change, i.lag_id, c.state as counters,
    coalesce(p.interface_id in (select t.interface_id from transceivers t where t.is_present and t.has_warning), false) as has_optic_warning
  from port_assignments a join ports p on p.id = a.port_id
    left join devices d on d.id = p.device_id
    left join device_states s on s.device_id = p.device_id
    left join interfaces i on i.id = p.interface_id
    left join interface_counters c on c.interface_id = p.interface_id
  where a.team_id = (select current_team_id()) and a.valid @> now();

drop function billed_assignments;
/*
 * The assignments of ports to a service of the team that overlap the period, ended ones too: a former customer may read the bills
 * of that time. Names and states are current. `measured`: the first sample of the port, of any customer; null if it has none.
 */
create function billed_assignments(service integer, since timestamptz, until timestamptz)
returns table (
  port_id integer, name text, circuit_id text, speed_bps bigint, valid tstzrange, interface_id integer, interface_since timestamptz,
  lag_interface_id integer, is_lag boolean, oper text, bits integer, created timestamptz, measured timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
  select p.id, p.name, p.circuit_id, coalesce(p.speed_bps, i.speed_bps), a.valid * tstzrange(since, until), i.id, p.interface_since, i.lag_id,
    coalesce(i.type = 161, false), coalesce(i.oper, 'unknown'), (c.state ->> 'bits')::integer, p.created,
    least(
      (select min(s.minute) from port_samples s where s.port_id = p.id),
      (select d.day::timestamp at time zone 'UTC' + make_interval(secs => 300 * (
          select min(n) - 1 from unnest(d.covered_ms) with ordinality as u (ms, n) where ms is not null))
        from port_days d where d.port_id = p.id and d.seconds = 300 order by d.day limit 1))
  from port_assignments a join ports p on p.id = a.port_id left join interfaces i on i.id = p.interface_id
    left join interface_counters c on c.interface_id = i.id
  where a.service_id = service and a.team_id = current_team_id() and a.valid && tstzrange(since, until)
  order by p.name, p.id, lower(a.valid)
$$;

/*
 * The changes between up and down of an interface of such a port since the port has it, with the last one before the period and the
 * first one after it: they determine the state in a period without changes.
 */
create or replace function billed_states(service integer, since timestamptz, until timestamptz)
returns table (interface_id integer, at timestamptz, before text, after text)
language sql stable security definer set search_path = public, pg_temp as $$
  select b.interface_id, l.at, l.before, l.after
  from (select distinct a.interface_id, coalesce(a.interface_since, '-infinity') as interface_since from billed_assignments(service, since, until) a) b
  cross join lateral (
    (select o.at, o.before, o.after from interface_log o
      where o.interface_id = b.interface_id and o.kind = 'oper' and o.at >= b.interface_since and o.at < since order by o.at desc limit 1)
    union all
    select o.at, o.before, o.after from interface_log o
      where o.interface_id = b.interface_id and o.kind = 'oper' and o.at >= greatest(b.interface_since, since) and o.at < until
    union all
    (select o.at, o.before, o.after from interface_log o
      where o.interface_id = b.interface_id and o.kind = 'oper' and o.at >= greatest(b.interface_since, until) order by o.at limit 1)) l
  order by l.at
$$;
revoke execute on function billed_assignments, billed_states from public;
grant execute on function billed_assignments, billed_states to pharos_tenant;
