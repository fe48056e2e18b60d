-- phase: expand
-- runs with: 0.2.0-rc.1
-- Routes that the neighbors of a router receive, as the last check of each found it.

alter table region_routers add column neighbor_checks jsonb not null default '[]';
comment on column region_routers.neighbor_checks is
  'for each neighbor and address family the time of its last check, and the routes that it did not receive';
