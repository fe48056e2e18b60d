-- Since when a port has its interface: what is stored by interface was another port's before.

alter table ports add column linked_at timestamptz;
comment on column ports.linked_at is 'since when it has its interface, if it had another one before, or the interface was another port';

drop function billed_assignments;
/*
 * The assignments of ports to a service of the team that overlap the period, over ones too: a former customer may read the bills
 * of his time. Names and states are those of now. `measured`: the first sample of the port, of any customer; null if it has none.
 */
create function billed_assignments(service integer, since timestamptz, until timestamptz)
returns table (
  port_id integer, name text, circuit_id text, speed_bps bigint, valid tstzrange, interface_id integer, linked_at timestamptz,
  lag_interface_id integer, is_lag boolean, oper text, bits integer, created timestamptz, measured timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
  select p.id, p.name, p.circuit_id, coalesce(p.speed_bps, i.speed_bps), a.valid * tstzrange(since, until), i.id, p.linked_at, i.lag_id,
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
  from (select distinct a.interface_id, coalesce(a.linked_at, '-infinity') as linked_at from billed_assignments(service, since, until) a) b
  cross join lateral (
    (select o.at, o.before, o.after from interface_log o
      where o.interface_id = b.interface_id and o.kind = 'oper' and o.at >= b.linked_at and o.at < since order by o.at desc limit 1)
    union all
    select o.at, o.before, o.after from interface_log o
      where o.interface_id = b.interface_id and o.kind = 'oper' and o.at >= greatest(b.linked_at, since) and o.at < until
    union all
    (select o.at, o.before, o.after from interface_log o
      where o.interface_id = b.interface_id and o.kind = 'oper' and o.at >= greatest(b.linked_at, until) order by o.at limit 1)) l
  order by l.at
$$;
revoke execute on function billed_assignments, billed_states from public;
grant execute on function billed_assignments, billed_states to pharos_tenant;
