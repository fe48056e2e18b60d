-- Long flows have a row for each minute (analysis/flow/collect/split-flows.ts). Flows are counted by the sum of flow_count: 1 on the first row
-- of a flow and 0 on the others. Rows from before are whole flows.
--
-- A view whose query was changed has other deduplication tokens until ClickHouse is restarted (26.7): a batch that is inserted before the
-- restart and again after it would count twice in its rollups. A view that was detached and attached has the tokens of before.
alter table flows add column if not exists flow_count UInt8 default 1 codec(T64, LZ4);

attach table if not exists flows_to_protocol_1m;
alter table flows_to_protocol_1m modify query
select team_id, toStartOfMinute(time) as time, direction, is_primary, protocol, prefix_id,
  sum(bytes * greatest(sampling_rate, 1)) as bytes, sum(packets * greatest(sampling_rate, 1)) as packets, sum(flow_count) as flows
from flows
group by team_id, time, direction, is_primary, protocol, prefix_id;
detach table if exists flows_to_protocol_1m;
attach table if not exists flows_to_protocol_1m;

attach table if not exists flows_to_service_1m;
alter table flows_to_service_1m modify query
select team_id, toStartOfMinute(time) as time, direction, is_primary, protocol,
  if(least(src_port, dst_port) < 32768, least(src_port, dst_port), 0) as service_port,
  sum(bytes * greatest(sampling_rate, 1)) as bytes, sum(packets * greatest(sampling_rate, 1)) as packets, sum(flow_count) as flows
from flows
group by team_id, time, direction, is_primary, protocol, service_port;
detach table if exists flows_to_service_1m;
attach table if not exists flows_to_service_1m;

attach table if not exists flows_to_interface_1m;
alter table flows_to_interface_1m modify query
select team_id, toStartOfMinute(time) as time, direction, is_primary, exporter_id, port_id,
  sum(bytes * greatest(sampling_rate, 1)) as bytes, sum(packets * greatest(sampling_rate, 1)) as packets, sum(flow_count) as flows
from flows
group by team_id, time, direction, is_primary, exporter_id, port_id;
detach table if exists flows_to_interface_1m;
attach table if not exists flows_to_interface_1m;
