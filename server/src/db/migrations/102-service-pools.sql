-- phase: expand
-- runs with: 0.2.0-rc.1
-- Services whose ports are billed by another service of the team: a pool over several services.

alter table services add column pool_id integer;
comment on column services.pool_id is 'the service of the team that bills its ports; null: itself';
alter table services add constraint services_pool_id_team_id_fkey foreign key (pool_id, team_id) references services (id, team_id)
  on delete set null (pool_id) not valid;
alter table services validate constraint services_pool_id_team_id_fkey;
alter table services add constraint services_pool_check check (pool_id <> id) not valid;
alter table services validate constraint services_pool_check;
create index services_pool on services (pool_id) where pool_id is not null;
alter table former_service_terms add column pool_id integer;

/* The time until which all months of a service, or of the one that bills its ports, are closed; null if none is. */
create or replace function billed_until(service integer) returns timestamptz language sql stable as $$
  select max(coalesce(b.ends, ((b.month || '-01')::timestamp + interval '1 month') at time zone b.timezone))
  from billing_periods b where b.service_id = service or b.service_id = (select s.pool_id from services s where s.id = service)
$$;
