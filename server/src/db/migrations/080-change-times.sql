-- phase: expand
-- runs with: 0.2.0-rc.1
-- How long changes take: each is measured once, when the state that it asked for is saved. Rows of before have null, and count nothing.

alter table announcement_regions add column settled timestamptz;
comment on column announcement_regions.settled is 'when the routers first showed the last change of the desired state; before the last of changes until then';

alter table blackhole_regions add column settled timestamptz;
comment on column blackhole_regions.settled is 'when the routers first showed the black hole, or its end; before that of the request until then';

alter table dns_zones add column served_version bigint;
alter table dns_zones alter column served_version set default 0;
comment on column dns_zones.served_version is 'the newest version that all its name servers have served; null if it is not known';

alter table events add column detected timestamptz;
alter table events alter column detected set default now();
comment on column events.detected is 'when its first report was processed; null if it is not known';
