-- Modules of interfaces, gauges of devices and modules (light levels, temperatures, load), and the log of interfaces.

create table transceivers (
  id integer generated always as identity primary key,
  interface_id integer not null references interfaces on delete cascade,
  vendor text not null default '',
  part text not null default '',
  serial text not null default '',
  type text not null default '',
  wavelength_nm double precision,
  reach_m integer,
  connector text not null default '',
  lanes integer not null default 1,
  has_ddm boolean not null,
  is_present boolean not null default true,
  inserted timestamptz not null default now(),
  seen timestamptz not null default now(),
  warned_day date,
  warnings jsonb not null default '[]',
  has_warning boolean not null default false,
  unique (interface_id, vendor, part, serial)
);
create unique index transceivers_present on transceivers (interface_id) where is_present;
comment on table transceivers is 'pluggable modules; another serial number is another module, with a history of its own';
comment on column transceivers.has_ddm is 'reports light levels (digital diagnostic monitoring)';
comment on column transceivers.is_present is 'in the interface at the last survey';
comment on column transceivers.inserted is 'first survey that found it';
comment on column transceivers.warned_day is 'the last day that the rules of early warning have read';
comment on column transceivers.warnings is 'for each lane, the states of the rules';
comment on column transceivers.has_warning is 'one of the states is raised';

create table gauges (
  id integer generated always as identity primary key,
  device_id integer not null references devices on delete cascade,
  transceiver_id integer references transceivers on delete cascade,
  metric text not null,
  lane smallint not null default 0,
  part text not null default '',
  value real not null,
  at timestamptz not null default now(),
  limits jsonb,
  unique nulls not distinct (device_id, transceiver_id, metric, lane, part)
) with (fillfactor = 70);
create index gauges_transceiver on gauges (transceiver_id) where transceiver_id is not null;
comment on table gauges is 'measured on a device or one of its modules; the last value';
comment on column gauges.metric is 'cpu, memory, loss: percent; temperature: degrees Celsius; fan: rpm; power: W; latency: ms; uptime: s; rx_power, tx_power: dBm; bias: mA; voltage: V';
comment on column gauges.lane is 'of a module, from 1; 0: the module or the device itself';
comment on column gauges.part is 'part of the device, such as `CPU 1`; empty for the device';
comment on column gauges.limits is 'alarmLow, warnLow, warnHigh and alarmHigh, as the module states them';

create table gauge_days (
  gauge_id integer not null references gauges on delete cascade,
  day date not null,
  slots real[],
  median real,
  least real,
  greatest real,
  samples integer,
  primary key (gauge_id, day)
) with (fillfactor = 50);
create index gauge_days_day on gauge_days (day);
comment on table gauge_days is 'a day (UTC) of a gauge; today''s row is updated in place';
comment on column gauge_days.slots is 'the value in each 5 minutes, 288 of them; null after 90 days';
comment on column gauge_days.median is 'as the three others: null until the day is over; of values that are light, not darkness';
comment on column gauge_days.samples is 'number of values';

create table interface_log (
  id bigint generated always as identity primary key,
  interface_id integer not null references interfaces on delete cascade,
  at timestamptz not null default now(),
  kind text not null check (kind in ('oper', 'admin', 'speed', 'module')),
  before text not null,
  after text not null
);
create index interface_log_at on interface_log (interface_id, at desc);
comment on table interface_log is 'changes of interfaces that polls and surveys have found';

alter table device_states add column next_gauges timestamptz not null default now();
comment on column device_states.next_gauges is 'when its gauges are read next';

alter table interfaces add column in_errors bigint, add column out_errors bigint, add column in_discards bigint,
  add column out_discards bigint;
comment on column interfaces.in_errors is 'as the others: since the device has started; null if it does not count them';

alter table transceivers enable row level security;
alter table gauges enable row level security;
alter table gauge_days enable row level security;
alter table interface_log enable row level security;

/* Through the policies of interfaces and devices, which are those of the team. */
create policy tenant on transceivers to pharos_tenant using (
  current_team_id() is not null and exists (select from interfaces i where i.id = transceivers.interface_id));
create policy tenant on gauges to pharos_tenant using (
  current_team_id() is not null and case when transceiver_id is null
    then exists (select from devices d where d.id = gauges.device_id)
    else exists (select from transceivers t where t.id = gauges.transceiver_id) end);
create policy tenant on gauge_days to pharos_tenant using (
  current_team_id() is not null and exists (select from gauges g where g.id = gauge_days.gauge_id));
create policy tenant on interface_log to pharos_tenant using (
  current_team_id() is not null and exists (select from interfaces i where i.id = interface_log.interface_id));

grant select on transceivers, gauges, gauge_days, interface_log to pharos_tenant;

alter table outbox drop constraint outbox_type_check, add constraint outbox_type_check check (
  case when team_id is null then user_id is null and type in ('hold.opened', 'hold.reminder', 'hold.decided')
    when user_id is not null then type = 'notifications.changed'
    else type in ('announcement.status_changed', 'announcement.regions_changed', 'announcement.zombie',
      'announcement.unexpected_origin', 'validation.failed', 'event.started', 'event.updated', 'event.ended',
      'zone.updated', 'zone.status_changed', 'zone.dnssec_changed', 'port.status_changed', 'port.optic_warning') end);
alter table webhooks drop constraint webhooks_events_check, add constraint webhooks_events_check check (
  cardinality(events) > 0 and events <@ case when team_id is null
    then array['hold.opened', 'hold.reminder', 'hold.decided']
    else array['announcement.status_changed', 'announcement.zombie', 'announcement.unexpected_origin', 'validation.failed',
      'event.started', 'event.updated', 'event.ended', 'zone.updated', 'zone.status_changed', 'zone.dnssec_changed',
      'port.status_changed', 'port.optic_warning'] end);
