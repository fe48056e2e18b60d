-- Scrubbers: the routers and hosts that apply the rules of shield, from the platform file.

create table scrubbers (
  id integer generated always as identity primary key,
  name text not null unique,
  driver jsonb not null,
  prefixes cidr[] not null default '{}',
  rules_max integer not null default 1000 check (rules_max > 0)
);
comment on column scrubbers.driver is 'settings of the driver with their kind; paths of key files, never keys';
comment on column scrubbers.prefixes is 'it gets the lists of prefixes inside these; empty: all lists';
comment on column scrubbers.rules_max is 'most installed rules of all lists together';

alter table scrubbers enable row level security;
