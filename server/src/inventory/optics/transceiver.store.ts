// The SQL of the modules of ports, as a team sees them: through the assignment of the port.
import { sql } from 'kysely'
import type { OpticMetric } from '@pharos/contract/inventory/transceiver'
import type { Postgres } from '../../db/postgres.ts'
import type { OpticLimits } from '../collect/device-source.ts'
import { heldPorts, interfaceSince } from '../assignment/assignment.store.ts'
import type { LaneWarnings } from './lane-warnings.ts'

export type GaugeNow = {
  readonly metric: OpticMetric
  readonly lane: number
  readonly value: number
  /** ISO 8601 with an offset. */
  readonly at: string
  readonly limits: OpticLimits | null
}

export type TransceiverRow = {
  readonly portId: number
  readonly vendor: string
  readonly part: string
  readonly serial: string
  readonly type: string
  readonly wavelength_nm: number | null
  readonly reach_m: number | null
  readonly connector: string
  readonly lanes: number
  readonly inserted: Date
  readonly hasDdm: boolean
  readonly warnings: readonly LaneWarnings[]
  readonly gauges: readonly GaugeNow[]
}

/**
 * Returns the current modules in the ports of the team, by port. An empty port, or a port of another team, is absent.
 */
export async function listTransceiverRows(
  postgres: Postgres,
  teamId: number,
  portIds: readonly number[],
): Promise<ReadonlyMap<number, TransceiverRow>> {
  const query = sql<TransceiverRow>`
    select p.id as "portId", t.vendor, t.part, t.serial, t.type, t.wavelength_nm, t.reach_m, t.connector, t.lanes, t.inserted,
      t.has_ddm as "hasDdm", t.warnings, coalesce((
        select json_agg(json_build_object('metric', g.metric, 'lane', g.lane, 'value', g.value, 'at', g.at, 'limits', g.limits)
          order by g.lane) from gauges g where g.transceiver_id = t.id and g.at >= ${interfaceSince}), '[]') as gauges
    from ${heldPorts(teamId)} p join transceivers t on t.interface_id = p.interface_id
    where t.is_present and p.id = any(${portIds}::bigint[])`
  const rows = await postgres.readInTeam(teamId, query)
  return new Map(rows.map((row) => [row.portId, row]))
}

/** Selects the gauges of all modules that the port has had since it belongs to the team. */
export const gaugesOfPort = (
  teamId: number,
  portId: number,
  metrics: readonly OpticMetric[],
  lanes: readonly number[] | undefined,
) => sql`
  select g.id, g.metric, g.lane, g.part, ${interfaceSince} as since
  from ${heldPorts(teamId)} p join transceivers t on t.interface_id = p.interface_id
    join gauges g on g.transceiver_id = t.id
  where p.id = ${portId}::bigint and g.metric = any(${metrics}::text[])
    ${lanes === undefined ? sql`` : sql`and (g.lane = any(${lanes}::integer[]) or g.lane = 0)`}`
