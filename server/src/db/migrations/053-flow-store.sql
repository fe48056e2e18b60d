-- The flow store as each process sees it, for `pharos status`.
alter table processes add column flow_store jsonb;
