-- Inventory: devices and their interfaces, the ports that are sold, and to which service each port belongs for which time. The
-- platform file writes devices and ports; the collector writes device_states and interfaces.

-- Names in natural order: et-0/0/2 comes before et-0/0/10.
create collation natural_order (provider = icu, locale = 'und-u-kn-true');

create table device_credentials (
  id integer generated always as identity primary key,
  name text not null unique,
  version text not null check (version in ('v2c', 'v3')),
  user_name text not null default '',
  auth text check (auth in ('md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512')),
  privacy text check (privacy in ('aes128', 'aes256b', 'aes256r')),
  community_sealed bytea,
  auth_sealed bytea,
  privacy_sealed bytea,
  created timestamptz not null default now()
);
comment on table device_credentials is 'SNMP credentials of the provider';
comment on column device_credentials.user_name is 'of SNMPv3';
comment on column device_credentials.privacy is 'aes256r: with the key extension of Cisco; aes256b: of Blumenthal';
comment on column device_credentials.community_sealed is 'bound to the name, as both passwords';

create table devices (
  id integer generated always as identity primary key,
  name text collate natural_order not null unique,
  role text not null default '',
  vendor text not null default '',
  model text not null default '',
  serial text not null default '',
  location_key text references locations,
  management_address text,
  driver text not null default 'none' check (driver in ('none', 'snmp', 'sandbox')),
  settings jsonb not null default '{}',
  credential_id integer references device_credentials,
  customer_id integer references teams on delete set null,
  maintenance_until timestamptz,
  tags text[] not null default '{}',
  external_ref text not null default '',
  managed_by text not null default 'platform' check (managed_by in ('platform', 'netbox')),
  created timestamptz not null default now(),
  check (driver <> 'snmp' or (management_address is not null and credential_id is not null))
);
create index devices_customer on devices (customer_id) where customer_id is not null;
comment on column devices.vendor is 'empty, as model and serial: as the device reports it, in device_states';
comment on column devices.driver is 'how its interfaces and counters are read; none: not at all';
comment on column devices.settings is 'of the driver';
comment on column devices.customer_id is 'the team, if the device is of one customer, who sees all of its interfaces';
comment on column devices.maintenance_until is 'polled until then, without warnings';

create table device_states (
  device_id integer primary key references devices on delete cascade,
  identity jsonb not null default '{}',
  booted timestamptz,
  seen timestamptz,
  surveyed timestamptz,
  error text,
  error_text text,
  missed integer not null default 0,
  next_poll timestamptz not null default now(),
  next_survey timestamptz not null default now(),
  lease_until timestamptz,
  lease_owner text
) with (fillfactor = 50);
create index device_states_next_poll on device_states (next_poll);
comment on table device_states is 'observations of a device, and when it is polled next';
comment on column device_states.identity is 'name, vendor, model, serial and software, as the device reports them';
comment on column device_states.seen is 'last answer to a poll';
comment on column device_states.error is 'kind of the last failure; null after an answer';
comment on column device_states.error_text is 'for operators';
comment on column device_states.missed is 'polls without an answer since the last one';

create table interfaces (
  id integer generated always as identity primary key,
  device_id integer not null references devices on delete cascade,
  key text not null,
  if_index integer not null,
  name text collate natural_order not null,
  alias text not null default '',
  type integer not null,
  mtu integer,
  mac text,
  admin text not null default 'unknown',
  oper text not null default 'unknown',
  speed_bps bigint,
  lag_id integer references interfaces on delete set null,
  addresses text[] not null default '{}',
  last_change timestamptz,
  seen timestamptz not null default now(),
  missing_surveys integer not null default 0,
  unique (device_id, key)
);
create index interfaces_lag on interfaces (lag_id) where lag_id is not null;
comment on column interfaces.key is 'its name, or its description; with # and the index if that is not unique on the device';
comment on column interfaces.if_index is 'number on the device, which a restart may change';
comment on column interfaces.type is 'IANAifType';
comment on column interfaces.admin is 'ifAdminStatus of RFC 2863';
comment on column interfaces.oper is 'ifOperStatus of RFC 2863';
comment on column interfaces.missing_surveys is 'surveys since the device listed it; from 3 on it is gone';

create table ports (
  id integer generated always as identity primary key,
  circuit_id text not null unique,
  name text collate natural_order not null,
  device_id integer not null references devices,
  interface_key text not null,
  interface_id integer references interfaces on delete set null,
  media text not null default '',
  speed_bps bigint check (speed_bps > 0),
  description text not null default '',
  panel text not null default '',
  module text not null default '',
  position text not null default '',
  external_ref text not null default '',
  managed_by text not null default 'platform' check (managed_by in ('platform', 'netbox')),
  created timestamptz not null default now(),
  unique (device_id, interface_key)
);
create unique index ports_interface on ports (interface_id) where interface_id is not null;
comment on table ports is 'interfaces that are sold';
comment on column ports.interface_key is 'key of the interface on the device, which need not exist yet';
comment on column ports.speed_bps is 'as sold; null: that of the interface';
comment on column ports.panel is 'panel, module and position of the patch panel of the provider';

alter table services add unique (id, team_id);

create table port_assignments (
  id integer generated always as identity primary key,
  port_id integer not null references ports on delete cascade,
  service_id integer not null,
  team_id integer not null,
  valid tstzrange not null check (not isempty(valid) and lower(valid) is not null and lower_inc(valid) and not upper_inc(valid)),
  foreign key (service_id, team_id) references services (id, team_id) on delete cascade,
  constraint port_assignments_one_service exclude using gist (int4range(port_id, port_id, '[]') with &&, valid with &&)
);
create index port_assignments_team on port_assignments (team_id, port_id);
create index port_assignments_port on port_assignments (port_id);
create index port_assignments_service on port_assignments (service_id);
comment on table port_assignments is 'the service, and so the team, that a port belongs to, from when until when';

alter table devices enable row level security;
alter table device_states enable row level security;
alter table interfaces enable row level security;
alter table ports enable row level security;
alter table port_assignments enable row level security;

create policy tenant on port_assignments to pharos_tenant using (team_id = current_team_id());
create policy tenant on ports to pharos_tenant using (exists (
  select from port_assignments a
  where a.port_id = ports.id and a.team_id = current_team_id() and a.valid @> now()));
create policy tenant on devices to pharos_tenant using (
  customer_id = current_team_id() or exists (select from ports p where p.device_id = devices.id));
create policy tenant on device_states to pharos_tenant using (exists (
  select from devices d where d.id = device_states.device_id
    and (d.customer_id = current_team_id() or exists (select from ports p where p.device_id = d.id))));
create policy tenant on interfaces to pharos_tenant using (
  exists (select from devices d where d.id = interfaces.device_id and d.customer_id = current_team_id())
  or exists (select from ports p where p.device_id = interfaces.device_id
    and (p.interface_key = interfaces.key or p.interface_id = interfaces.lag_id)));

grant select (id, name, role, vendor, model, serial, location_key, management_address, customer_id, maintenance_until, tags, external_ref,
  driver, created) on devices to pharos_tenant;
grant select (device_id, identity, booted, seen, missed, error) on device_states to pharos_tenant;
grant select on interfaces, ports, port_assignments to pharos_tenant;
