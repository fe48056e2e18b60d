// The SQL of the monthly report: the team, and the changes of a time. As the team.
import type { ReportChangeKind } from '@pharos/contract/messages/report'
import { sql } from 'kysely'
import type { Db, Postgres } from '../db/postgres.ts'

/** Start inclusive, end exclusive. */
export type ReportWindow = { readonly start: Date; readonly end: Date }

export type ReportedTeam = { readonly id: number; readonly name: string; readonly timezone: string }

export async function findReportedTeam(
  postgres: Postgres,
  teamId: number,
): Promise<ReportedTeam | undefined> {
  const query = sql<ReportedTeam>`select id, name, timezone from teams where id = ${teamId}`
  return (await postgres.readInTeam(teamId, query))[0]
}

export type ChangeRow = {
  readonly at: Date
  readonly kind: ReportChangeKind
  readonly prefix: string
  readonly rules: number | null
  /** Total of all changes in the window. */
  readonly total: number
}

const announced = ['created', 'enabled', 'disabled', 'suspended', 'resumed', 'deleted']

/** Lists the changes of announcements and of shield rules, the oldest first. */
export const listReportedChanges = (
  postgres: Postgres,
  teamId: number,
  { start, end }: ReportWindow,
  shown: { readonly announcements: boolean; readonly shield: boolean },
  limit: number,
): Promise<ChangeRow[]> =>
  postgres.readInTeam(
    teamId,
    sql<ChangeRow>`
      select c.at, c.kind, c.prefix, c.rules, count(*) over () as total from (
        select h.at, 'announcement_' || h.kind as kind, a.prefix::text as prefix, null::integer as rules, h.id as place
        from announcements a join announcement_history h on h.announcement_id = a.id
        where ${shown.announcements} and a.team_id = ${teamId} and h.kind = any(${announced}::text[])
          and h.at >= ${start} and h.at < ${end}
        union all
        select v.created, case v.cause when 'put' then 'shield_changed' when 'revert' then 'shield_reverted'
            else 'shield_removed' end, l.prefix::text, jsonb_array_length(v.rules), v.version
        from shield_lists l join shield_versions v on v.list_id = l.id
        where ${shown.shield} and l.team_id = ${teamId} and v.created >= ${start} and v.created < ${end}) c
      order by c.at, c.place limit ${limit}`,
  )

type DeviceLocation = { readonly id: number; readonly name: string }

/** Lists the facilities of the devices on which the team has ports, or that are its own. Runs as the owner: only the conditions separate the teams. */
export async function listDeviceLocations(db: Db, teamId: number): Promise<DeviceLocation[]> {
  const { rows } = await sql<DeviceLocation>`
    select d.id, l.name from devices d join locations l on l.key = d.location_key
    where d.customer_id = ${teamId} or d.id in (
      select p.device_id from port_assignments a join ports p on p.id = a.port_id
      where a.team_id = ${teamId} and a.valid @> now())`.execute(db)
  return rows
}
