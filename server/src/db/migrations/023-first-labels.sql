-- phase: expand
-- runs with: 0.2.0
-- Lists of record sets by credentials that are limited to a first label, such as _acme-challenge: without an index they read all rows of the zone. Labels that
-- begin with an underscore are those that services define (RFC 8552), and few names have one.

create index dns_recordsets_underscore on dns_recordsets (zone_id, (name collate "C")) where starts_with(name, '_');
