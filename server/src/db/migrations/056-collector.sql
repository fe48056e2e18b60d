-- Counters of interfaces from sFlow, for devices that are read by it.

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
