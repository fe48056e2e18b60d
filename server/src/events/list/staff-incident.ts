// The incidents of all teams, for staff: each as its team sees it.
import type { listStaffIncidentsRoute } from '@pharos/contract/events/incident'
import type { QueryOf, ResponseOf } from '@pharos/contract/route'
import type { Postgres } from '../../db/postgres.ts'
import { eventsOf, presentIncident } from './incident-list.ts'
import { parseEventQuery } from './event-query.ts'
import { listStaffIncidentRows } from './staff-incident.store.ts'

type Deps = { readonly postgres: Postgres }

/** Default window of a list. */
const windowMs = 24 * 3_600_000

export async function listStaffIncidents(
  { postgres }: Deps,
  _operation: unknown,
  { team_id: teamIds, ...query }: QueryOf<typeof listStaffIncidentsRoute>,
): Promise<ResponseOf<typeof listStaffIncidentsRoute>> {
  const { start, end, ongoing, ordering, limit, offset } = parseEventQuery(query)
  const { rows, count } = await listStaffIncidentRows(postgres.owner, {
    teamIds: teamIds ?? null,
    ongoing,
    start: start ?? new Date((end ?? new Date()).getTime() - windowMs),
    end,
    ordering,
    limit,
    offset,
  })
  return { results: rows.map((row) => ({ ...presentIncident(row, eventsOf(row)), team: row.team })), count }
}
