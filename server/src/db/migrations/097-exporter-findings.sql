-- phase: expand
-- runs with: 0.2.0-rc.1
-- What is wrong with the records of an exporter, for staff.

alter table flow_exporters add column implausible jsonb, add column ambiguous_rates bigint[];
comment on column flow_exporters.implausible is 'the last record that was left out: at, octets, packets, rate, in_if, out_if, duration_ms';
comment on column flow_exporters.ambiguous_rates is 'both sampling rates of the last record that had two';
