-- Whether a region's router was read lately: until then nothing is claimed about what it announces.

-- Written by the reconciler that takes the region over, from its setting; the processes that answer requests have none.
alter table regions add column check_interval interval not null default '30 seconds';
comment on column regions.check_interval is 'how often its reconciler compares it with its router';
grant select (check_interval) on regions to pharos_tenant;
