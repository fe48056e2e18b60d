-- phase: expand
-- runs with: 0.2.0-rc.1
-- The octets of flows compared with those that interfaces count, and interfaces towards other exporters.

create table flow_counter_checks (
  exporter_id integer not null references flow_exporters on delete cascade,
  port_id integer not null references ports on delete cascade,
  hour timestamptz not null,
  ratio real not null check (ratio >= 0),
  outside_hours smallint not null default 0 check (outside_hours >= 0),
  outside_since timestamptz,
  is_implausible boolean not null generated always as (outside_hours >= 3) stored,
  checked timestamptz not null default now(),
  primary key (exporter_id, port_id),
  check ((outside_hours > 0) = (outside_since is not null))
);
create index flow_counter_checks_port on flow_counter_checks (port_id);
comment on table flow_counter_checks is 'octets of the flows of a port divided by those that its interface counts, of the last hour that could be judged';
comment on column flow_counter_checks.hour is 'its start';
comment on column flow_counter_checks.ratio is 'of the direction with the larger one';
comment on column flow_counter_checks.outside_hours is 'judged hours in a row outside of the limits';
comment on column flow_counter_checks.is_implausible is 'whether it is reported';
comment on column flow_counter_checks.outside_since is 'the start of the first of them';
alter table flow_counter_checks enable row level security;

alter table flow_exporter_settings add column internal text[] not null default '{}';
comment on column flow_exporter_settings.internal is 'interfaces towards other exporters, by name or number: flows that enter there are left out; {all} for every interface';
