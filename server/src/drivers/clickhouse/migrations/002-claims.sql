-- Late claims of unowned traffic (analysis/flow/claim.ts). Rows that a claim copied carry its id, so that one that was killed
-- knows whether it copied an hour, however long ago.
alter table flows add column if not exists claim_id UInt32;

-- A row for each stage that a day of a claim reached: 0 begun, 1 copied, 2 done.
create table if not exists flow_claims (
  id UInt32,
  team_id UInt32,
  prefix String,
  day Date,
  stage UInt8,
  time DateTime('UTC') default now()
)
engine = MergeTree
order by (day, id)
settings ttl_only_drop_parts = 1, materialize_ttl_recalculate_only = 1, non_replicated_deduplication_window = 1000;
