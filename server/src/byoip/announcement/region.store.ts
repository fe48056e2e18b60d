// The SQL of regions as teams may list them.
import type { listRegionsRoute } from '@pharos/contract/byoip/announcement'
import type { QueryOf } from '@pharos/contract/route'
import { sql } from 'kysely'
import { columns, type RowOf } from '../../db/columns.ts'
import { listInTeam, orderBy, type Page } from '../../db/page.ts'
import type { Db, Postgres } from '../../db/postgres.ts'
import { asDesired, regionCheckResult } from '../status/reported-status.store.ts'

const regionColumns = columns('regions', 'r', ['slug', 'name', 'last_check'], {
  last_check_result: asDesired(regionCheckResult),
  location: sql<string>`(select l.name from locations l where l.key = r.location_key)`,
  country: sql<string>`(select l.country from locations l where l.key = r.location_key)`,
  timezone: sql<string>`(select l.timezone from locations l where l.key = r.location_key)`,
})
export type RegionRow = RowOf<typeof regionColumns>

/** Returns the slugs of the regions that are open or that an announcement of the team is in, in order. */
export async function listTeamRegionSlugs(postgres: Postgres, teamId: number): Promise<string[]> {
  const rows = await postgres.readInTeam(
    teamId,
    sql<{ slug: string }>`
      select r.slug from regions r
      where r.open or exists (
        select from announcement_regions ar where ar.team_id = ${teamId} and ar.region_id = r.id)
      order by r.slug collate "C"`,
  )
  return rows.map(({ slug }) => slug)
}

/** Returns the slugs of all regions, in order. */
export async function listAllSlugs(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('regions')
    .select('slug')
    .orderBy(sql`slug collate "C"`)
    .execute()
  return rows.map(({ slug }) => slug)
}

/** Lists the open regions, which are open to every team. */
export const listOpenRegions = (
  postgres: Postgres,
  teamId: number,
  query: QueryOf<typeof listRegionsRoute>,
): Promise<Page<RegionRow>> =>
  listInTeam(postgres, teamId, {
    matching: sql`select r.id, r.slug, r.name, r.location_key, r.last_check, r.last_check_result, r.check_interval,
        r.routes_missing, r.neighbors4, r.neighbors6
      from regions r where r.open`,
    columns: regionColumns,
    order: orderBy(query.ordering, { slug: sql`r.slug collate "C"`, name: sql`r.name` }, sql`r.id`),
    slice: query,
  })
