-- Exporters of flows with their templates and samplings, and the thresholds and attacks of the detector.

set local check_function_bodies = off;

create table flow_exporter_settings (
  id integer generated always as identity primary key,
  address text not null unique,
  device_id integer references devices on delete set null,
  sampling_rate integer check (sampling_rate > 0),
  interfaces jsonb not null default '{}',
  internal text[] not null default '{}'
);
comment on table flow_exporter_settings is 'exporters of the platform file';
comment on column flow_exporter_settings.address is 'source address of its datagrams, or the agent address of sFlow';
comment on column flow_exporter_settings.sampling_rate is '1 of so many packets is counted; overrides what the exporter says';
comment on column flow_exporter_settings.interfaces is 'keys of interfaces of the device by the number that the exporter uses';
comment on column flow_exporter_settings.internal is 'interfaces towards other exporters, by name or number: flows that enter there are left out; {all} for every interface';
alter table flow_exporter_settings enable row level security;

create table flow_exporters (
  id integer generated always as identity primary key,
  address text not null unique,
  device_id integer references devices on delete set null,
  first_seen timestamptz not null default now(),
  last_seen timestamptz not null default now(),
  implausible jsonb,
  ambiguous_rates bigint[],
  by_port boolean not null default false,
  longest_flow_seconds integer,
  longest_flow_seen timestamptz
);
comment on table flow_exporters is 'every exporter that has sent a flow; its id is exporter_id in the flow store';
comment on column flow_exporters.device_id is 'by the platform file, else the device with this management address';
comment on column flow_exporters.implausible is 'the last record that was left out: at, octets, packets, rate, in_if, out_if, duration_ms';
comment on column flow_exporters.ambiguous_rates is 'both sampling rates of the last record that had two';
comment on column flow_exporters.by_port is 'whether templates and sampling rates are those of a source port: two exporters behind the address announced different templates with one id';
comment on column flow_exporters.longest_flow_seconds is 'the longest flow of the last batch that had flows of 90 s or more';
comment on column flow_exporters.longest_flow_seen is 'when that batch was received';
alter table flow_exporters enable row level security;

create table flow_templates (
  exporter text not null,
  version smallint not null check (version between 9 and 10),
  domain bigint not null,
  id integer not null,
  scopes integer not null,
  fields jsonb not null,
  updated timestamptz not null default now(),
  primary key (exporter, version, domain, id)
);
comment on table flow_templates is 'newest templates of NetFlow 9 (version 9) and IPFIX (10)';
comment on column flow_templates.scopes is 'number of scope fields of an options template, which come first; else 0';
comment on column flow_templates.fields is 'enterprise, element and length of each';
alter table flow_templates enable row level security;

create table flow_samplings (
  exporter text not null,
  version smallint not null check (version between 9 and 10),
  domain bigint not null,
  sampler bigint not null,
  in_if bigint not null,
  rate bigint not null check (rate > 0),
  updated timestamptz not null default now(),
  primary key (exporter, version, domain, sampler, in_if)
);
comment on table flow_samplings is 'sampling rates that exporters announced, of a sampler, an interface, or the domain if both are 0';
alter table flow_samplings enable row level security;

create table flow_unknown_interfaces (
  exporter_id integer not null references flow_exporters on delete cascade,
  if_index bigint not null,
  first_seen timestamptz not null default now(),
  last_seen timestamptz not null default now(),
  primary key (exporter_id, if_index)
);
comment on table flow_unknown_interfaces is 'interfaces in flows that the inventory does not know';
alter table flow_unknown_interfaces enable row level security;

create table port_attack_octets (
  team_id integer not null references teams on delete cascade,
  port_id integer not null references ports on delete cascade,
  bucket timestamptz not null,
  octets bigint not null check (octets >= 0),
  primary key (team_id, port_id, bucket)
);
comment on table port_attack_octets is 'by buckets of 5 minutes; a row of 0 at midnight of UTC: flows of the port were received on that day';
comment on column port_attack_octets.octets is 'towards targets of events that the team had, while they lasted; estimated from sampled flows';
alter table port_attack_octets enable row level security;
create policy tenant on port_attack_octets to pharos_tenant using (team_id = current_team_id());
grant select on port_attack_octets to pharos_tenant;

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
  outgoing_bps double precision check (outgoing_bps > 0),
  outgoing_pps double precision check (outgoing_pps > 0),
  min_seconds integer check (min_seconds between 0 and 600),
  managed_by text not null default 'platform' check (managed_by in ('platform', 'team')),
  locked boolean not null default false,
  constraint detector_thresholds_team_id_prefix_key unique nulls not distinct (team_id, prefix, managed_by),
  check (bps is not null or pps is not null),
  constraint detector_thresholds_locked_check check (not locked or managed_by = 'platform')
);
comment on table detector_thresholds is 'thresholds of the platform file and of teams; those of the source of kind flows are the default for everybody else';
comment on column detector_thresholds.prefix is 'null: all addresses of the team';
comment on column detector_thresholds.ratio is 'multiple of the usual traffic below which nothing is an attack';
comment on column detector_thresholds.network_bps is 'of a whole network of the ladder or a held prefix; null: four times bps';
comment on column detector_thresholds.outgoing_bps is 'from one address; null: bps';
comment on column detector_thresholds.min_seconds is 'for which the limit must be exceeded; null: 0';
comment on column detector_thresholds.managed_by is 'platform: the platform file; team: replaces the one of the platform for the same addresses, unless it is locked';
comment on column detector_thresholds.locked is 'the team cannot replace it';
alter table detector_thresholds enable row level security;

create table detector_rates (
  collector text primary key,
  updated timestamptz not null default now(),
  targets jsonb not null
) with (fillfactor = 50);
comment on table detector_rates is 'rates that each collector sees towards destinations that it suspects; old rows are those of collectors that ended';
alter table detector_rates enable row level security;

create table detector_attacks (
  network cidr primary key,
  id text not null,
  collector text not null,
  ended timestamptz,
  observed timestamptz not null
);
comment on table detector_attacks is 'the newest attack on each network, by which the reports of several collectors become one event';
comment on column detector_attacks.id is 'source_event_id of its event';
comment on column detector_attacks.collector is 'whose reports are stored';
comment on column detector_attacks.observed is 'time of the last stored report, by the clock of its collector';
alter table detector_attacks enable row level security;

create table detector_outgoing_attacks (
  network cidr primary key,
  id text not null,
  collector text not null,
  ended timestamptz,
  observed timestamptz not null
);
comment on table detector_outgoing_attacks is 'the newest attack from each network, as detector_attacks of those on it';
comment on column detector_outgoing_attacks.id is 'source_event_id of its event';
comment on column detector_outgoing_attacks.collector is 'whose reports are stored';
comment on column detector_outgoing_attacks.observed is 'time of the last stored report, by the clock of its collector';
alter table detector_outgoing_attacks enable row level security;

create table flow_delays (
  collector text primary key,
  reported timestamptz not null,
  waiting_since timestamptz,
  lost tstzmultirange not null default '{}'
);
comment on table flow_delays is 'a row for each collector of flows';
comment on column flow_delays.waiting_since is 'when the first flow of the oldest file that waits was received; null if none waits';
comment on column flow_delays.lost is 'times of which flows were lost by the collector';
alter table flow_delays enable row level security;

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
comment on table flow_counter_checks is 'octets of the flows of a port divided by those that its interface counts, of the last hour that could be judged';
comment on column flow_counter_checks.hour is 'its start';
comment on column flow_counter_checks.ratio is 'of the direction with the larger one';
comment on column flow_counter_checks.outside_hours is 'judged hours in a row outside of the limits';
comment on column flow_counter_checks.outside_since is 'the start of the first of them';
comment on column flow_counter_checks.is_implausible is 'whether it is reported';
create index flow_counter_checks_port on flow_counter_checks (port_id);
alter table flow_counter_checks enable row level security;

create table flow_port_templates (
  exporter text not null,
  port integer not null check (port between 1 and 65535),
  version smallint not null check (version between 9 and 10),
  domain bigint not null,
  id integer not null,
  scopes integer not null,
  fields jsonb not null,
  updated timestamptz not null default now(),
  primary key (exporter, port, version, domain, id)
);
comment on table flow_port_templates is 'as flow_templates, of exporters that share their address';
comment on column flow_port_templates.scopes is 'number of scope fields of an options template, which come first; else 0';
comment on column flow_port_templates.fields is 'enterprise, element and length of each';
alter table flow_port_templates enable row level security;

create table flow_port_samplings (
  exporter text not null,
  port integer not null check (port between 1 and 65535),
  version smallint not null check (version between 9 and 10),
  domain bigint not null,
  sampler bigint not null,
  in_if bigint not null,
  rate bigint not null check (rate > 0),
  updated timestamptz not null default now(),
  primary key (exporter, port, version, domain, sampler, in_if)
);
comment on table flow_port_samplings is 'as flow_samplings, of exporters that share their address';
alter table flow_port_samplings enable row level security;
