-- Names of AS numbers, from the operator's files of addresses.

create table as_names (
  asn bigint primary key check (asn between 1 and 4294967295),
  name text not null
);
comment on table as_names is 'from flow_address_files, written by the collector that has read them; none are shipped';
alter table as_names enable row level security;
