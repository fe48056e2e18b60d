-- phase: expand
-- runs with: 0.2.0-rc.1
-- Desired routes that do not get from a region to its neighbors.

alter table regions add column routes_missing integer not null default 0;
comment on column regions.routes_missing is
  'desired routes that the last check found on too few routers, or not advertised by them';
grant select (routes_missing) on regions to pharos_tenant;
