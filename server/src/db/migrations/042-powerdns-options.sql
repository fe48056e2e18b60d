-- What clients of the PowerDNS-compatible API have set of a zone and read back. It has no effect on the zone.
alter table dns_zones add column powerdns jsonb not null default '{}';
comment on column dns_zones.powerdns is 'kind, account and soa_edit_api as a client of the PowerDNS-compatible API has set them; they have no effect';
grant update (powerdns) on dns_zones to pharos_tenant;
