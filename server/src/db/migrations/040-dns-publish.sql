-- Publication of zones: the catalog zone as a zone of its own, and the evidence that a deleted zone is no longer served.

alter table dns_zones add column is_catalog boolean not null default false;
create unique index dns_zones_catalog on dns_zones (is_catalog) where is_catalog and deleted is null;
comment on column dns_zones.is_catalog is 'the catalog zone (RFC 9432), which lists all others: written by its loop alone';

alter table dns_zones add column withdrawn timestamptz;
comment on column dns_zones.withdrawn is
  'since when the catalog zone does not contain the zone and name servers stop to serve it: only after it was deleted';

-- Name servers in other processes find what changed since they looked.
create index dns_zones_published on dns_zones (published);

comment on table dns_transfers is
  'steps of IXFR: whole sets, each followed by its signatures as a set of type RRSIG; the SOA of the step''s end is the first set';

-- The last record of the chain of NSEC or NSEC3 before a name.
create index dns_served_chain on dns_served (zone_id, type, name_key) where type in (47, 50);

alter table dns_zones add column resign_requested timestamptz;
create index dns_zones_resign on dns_zones (id) where resign_requested is not null;
comment on column dns_zones.resign_requested is
  'since when the zone is to be published again without a change of a record set: keys changed, or signatures expire';
