// The SQL of the incidents of all teams, for staff. It runs as the owner, and every event in the window is read.
import { sql } from 'kysely'
import type { Db } from '../../db/postgres.ts'
import { statusBits } from '../relate/event-json.ts'
import {
  figures,
  incidentFiguresOf,
  listedMax,
  pageJson,
  rowOf,
  type IncidentRow,
  type StoredRow,
} from './incident-list.store.ts'
import { all, orderEventsBy } from './event-sql.store.ts'
import type { EventOrdering } from './event-query.ts'
import { noTeam } from '../relate/team-event.store.ts'

export type StaffIncidentQuery = {
  readonly teamIds: readonly number[] | null
  readonly ongoing: boolean | null
  readonly start: Date
  readonly end: Date | null
  readonly ordering: EventOrdering
  readonly limit: number
  readonly offset: number
}

type OfTeam = { readonly team: { readonly id: number; readonly name: string } }
export type StaffIncidentRow = IncidentRow & OfTeam

const falsePositive = sql.lit(statusBits(['FALSE_POSITIVE']))

export async function listStaffIncidentRows(
  db: Db,
  { teamIds, ongoing, start, end, ordering, limit, offset }: StaffIncidentQuery,
): Promise<{ readonly rows: readonly StaffIncidentRow[]; readonly count: number }> {
  const [team, id] = [sql`s.team_id`, sql`s.id`]
  const keys = sql`${orderEventsBy(ordering)}, event_id, team_id`
  const isOpen = ongoing === true ? sql`end_at is null` : ongoing === false && sql`end_at is not null`
  const passing = all(
    sql`e.team_id <> ${sql.lit(noTeam)}`,
    teamIds !== null && sql`e.team_id = any(${teamIds}::bigint[])`,
    sql`coalesce(e.end_at, 'infinity') >= ${start}::timestamptz`,
    end !== null && sql`e.start_at <= ${end}::timestamptz`,
    sql`c.status & ${falsePositive} = 0`,
  )
  const { rows } = await sql<{ page: (StoredRow & OfTeam)[] | null; count: number }>`
    with passing as materialized (
        select distinct e.team_id, coalesce(e.incident, e.event_id) as id
        from team_events e join team_event_facets c on c.team_id = e.team_id and c.id = e.facet where ${passing}),
      found as materialized (
        select s.team_id, s.id as event_id, ${figures} from passing s cross join lateral ${incidentFiguresOf(team, id)} f
        where ${all(isOpen)}),
      page as materialized (select * from found order by ${keys} offset ${offset} limit ${limit})
    select (select count(*) from found) as count, ${pageJson(
      sql`p.team_id`,
      keys,
      listedMax,
      sql`, 'team', (select json_build_object('id', t.id, 'name', t.name) from teams t where t.id = p.team_id)`,
    )} as page`.execute(db)
  return { rows: (rows[0]!.page ?? []).map(rowOf), count: Number(rows[0]!.count) }
}
