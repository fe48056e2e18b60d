-- How long name servers take for a publication, who signs, and NOTIFY messages of primaries.

alter table dns_server_zones add column reached timestamptz;
comment on column dns_server_zones.reached is 'when the server was first seen at `serial`, or at a later one; null before';

-- Teams are shown whether Pharos or the name servers sign their zones.
grant select (signing) on dns_servers to pharos_tenant;

alter table dns_secondaries add column notified timestamptz;
comment on column dns_secondaries.notified is 'last NOTIFY; after `attempted` it came during a transfer, and the primaries are asked once more';
