-- Collectors of flows: counters of interfaces from sFlow, and thresholds of the detector for teams and prefixes.

alter table devices drop constraint devices_driver_check,
  add constraint devices_driver_check check (driver in ('none', 'snmp', 'sflow', 'sandbox'));

create table sampled_counters (
  device_id integer not null references devices on delete cascade,
  if_index integer not null,
  name text not null,
  received timestamptz not null,
  uptime_ms bigint not null,
  type integer not null,
  speed_bps bigint not null,
  is_admin_up boolean not null,
  is_oper_up boolean not null,
  counters jsonb not null,
  primary key (device_id, if_index)
) with (fillfactor = 50);
comment on table sampled_counters is 'the newest counter sample of each interface that sFlow has sent';
comment on column sampled_counters.name is 'as the agent sent it; empty if it sends none';
comment on column sampled_counters.uptime_ms is 'of the agent, beyond the 32 bits in which it is sent';
comment on column sampled_counters.speed_bps is '0 if not known';
comment on column sampled_counters.counters is 'texts, beyond the 32 bits in which all but octets are sent; null: the agent has no such counter';
alter table sampled_counters enable row level security;

create table detector_thresholds (
  id integer generated always as identity primary key,
  team_id integer not null references teams on delete cascade,
  prefix cidr,
  bps double precision check (bps > 0),
  pps double precision check (pps > 0),
  ratio double precision check (ratio > 1),
  network_bps double precision check (network_bps > 0),
  network_pps double precision check (network_pps > 0),
  check (bps is not null or pps is not null),
  unique nulls not distinct (team_id, prefix)
);
comment on table detector_thresholds is 'thresholds of the platform file; those of the source of kind flows are the default for everybody else';
comment on column detector_thresholds.prefix is 'null: all addresses of the team';
comment on column detector_thresholds.ratio is 'multiple of the usual traffic below which nothing is an attack';
comment on column detector_thresholds.network_bps is 'of a whole /24 or /64; null: four times bps';
alter table detector_thresholds enable row level security;
