-- phase: expand
-- runs with: 0.2.0-rc.1
-- Former speakers: routers that the platform file no longer names, until their routes are withdrawn.

create table former_speakers (
  id integer generated always as identity primary key,
  region_id integer not null references regions on delete cascade,
  name text not null,
  settings jsonb not null,
  identity text not null unique,
  since timestamptz not null default now(),
  prefixes cidr[] not null,
  last_check timestamptz,
  last_error text
);
create index former_speakers_region on former_speakers (region_id);
comment on table former_speakers is 'routers that a region no longer has; a row is deleted once the router was read empty twice, or staff say that it is gone';
comment on column former_speakers.identity is 'kind of the driver with the address and the owner: two speakers with the same identity have the same routes';
comment on column former_speakers.prefixes is 'at the last successful check; before the first one, the prefixes that it may have';

alter table former_speakers enable row level security;

alter table region_routers add column daemon text;
comment on column region_routers.daemon is 'router ID and owner at the last check: an address may have several spellings';
