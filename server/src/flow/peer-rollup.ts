// The rollup by AS and country of the remote end, for closed hours. As a materialized view it would cost three times
// the insert, because nearly every flow has a separate row; as a job it costs once. Missing hours are found by
// comparing flows and packets with the sums of the views (a later part of a long flow counts as no flow), so that an
// hour is added again when late flows arrive from a spool.
import type { FlowStore, QueryLimits } from './flow-store.ts'

const hourSeconds = 3600
/** Long flows of an hour end by then, and their batches are stored unless they wait in a spool. */
const closedAfterSeconds = 4200
/** Hours of one run: the next run continues. */
const hoursMax = 48
/** Hours of the largest providers are billions of rows. */
const limits: QueryLimits = { seconds: 110, rowsToRead: 1e12 }

/** The statement that adds the flows that meet a condition. */
export const peerStatement = (condition: string): string => `
  insert into flows_by_peer_1h (team_id, time, direction, is_primary, remote_as, remote_country, bytes, packets, flows)
  select team_id, toStartOfHour(flows.time) as hour, direction, is_primary,
    if(direction = 'out', dst_as, src_as) as remote_as, if(direction = 'out', dst_country, src_country) as remote_country,
    sum(bytes * greatest(sampling_rate, 1)), sum(packets * greatest(sampling_rate, 1)), sum(flow_count)
  from flows where ${condition}
  group by team_id, hour, direction, is_primary, remote_as, remote_country
  order by team_id, hour, direction, remote_as, remote_country, is_primary`

const inHours = "time >= toDateTime({hour:UInt32}, 'UTC') and time < toDateTime({end:UInt32}, 'UTC')"

/**
 * Adds the flows of consecutive hours unless they are added already, and returns whether it did. `hour` is the start of the first in
 * Unix seconds. Repeating it corrects whatever a failure left: a part of the hours, or an hour twice.
 */
export async function rollUpHours(
  store: FlowStore,
  hour: number,
  count: number,
  nowSeconds: number,
): Promise<boolean> {
  const params = { hour, end: hour + count * hourSeconds }
  const [counts] = await store.query<{ kept: number; received: number; added: number }>(
    `select (select sum(flow_count) + sum(packets * greatest(sampling_rate, 1)) from flows where ${inHours}) as kept,
       (select sum(flows) + sum(packets) from flows_by_protocol_1h where ${inHours}) as received,
       (select sum(flows) + sum(packets) from flows_by_peer_1h where ${inHours}) as added`,
    params,
    limits,
  )
  const { kept, received, added } = counts!
  // In hours whose flows are partly deleted, more was added than is left.
  if (kept === added || (kept < added && kept < received)) return false
  if (added > 0) await store.command(`delete from flows_by_peer_1h where ${inHours}`, params)
  // Two processes that add the same hours at the same time add them once. Rows that were deleted since are added again, after an hour at most.
  const token = `peer:${hour}:${count}:${kept}:${Math.floor(nowSeconds / hourSeconds)}`
  const once =
    added > 0 ? 'insert_deduplicate = 0' : `insert_deduplicate = 1, insert_deduplication_token = '${token}'`
  await store.command(`${peerStatement(inHours)} settings ${once}`, params)
  return true
}

/** Adds the closed hours that are missing or incomplete, the oldest first, and returns their number. */
export async function rollUpPeers(
  store: FlowStore,
  nowSeconds: number,
  signal: AbortSignal,
): Promise<number> {
  const end = Math.floor((nowSeconds - closedAfterSeconds) / hourSeconds) * hourSeconds
  const during = "time >= first and time < toDateTime({end:UInt32}, 'UTC')"
  const differing = await store.query<{ hour: number }>(
    `with (select toStartOfHour(minOrNull(time)) from flows) as first
     select toUnixTimestamp(time) as hour from (
       select time, flows + packets as received, toUInt64(0) as added from flows_by_protocol_1h where ${during}
       union all
       select time, toUInt64(0), flows + packets from flows_by_peer_1h where ${during})
     group by time having sum(received) != sum(added) order by time`,
    { end },
    limits,
  )
  let hours = 0
  for (const { hour } of differing) {
    if (hours === hoursMax || signal.aborted) break
    if (await rollUpHours(store, hour, 1, nowSeconds)) hours++
  }
  return hours
}
