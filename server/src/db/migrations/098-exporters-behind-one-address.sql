-- phase: expand
-- runs with: 0.2.0-rc.1
-- Several exporters behind one address, told apart by their source ports (RFC 7011, section 8.4), and exporters that report long flows late.

alter table flow_exporters
  add column by_port boolean not null default false,
  add column longest_flow_seconds integer,
  add column longest_flow_seen timestamptz;
comment on column flow_exporters.by_port is 'whether templates and sampling rates are those of a source port: two exporters behind the address announced different templates with one id';
comment on column flow_exporters.longest_flow_seconds is 'the longest flow of the last batch that had flows of 90 s or more';
comment on column flow_exporters.longest_flow_seen is 'when that batch was received';

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
