-- Flows: the exporters that sent datagrams, what is configured for them, and their templates and sampling rates, which a collector
-- needs to decode what they send next. The flows themselves are in ClickHouse.

create table flow_exporter_settings (
  id integer generated always as identity primary key,
  address text not null unique,
  device_id integer references devices on delete set null,
  sampling_rate integer check (sampling_rate > 0),
  interfaces jsonb not null default '{}'
);
comment on table flow_exporter_settings is 'exporters of the platform file';
comment on column flow_exporter_settings.address is 'source address of its datagrams, or the agent address of sFlow';
comment on column flow_exporter_settings.sampling_rate is '1 of so many packets is counted; overrides what the exporter says';
comment on column flow_exporter_settings.interfaces is 'keys of interfaces of the device by the number that the exporter uses';

create table flow_exporters (
  id integer generated always as identity primary key,
  address text not null unique,
  device_id integer references devices on delete set null,
  first_seen timestamptz not null default now(),
  last_seen timestamptz not null default now()
);
comment on table flow_exporters is 'every exporter that has sent a flow; its id is exporter_id in the flow store';
comment on column flow_exporters.device_id is 'by the platform file, else the device with this management address';

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

create table flow_unknown_interfaces (
  exporter_id integer not null references flow_exporters on delete cascade,
  if_index bigint not null,
  first_seen timestamptz not null default now(),
  last_seen timestamptz not null default now(),
  primary key (exporter_id, if_index)
);
comment on table flow_unknown_interfaces is 'interfaces in flows that the inventory does not know';

alter table flow_exporter_settings enable row level security;
alter table flow_exporters enable row level security;
alter table flow_templates enable row level security;
alter table flow_samplings enable row level security;
alter table flow_unknown_interfaces enable row level security;
