-- Teams see when each name server was last queried: a row of dns_server_zones changes only with what the server serves.
grant select (checked) on dns_servers to pharos_tenant;
