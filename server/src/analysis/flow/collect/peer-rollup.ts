// The rollup by AS and country of the remote end, for closed hours. As a materialized view it would cost three times the insert, because
// nearly every flow has a row of its own; as a job it costs once.
import type { FlowStore } from '../flow-store.ts'

const hourSeconds = 3600
/** Batches of an hour are stored by then, unless they wait in a spool. */
const closedAfterSeconds = 600
/** Hours of one run: the next run continues. */
const hoursMax = 48

/** The statement that adds the flows that meet a condition. */
export const peerStatement = (condition: string): string => `
  insert into flows_by_peer_1h (team_id, time, direction, is_primary, remote_as, remote_country, bytes, packets, flows)
  select team_id, toStartOfHour(flows.time) as hour, direction, is_primary,
    if(direction = 'out', dst_as, src_as) as remote_as, if(direction = 'out', dst_country, src_country) as remote_country,
    sum(bytes * greatest(sampling_rate, 1)), sum(packets * greatest(sampling_rate, 1)), count()
  from flows where ${condition}
  group by team_id, hour, direction, is_primary, remote_as, remote_country
  order by team_id, hour, direction, remote_as, remote_country, is_primary`

const statement = `${peerStatement(`time >= {hour:DateTime('UTC')} and time < {end:DateTime('UTC')}`)}
  settings insert_deduplicate = 1, insert_deduplication_token = `

/** Adds an hour, once: its time is the token. `hour` is its start in Unix seconds. */
export const rollUpHour = (store: FlowStore, hour: number): Promise<void> =>
  store.command(`${statement}'peer:${hour}'`, { hour, end: hour + hourSeconds })

/** Adds the closed hours that are missing, the oldest first, and returns their number. */
export async function rollUpPeers(
  store: FlowStore,
  nowSeconds: number,
  signal: AbortSignal,
): Promise<number> {
  const [bounds] = await store.query<{ rows: number; first: number; done: number }>(
    `select (select count() from flows) as rows, (select toUnixTimestamp(min(time)) from flows) as first,
       (select toUnixTimestamp(max(time)) from flows_by_peer_1h) as done`,
    {},
  )
  if (!bounds || bounds.rows === 0) return 0
  const firstHour = Math.floor(bounds.first / hourSeconds) * hourSeconds
  const lastEnd = Math.floor((nowSeconds - closedAfterSeconds) / hourSeconds) * hourSeconds
  let hours = 0
  for (
    let hour = Math.max(firstHour, bounds.done > 0 ? bounds.done + hourSeconds : 0);
    hour < lastEnd && hours < hoursMax && !signal.aborted;
    hour += hourSeconds
  ) {
    await rollUpHour(store, hour)
    hours++
  }
  return hours
}
