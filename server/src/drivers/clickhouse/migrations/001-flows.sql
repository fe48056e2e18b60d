-- Flows and their rollups. The team is the first key everywhere, and decided when a flow is inserted: a prefix that changes hands
-- shows nobody the past of another team. Bytes and packets of `flows` are as exported; those of rollups are multiplied by the
-- sampling rate. How long rows are kept is in ../retention.ts.
--
-- non_replicated_deduplication_window on every table: a block that is repeated with its token is stored once, and a rollup that
-- missed it gets it. Without the window on the rollups, 5 of 12 kills of the writer left a rollup without its block.

create table if not exists flows (
  team_id UInt32 codec(Delta(4), LZ4),
  time DateTime('UTC') codec(DoubleDelta, LZ4),
  direction Enum8('in' = 1, 'out' = 2, 'internal' = 3),
  is_primary UInt8,
  exporter_id UInt32,
  in_if UInt32 codec(T64, LZ4),
  out_if UInt32 codec(T64, LZ4),
  port_id UInt32,
  prefix_id UInt32,
  src_addr IPv6 codec(ZSTD(1)),
  dst_addr IPv6 codec(ZSTD(1)),
  src_port UInt16,
  dst_port UInt16,
  protocol UInt8,
  tcp_flags UInt8,
  dscp UInt8,
  fragment UInt8,
  src_as UInt32,
  dst_as UInt32,
  src_country LowCardinality(FixedString(2)),
  dst_country LowCardinality(FixedString(2)),
  bytes UInt64 codec(T64, LZ4),
  packets UInt64 codec(T64, LZ4),
  -- 0: not known.
  sampling_rate UInt32,
  index src_addr src_addr type bloom_filter(0.01) granularity 4,
  index dst_addr dst_addr type bloom_filter(0.01) granularity 4
)
engine = MergeTree
partition by toYYYYMMDD(time)
order by (team_id, toStartOfFiveMinutes(time), direction, protocol, prefix_id)
settings ttl_only_drop_parts = 1, materialize_ttl_recalculate_only = 1, non_replicated_deduplication_window = 1000;

create table if not exists flows_by_protocol_1m (
  team_id UInt32 codec(Delta(4), LZ4),
  time DateTime('UTC') codec(DoubleDelta, LZ4),
  direction Enum8('in' = 1, 'out' = 2, 'internal' = 3),
  is_primary UInt8,
  protocol UInt8,
  prefix_id UInt32,
  bytes UInt64 codec(T64, LZ4),
  packets UInt64 codec(T64, LZ4),
  flows UInt64 codec(T64, LZ4)
)
engine = SummingMergeTree((bytes, packets, flows))
partition by toYYYYMMDD(time)
primary key (team_id, time)
order by (team_id, time, direction, protocol, prefix_id, is_primary)
settings ttl_only_drop_parts = 1, materialize_ttl_recalculate_only = 1, non_replicated_deduplication_window = 1000;

create table if not exists flows_by_protocol_1h (
  team_id UInt32 codec(Delta(4), LZ4),
  time DateTime('UTC') codec(DoubleDelta, LZ4),
  direction Enum8('in' = 1, 'out' = 2, 'internal' = 3),
  is_primary UInt8,
  protocol UInt8,
  prefix_id UInt32,
  bytes UInt64 codec(T64, LZ4),
  packets UInt64 codec(T64, LZ4),
  flows UInt64 codec(T64, LZ4)
)
engine = SummingMergeTree((bytes, packets, flows))
partition by toYYYYMM(time)
primary key (team_id, time)
order by (team_id, time, direction, protocol, prefix_id, is_primary)
settings ttl_only_drop_parts = 1, materialize_ttl_recalculate_only = 1, non_replicated_deduplication_window = 1000;

-- service_port: the lower port if it is below the ephemeral ports (32768), else 0.
create table if not exists flows_by_service_1m (
  team_id UInt32 codec(Delta(4), LZ4),
  time DateTime('UTC') codec(DoubleDelta, LZ4),
  direction Enum8('in' = 1, 'out' = 2, 'internal' = 3),
  is_primary UInt8,
  protocol UInt8,
  service_port UInt16,
  bytes UInt64 codec(T64, LZ4),
  packets UInt64 codec(T64, LZ4),
  flows UInt64 codec(T64, LZ4)
)
engine = SummingMergeTree((bytes, packets, flows))
partition by toYYYYMMDD(time)
primary key (team_id, time)
order by (team_id, time, direction, protocol, service_port, is_primary)
settings ttl_only_drop_parts = 1, materialize_ttl_recalculate_only = 1, non_replicated_deduplication_window = 1000;

create table if not exists flows_by_service_1h (
  team_id UInt32 codec(Delta(4), LZ4),
  time DateTime('UTC') codec(DoubleDelta, LZ4),
  direction Enum8('in' = 1, 'out' = 2, 'internal' = 3),
  is_primary UInt8,
  protocol UInt8,
  service_port UInt16,
  bytes UInt64 codec(T64, LZ4),
  packets UInt64 codec(T64, LZ4),
  flows UInt64 codec(T64, LZ4)
)
engine = SummingMergeTree((bytes, packets, flows))
partition by toYYYYMM(time)
primary key (team_id, time)
order by (team_id, time, direction, protocol, service_port, is_primary)
settings ttl_only_drop_parts = 1, materialize_ttl_recalculate_only = 1, non_replicated_deduplication_window = 1000;

create table if not exists flows_by_interface_1m (
  team_id UInt32 codec(Delta(4), LZ4),
  time DateTime('UTC') codec(DoubleDelta, LZ4),
  direction Enum8('in' = 1, 'out' = 2, 'internal' = 3),
  is_primary UInt8,
  exporter_id UInt32,
  port_id UInt32,
  bytes UInt64 codec(T64, LZ4),
  packets UInt64 codec(T64, LZ4),
  flows UInt64 codec(T64, LZ4)
)
engine = SummingMergeTree((bytes, packets, flows))
partition by toYYYYMMDD(time)
primary key (team_id, time)
order by (team_id, time, direction, exporter_id, port_id, is_primary)
settings ttl_only_drop_parts = 1, materialize_ttl_recalculate_only = 1, non_replicated_deduplication_window = 1000;

create table if not exists flows_by_interface_1h (
  team_id UInt32 codec(Delta(4), LZ4),
  time DateTime('UTC') codec(DoubleDelta, LZ4),
  direction Enum8('in' = 1, 'out' = 2, 'internal' = 3),
  is_primary UInt8,
  exporter_id UInt32,
  port_id UInt32,
  bytes UInt64 codec(T64, LZ4),
  packets UInt64 codec(T64, LZ4),
  flows UInt64 codec(T64, LZ4)
)
engine = SummingMergeTree((bytes, packets, flows))
partition by toYYYYMM(time)
primary key (team_id, time)
order by (team_id, time, direction, exporter_id, port_id, is_primary)
settings ttl_only_drop_parts = 1, materialize_ttl_recalculate_only = 1, non_replicated_deduplication_window = 1000;

-- Filled by a job for closed hours: as a view it would cost three times the insert. The remote end is the source of incoming
-- flows and the destination of outgoing ones.
create table if not exists flows_by_peer_1h (
  team_id UInt32 codec(Delta(4), LZ4),
  time DateTime('UTC') codec(DoubleDelta, LZ4),
  direction Enum8('in' = 1, 'out' = 2, 'internal' = 3),
  is_primary UInt8,
  remote_as UInt32,
  remote_country LowCardinality(FixedString(2)),
  bytes UInt64 codec(T64, LZ4),
  packets UInt64 codec(T64, LZ4),
  flows UInt64 codec(T64, LZ4)
)
engine = SummingMergeTree((bytes, packets, flows))
partition by toYYYYMM(time)
primary key (team_id, time)
order by (team_id, time, direction, remote_as, remote_country, is_primary)
settings ttl_only_drop_parts = 1, materialize_ttl_recalculate_only = 1, non_replicated_deduplication_window = 1000;

create materialized view if not exists flows_to_protocol_1m to flows_by_protocol_1m as
select team_id, toStartOfMinute(time) as time, direction, is_primary, protocol, prefix_id,
  sum(bytes * greatest(sampling_rate, 1)) as bytes, sum(packets * greatest(sampling_rate, 1)) as packets, count() as flows
from flows
group by team_id, time, direction, is_primary, protocol, prefix_id;

create materialized view if not exists flows_to_protocol_1h to flows_by_protocol_1h as
select team_id, toStartOfHour(time) as time, direction, is_primary, protocol, prefix_id,
  sum(bytes) as bytes, sum(packets) as packets, sum(flows) as flows
from flows_by_protocol_1m
group by team_id, time, direction, is_primary, protocol, prefix_id;

create materialized view if not exists flows_to_service_1m to flows_by_service_1m as
select team_id, toStartOfMinute(time) as time, direction, is_primary, protocol,
  if(least(src_port, dst_port) < 32768, least(src_port, dst_port), 0) as service_port,
  sum(bytes * greatest(sampling_rate, 1)) as bytes, sum(packets * greatest(sampling_rate, 1)) as packets, count() as flows
from flows
group by team_id, time, direction, is_primary, protocol, service_port;

create materialized view if not exists flows_to_service_1h to flows_by_service_1h as
select team_id, toStartOfHour(time) as time, direction, is_primary, protocol, service_port,
  sum(bytes) as bytes, sum(packets) as packets, sum(flows) as flows
from flows_by_service_1m
group by team_id, time, direction, is_primary, protocol, service_port;

create materialized view if not exists flows_to_interface_1m to flows_by_interface_1m as
select team_id, toStartOfMinute(time) as time, direction, is_primary, exporter_id, port_id,
  sum(bytes * greatest(sampling_rate, 1)) as bytes, sum(packets * greatest(sampling_rate, 1)) as packets, count() as flows
from flows
group by team_id, time, direction, is_primary, exporter_id, port_id;

create materialized view if not exists flows_to_interface_1h to flows_by_interface_1h as
select team_id, toStartOfHour(time) as time, direction, is_primary, exporter_id, port_id,
  sum(bytes) as bytes, sum(packets) as packets, sum(flows) as flows
from flows_by_interface_1m
group by team_id, time, direction, is_primary, exporter_id, port_id;
