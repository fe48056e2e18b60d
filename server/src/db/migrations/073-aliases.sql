-- phase: expand
-- runs with: 0.2.0-rc.1

-- ALIAS records: the addresses of their targets, which are published in their place.

create table dns_aliases (
  zone_id integer not null references dns_zones on delete cascade,
  name_key bytea not null,
  target bytea not null,
  a bytea[] not null default '{}',
  aaaa bytea[] not null default '{}',
  resolved timestamptz,
  checked timestamptz not null,
  due timestamptz not null,
  reason text check (reason in ('unreachable', 'refused', 'no_addresses', 'not_public', 'loop')),
  primary key (zone_id, name_key)
);
create index dns_aliases_due on dns_aliases (due);
comment on table dns_aliases is 'the addresses of the targets of ALIAS records; a row is of the record set with the same name and target';
comment on column dns_aliases.target is 'the name whose addresses these are, as in the record';
comment on column dns_aliases.resolved is 'the last answer with addresses; null before the first';
comment on column dns_aliases.reason is 'why the last attempt brought no addresses; the former ones stay published';

alter table dns_aliases enable row level security;
create policy tenant on dns_aliases to pharos_tenant using (
  exists (select from dns_zones z where z.id = zone_id and z.team_id = current_team_id()));
grant select on dns_aliases to pharos_tenant;

-- 65401 is the type ALIAS.
create index dns_recordsets_alias on dns_recordsets (zone_id, name_key) where type = 65401;
create index dns_recordsets_alias_name on dns_recordsets (name_key) where type = 65401;

alter table dns_zones add column alias_requested timestamptz;
comment on column dns_zones.alias_requested is 'addresses of ALIAS records changed that are not published';
