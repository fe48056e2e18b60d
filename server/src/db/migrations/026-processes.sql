-- What each process says about itself, for `pharos status`: a row that it replaces every few seconds while it runs.

create table processes (
  id uuid primary key,
  host text not null,
  pid integer not null,
  version text not null,
  roles text[] not null,
  started timestamptz not null,
  seen timestamptz not null,
  loops jsonb not null,
  registries jsonb not null
);
comment on table processes is 'running processes; one that ends removes its row, one that is killed leaves it until it has aged';
comment on column processes.loops is 'each loop: name, interval_seconds, last_success or null';
comment on column processes.registries is 'each source of ROAs or route objects: kind, name, ok, answered or null';
