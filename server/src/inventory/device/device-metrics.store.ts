// The SQL of the metrics of a device, and of the traffic of the team's ports on it.
import { sql } from 'kysely'
import type { Postgres } from '../../db/postgres.ts'
import { heldPorts, interfaceSince } from '../assignment/assignment.store.ts'
import { completeMs } from '../usage/bucket.ts'

/**
 * Selects the gauges of the device itself. A customer of one of its ports gets their history from the time of the
 * assignment on this device; the customer who owns the device gets all of it.
 */
export const gaugesOfDevice = (teamId: number, deviceId: number, metrics: readonly string[]) => sql`
  select g.id, g.metric, g.lane, g.part, case when d.customer_id = ${teamId} then d.created else (
      select min(${interfaceSince}) from ${heldPorts(teamId)} p where p.device_id = d.id)
    end as since
  from gauges g join devices d on d.id = g.device_id
  where g.device_id = ${deviceId}::bigint and g.transceiver_id is null and g.metric = any(${metrics}::text[])`

/** The metrics that the device has reported. */
export async function listDeviceMetrics(
  postgres: Postgres,
  teamId: number,
  deviceId: number,
): Promise<readonly string[]> {
  const query = sql<{ metric: string }>`
    select distinct metric from gauges where device_id = ${deviceId}::bigint and transceiver_id is null`
  return (await postgres.readInTeam(teamId, query)).map(({ metric }) => metric)
}

/** Mean rates of a bucket, from 1, in the view of the device. */
export type TrafficPoint = { readonly bucket: number; readonly in_bps: number; readonly out_bps: number }

/** The rates of the team's ports on the device, added per 5 minutes; members of a LAG are in the LAG. */
export function listTraffic(
  postgres: Postgres,
  teamId: number,
  deviceId: number,
  borders: readonly Date[],
): Promise<TrafficPoint[]> {
  const [start, end] = [borders[0]!, borders.at(-1)!]
  const query = sql<TrafficPoint>`
    with held as (
      select p.id, greatest(lower(p.valid), ${start}::timestamptz) as first
      from ${heldPorts(teamId)} p
      where p.device_id = ${deviceId}::bigint and not exists (
        select from ${heldPorts(teamId)} l where l.interface_id = p.lag_id)),
    fives as (
      select b.at, sum(b.octets_in * 8000.0 / b.covered_ms) as in_bps, sum(b.octets_out * 8000.0 / b.covered_ms) as out_bps
      from held h cross join lateral port_buckets(h.id, h.first, ${end}::timestamptz, 300) b
      where b.covered_ms >= ${sql.lit(completeMs)} group by b.at)
    select width_bucket(at, ${borders}::timestamptz[]) as bucket, floor(avg(in_bps))::double precision as in_bps,
      floor(avg(out_bps))::double precision as out_bps
    from fives group by 1`
  return postgres.readInTeam(teamId, query)
}
