// The SQL of the last comparison of a port's flows with its counters.
import { sql } from 'kysely'
import type { Db } from '../db/postgres.ts'

export type PortCheck = {
  readonly hour: Date
  readonly ratio: number
  readonly is_implausible: boolean
  /** Flows that enter by interfaces towards other exporters are dropped. */
  readonly has_internal: boolean
}

/** Of the exporter that was compared last. The caller has found that the port is the team's. */
export async function findPortCheck(db: Db, teamId: number, portId: number): Promise<PortCheck | undefined> {
  const { rows } = await sql<PortCheck>`
    select k.hour, k.ratio::float8 as ratio, k.is_implausible, coalesce(s.internal <> '{}', false) as has_internal
    from flow_counter_checks k join flow_exporters e on e.id = k.exporter_id
      left join flow_exporter_settings s on s.address = e.address
    where k.port_id = ${portId} and exists (select from port_assignments a where a.port_id = k.port_id and a.team_id = ${teamId})
    order by k.hour desc limit 1`.execute(db)
  return rows[0]
}
