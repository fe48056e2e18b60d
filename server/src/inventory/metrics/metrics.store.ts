// The SQL of the metrics of a team: the last readings of its ports.
import { sql } from 'kysely'
import type { Postgres } from '../../db/postgres.ts'
import { isUnread } from '../assignment/device-state.store.ts'
import { teamPorts } from '../port/port.store.ts'
import { seenDevices } from '../assignment/assignment.store.ts'
import type { CounterName } from '../usage/reading.ts'

export type PortReading = {
  readonly id: number
  readonly name: string
  readonly circuit_id: string
  readonly device_name: string
  readonly service: string
  readonly speed_bps: number | null
  readonly admin_status: string
  readonly oper_status: string
  readonly seen: Date | null
  /** Counters as texts, in the view of the device; null before the first poll. */
  readonly counters: Readonly<Record<CounterName, string | null>> | null
}

export function listPortReadings(postgres: Postgres, teamId: number): Promise<PortReading[]> {
  const query = sql<PortReading>`
    select p.id, p.name, p.circuit_id, p.device_name, p.speed_bps, p.admin_status, p.oper_status, p.seen, s.name as service,
      p.counters -> 'values' as counters
    from (${teamPorts(teamId)}) p left join services s on s.id = p.service_id
    order by p.id`
  return postgres.readInTeam(teamId, query)
}

export type DeviceReading = { readonly name: string; readonly is_answering: boolean | null }

/** Devices on which the team has ports; null: never polled, or not any more. */
export function listDeviceReadings(postgres: Postgres, teamId: number): Promise<DeviceReading[]> {
  const query = sql<DeviceReading>`
    select s.name, case when (s.seen is not null or s.missed > 0) and not ${isUnread} then s.missed = 0 end as is_answering
    from ${seenDevices(teamId)} s order by s.name`
  return postgres.readInTeam(teamId, query)
}
