// The SQL of the comparison of flows with the counters of interfaces.
import { sql } from 'kysely'
import type { Db, Trx } from '../db/postgres.ts'

/** The flows of a port in an hour, as its exporter sees them; octets by the sampling rate, packets as sampled. */
export type CountedFlows = {
  readonly exporter_id: number
  readonly port_id: number
  readonly octets_in: number
  readonly octets_out: number
  readonly packets: number
}

/** Interfaces count 14 to 22 octets a packet more, and long flows belong to several hours. */
const ratioMin = 0.7
const ratioMax = 1.4
/** Number of packets from which the error of sampling is below 10 %. */
const packetsMin = 1_000
/** 1 Mbit/s: below it, packets that are no flows (routing, ARP, LACP) are a large part. */
const octetsMin = 450_000_000
/** Minimum coverage of the counters of an hour: 57 minutes. */
const coveredMsMin = 3_420_000

/**
 * Saves the ratio of each port with enough traffic: the larger of both directions, since an exporter may sample only
 * one. A ratio that is too low is saved only if both directions have enough traffic and the exporter has no internal
 * interfaces: traffic that leaves by the port may enter where no flows are exported. Repeating an hour has no effect.
 */
export async function saveCounterChecks(db: Db, hour: Date, flows: readonly CountedFlows[]): Promise<void> {
  await sql`
    with old as (delete from flow_counter_checks where hour < now() - interval '30 days'),
    counted as (
      select port_id, sum(octets_in)::float8 as octets_in, sum(octets_out)::float8 as octets_out from port_samples
      where minute >= ${hour} and minute < ${hour}::timestamptz + interval '1 hour'
      group by port_id having sum(covered_ms) >= ${coveredMsMin}),
    compared as (
      select f.exporter_id, f.port_id, greatest(
          case when c.octets_in >= ${octetsMin} then f.octets_in / c.octets_in end,
          case when c.octets_out >= ${octetsMin} then f.octets_out / c.octets_out end) as ratio,
        least(c.octets_in, c.octets_out) >= ${octetsMin} and not exists (
          select from flow_exporters e join flow_exporter_settings s on s.address = e.address
          where e.id = f.exporter_id and s.internal <> '{}') as is_complete
      from jsonb_to_recordset(${JSON.stringify(flows)}::jsonb)
          as f (exporter_id integer, port_id integer, octets_in float8, octets_out float8, packets float8)
        join counted c on c.port_id = f.port_id
      where f.packets >= ${packetsMin}),
    judged as (
      select exporter_id, port_id, ratio, ratio < ${ratioMin} or ratio > ${ratioMax} as is_outside from compared
      where ratio >= ${ratioMin} or is_complete)
    insert into flow_counter_checks as k (exporter_id, port_id, hour, ratio, outside_hours, outside_since)
    select exporter_id, port_id, ${hour}::timestamptz, least(ratio, 1e9), is_outside::integer, case when is_outside then ${hour}::timestamptz end
    from judged order by exporter_id, port_id
    on conflict (exporter_id, port_id) do update set hour = excluded.hour, ratio = excluded.ratio, checked = now(),
      outside_hours = case when excluded.outside_hours = 0 then 0
        when k.hour < excluded.hour - interval '1 day' then 1 else least(k.outside_hours + 1, 10000) end,
      outside_since = case when k.hour < excluded.hour - interval '1 day' or excluded.outside_since is null
        then excluded.outside_since else coalesce(k.outside_since, excluded.outside_since) end
      where excluded.hour > k.hour`.execute(db)
}

export type CounterRatio = { readonly exporter: string; readonly port: string; readonly ratio: number }

/** The ratios of the last hours. */
export async function listCounterRatios(db: Db | Trx): Promise<CounterRatio[]> {
  const { rows } = await sql<CounterRatio>`
    select e.address as exporter, p.circuit_id as port, k.ratio::float8 as ratio
    from flow_counter_checks k join flow_exporters e on e.id = k.exporter_id join ports p on p.id = k.port_id
    where k.hour > now() - interval '4 hours' order by e.address, p.circuit_id`.execute(db)
  return rows
}

export type ImplausibleSampling = CounterRatio & { readonly since: string; readonly hours: number }

/** Ports whose flows do not match their counters; a silent exporter is not listed after a day. */
export async function listImplausibleSampling(trx: Trx): Promise<ImplausibleSampling[]> {
  const { rows } = await sql<ImplausibleSampling>`
    select e.address as exporter, p.circuit_id as port, k.ratio::float8 as ratio, k.outside_hours as hours,
      to_char(k.outside_since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI"Z"') as since
    from flow_counter_checks k join flow_exporters e on e.id = k.exporter_id join ports p on p.id = k.port_id
    where k.is_implausible and k.hour > now() - interval '1 day' order by e.address, p.circuit_id limit 100`.execute(
    trx,
  )
  return rows
}
