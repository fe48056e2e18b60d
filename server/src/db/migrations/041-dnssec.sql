-- States of DNSSEC: what the pure state table needs besides keys and delegations.

alter table dns_zones
  add column dnssec_reason text,
  add column dnssec_removal boolean not null default false,
  add column dnssec_serial bigint check (dnssec_serial between 0 and 4294967295);
comment on column dns_zones.dnssec_reason is 'code of what the state waits for or fails at; null if nothing';
comment on column dns_zones.dnssec_removal is 'pending_disabled although the parent had DS records: it was asked to delete them';
comment on column dns_zones.dnssec_serial is
  'the first serial with the current keys: once all name servers have it, they are introduced; null until it is published';
grant update (dnssec_reason, dnssec_removal, dnssec_serial, resign_requested) on dns_zones to pharos_tenant;
