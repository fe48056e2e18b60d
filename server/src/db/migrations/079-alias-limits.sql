-- phase: expand
-- runs with: 0.2.0-rc.1
-- ALIAS records: a limit for each zone in the platform file, and those without any address to publish.

alter table dns_defaults add column aliases_max integer not null default 50 check (aliases_max >= 0);
comment on column dns_defaults.aliases_max is 'ALIAS records of one zone';

alter table dns_aliases add column is_unserved boolean not null default false;
comment on column dns_aliases.is_unserved is 'whether the last attempt left the name without any published address';
