-- Fields of a zone that clients of the PowerDNS-compatible API set and read back. They have no effect on the zone.
alter table dns_zones add column powerdns jsonb not null default '{}';
comment on column dns_zones.powerdns is 'kind, account and soa_edit_api as a client of the PowerDNS-compatible API has set them; they have no effect';
grant update (powerdns) on dns_zones to pharos_tenant;

alter table dns_tsig_keys add column may_update boolean not null default false;
alter table dns_tsig_keys add check (team_id is not null or not may_update);
comment on column dns_tsig_keys.may_update is 'may change all zones of its team by UPDATE (RFC 2136); a key given to another server for transfers should not';
