-- phase: expand
-- runs with: 0.2.0-rc.1

-- The status of a zone is the worst of publication, servers, delegation and DNSSEC. A delegation that was seen and is gone is an error; one that
-- was never there is not.
alter table dns_delegations add column delegated_seen timestamptz;
comment on column dns_delegations.delegated_seen is 'when the parent was last seen to delegate to the assigned servers, or to some of them';

-- A deleted zone is served until it has left the catalog zone.
alter table dns_zones add column deletion_held timestamptz;
comment on column dns_zones.deletion_held is 'since when its removal from the name servers waits for an approval of the provider';
