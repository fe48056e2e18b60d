-- phase: expand
-- runs with: 0.2.0-rc.1
-- The publish loop looks for these zones with each change of any zone, and read all zones for it.

create index dns_zones_alias on dns_zones (id) where alias_requested is not null;
