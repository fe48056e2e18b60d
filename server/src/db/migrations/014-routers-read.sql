-- phase: expand
-- runs with: 0.2.0
-- Which holder of the lock of a region has read each of its routers.

alter table region_routers add column read_epoch integer;
comment on column region_routers.read_epoch is 'epoch of the region in the last full run that read the router';
