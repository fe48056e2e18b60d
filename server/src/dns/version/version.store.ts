// The SQL of the history of zones. Every statement names the team.
import { sql } from 'kysely'
import type { listZoneVersionsRoute } from '@pharos/contract/dns/version'
import type { QueryOf } from '@pharos/contract/route'
import { columns, withExpressions, type RowOf } from '../../db/columns.ts'
import { listInTeam, orderBy, type Page } from '../../db/page.ts'
import type { Postgres, Trx } from '../../db/postgres.ts'

const versionColumns = columns('dns_versions', 'v', [
  'version',
  'at',
  'actor',
  'what',
  'removed_count',
  'changed_count',
  'added_count',
])
/** A version without its difference, which may be large. */
export type VersionHead = RowOf<typeof versionColumns>

const fullColumns = withExpressions(versionColumns, {
  removed: sql<Buffer>`v.removed`,
  added: sql<Buffer>`v.added`,
})
export type VersionRow = RowOf<typeof fullColumns>

export const listVersionRows = (
  postgres: Postgres,
  teamId: number,
  zoneId: number,
  query: QueryOf<typeof listZoneVersionsRoute>,
): Promise<Page<VersionHead>> =>
  listInTeam<VersionHead>(postgres, teamId, {
    matching: sql`select v.* from dns_versions v where v.zone_id = ${zoneId} and v.team_id = ${teamId}`,
    columns: versionColumns,
    order: orderBy(query.ordering, { version: sql`v.version`, at: sql`v.at` }, sql`v.version`),
    slice: query,
  })

export async function findVersion(
  postgres: Postgres,
  teamId: number,
  zoneId: number,
  version: number,
): Promise<VersionRow | undefined> {
  const [row] = await postgres.readInTeam(
    teamId,
    sql<VersionRow>`select ${fullColumns} from dns_versions v
      where v.zone_id = ${zoneId} and v.team_id = ${teamId} and v.version = ${version}::bigint`,
  )
  return row
}

/** Returns the versions after one, newest first. */
export async function readVersionsAfter(
  trx: Trx,
  teamId: number,
  zoneId: number,
  version: number,
): Promise<VersionRow[]> {
  const { rows } = await sql<VersionRow>`
    select ${fullColumns} from dns_versions v
    where v.zone_id = ${zoneId} and v.team_id = ${teamId} and v.version > ${version}::bigint
    order by v.version desc`.execute(trx)
  return rows
}

/** Reports whether the version is kept. */
export async function hasVersion(
  trx: Trx,
  teamId: number,
  zoneId: number,
  version: number,
): Promise<boolean> {
  const { rows } = await sql`
    select from dns_versions v
    where v.zone_id = ${zoneId} and v.team_id = ${teamId} and v.version = ${version}::bigint`.execute(trx)
  return rows.length > 0
}
