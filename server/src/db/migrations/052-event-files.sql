-- Files, review and rates of security events.

-- The detector's own message is in the delivery. Events from before contain it in parsed_data until another message arrives.
alter table events add column source_delivery bigint, add column source_received timestamptz;
comment on column events.source_delivery is 'deliveries.id with the latest message of the detector; it contains what parsed_data.source shows';
comment on column events.source_received is 'deliveries.received of it, which selects the partition';
