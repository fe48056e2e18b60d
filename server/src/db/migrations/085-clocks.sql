-- phase: expand
-- runs with: 0.2.0-rc.1
-- Readings that do not fit are kept until the next one shows whether they were faults, and processes compare their clock with the database's.

alter table interface_counters add column held jsonb;
comment on column interface_counters.held is 'state and open minute before a last reading that does not fit; counting goes on from there if the next one fits';

alter table processes add column clock_ms bigint;
comment on column processes.clock_ms is 'by how much the clock of the process is ahead of that of the database; null if it has not been compared';
