-- phase: expand
-- runs with: 0.2.0-rc.1
-- What bills read had other values before: the terms of services, and the LAGs that ports were members of. The statement that
-- replaces a value keeps the former one with its time; the current value is in its own table, and holds since the last former one.

create table former_service_terms (
  service_id integer not null references services on delete cascade,
  valid tstzrange not null check (not isempty(valid) and not upper_inf(valid)),
  commit_bps bigint,
  method text not null,
  direction text not null,
  scope text not null,
  timezone text not null,
  constraint former_service_terms_once exclude using gist (int4range(service_id, service_id, '[]') with &&, valid with &&)
);
create index former_service_terms_service on former_service_terms (service_id);
comment on table former_service_terms is 'billing terms that a service had; the first ones hold from the beginning';

create table former_port_facts (
  port_id integer not null references ports on delete cascade,
  valid tstzrange not null check (not isempty(valid) and not upper_inf(valid)),
  interface_id integer not null,
  lag_port_id integer,
  speed_bps bigint,
  bits integer,
  constraint former_port_facts_once exclude using gist (int4range(port_id, port_id, '[]') with &&, valid with &&)
);
create index former_port_facts_port on former_port_facts (port_id);
comment on table former_port_facts is 'interfaces and LAGs that a port had; the first ones hold from the beginning';
comment on column former_port_facts.lag_port_id is 'the port of the LAG of which it was a member';
comment on column former_port_facts.bits is 'size of the counters';

/* What bills read of each port, with its time: former and current. A function, since a view would run with the rights of its owner. */
create function port_facts()
returns table (port_id integer, valid tstzrange, interface_id integer, lag_port_id integer, speed_bps bigint, bits integer)
language sql stable as $$
  select f.port_id, f.valid, f.interface_id, f.lag_port_id, f.speed_bps, f.bits from former_port_facts f
  union all
  select p.id, tstzrange((select max(upper(f.valid)) from former_port_facts f where f.port_id = p.id), null), p.interface_id, l.id,
    coalesce(p.speed_bps, i.speed_bps), (c.state ->> 'bits')::integer
  from ports p left join interfaces i on i.id = p.interface_id left join interfaces g on g.id = i.lag_id and g.type = 161
    left join ports l on l.interface_id = g.id left join interface_counters c on c.interface_id = i.id
$$;

/* The facts of the ports that are or were assigned to a service of the team, within the assignments. */
create function billed_facts(service integer, since timestamptz, until timestamptz)
returns table (port_id integer, valid tstzrange, lag_port_id integer, speed_bps bigint, bits integer)
language sql stable security definer set search_path = public, pg_temp as $$
  select f.port_id, f.valid * a.valid * tstzrange(since, until), f.lag_port_id, f.speed_bps, f.bits
  from port_assignments a join port_facts() f on f.port_id = a.port_id and f.valid && (a.valid * tstzrange(since, until))
  where a.service_id = service and a.team_id = current_team_id() and a.valid && tstzrange(since, until)
  order by f.port_id, lower(f.valid * a.valid)
$$;
revoke execute on function billed_facts from public;
grant execute on function billed_facts to pharos_tenant;

alter table former_service_terms enable row level security;
alter table former_port_facts enable row level security;
create policy tenant on former_service_terms to pharos_tenant using (exists (
  select from services s where s.id = former_service_terms.service_id and s.team_id = current_team_id()));
grant select on former_service_terms to pharos_tenant;
