-- phase: expand
-- runs with: 0.2.0-rc.1
-- Ports are ended instead of deleted: their months are billed, and their customers keep the usage of their time. An ended port has no
-- place, so that another one can get its interface and its circuit id.

alter table ports add column ended timestamptz;
comment on column ports.ended is 'when it was taken away; it is deleted once its samples are';
alter table ports alter column device_id drop not null;
alter table ports add constraint ports_place_or_end check (ended is not null or device_id is not null) not valid;
alter table ports validate constraint ports_place_or_end;
alter table ports drop constraint ports_circuit_id_key,
  add constraint ports_circuit_id_key exclude using btree (circuit_id with =) where (ended is null);

alter table port_assignments alter column service_id drop not null;
alter table port_assignments add constraint port_assignments_team_id_fkey foreign key (team_id) references teams on delete cascade not valid;
alter table port_assignments validate constraint port_assignments_team_id_fkey;
alter table port_assignments drop constraint port_assignments_service_id_team_id_fkey,
  add constraint port_assignments_service_id_team_id_fkey foreign key (service_id, team_id) references services (id, team_id)
    on delete set null (service_id) not valid;
alter table port_assignments validate constraint port_assignments_service_id_team_id_fkey;
comment on column port_assignments.service_id is 'null: the service was deleted; its team keeps the usage';

/* The time until which all months of a service are closed; null if none is. */
create function billed_until(service integer) returns timestamptz language sql stable as $$
  select max(((b.month || '-01')::timestamp + interval '1 month') at time zone b.timezone)
  from billing_periods b where b.service_id = service
$$;
/* The part of an assignment that no closed month has; null if there is no whole bucket, or if it is too old to be closed. */
create function unbilled_time(service integer, valid tstzrange) returns tstzrange language sql stable as $$
  select u.time from (
    select valid * tstzrange(least(greatest(billed_until(service), now() - interval '13 months'), now()), now()) as time) u
  where upper(u.time) - lower(u.time) >= interval '5 minutes'
$$;
