-- What rules of shield have matched, by minute. The team is the one that had the rule then. A row is about the destinations from
-- first_addr to last_addr, IPv4 as mapped IPv6. The totals of rules are in PostgreSQL: these rows may lack some hits, but have none twice.

create table if not exists shield_hits (
  team_id UInt32 codec(Delta(4), LZ4),
  time DateTime('UTC') codec(DoubleDelta, LZ4),
  rule_id UInt64,
  first_addr IPv6,
  last_addr IPv6,
  packets UInt64 codec(T64, LZ4),
  bytes UInt64 codec(T64, LZ4),
  dropped_packets UInt64 codec(T64, LZ4),
  dropped_bytes UInt64 codec(T64, LZ4)
)
engine = SummingMergeTree((packets, bytes, dropped_packets, dropped_bytes))
partition by toYYYYMM(time)
primary key (team_id, time)
order by (team_id, time, rule_id, first_addr, last_addr)
settings ttl_only_drop_parts = 1, materialize_ttl_recalculate_only = 1, non_replicated_deduplication_window = 1000;
