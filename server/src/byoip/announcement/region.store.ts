// The SQL of regions as teams may list them.
import type { listRegionsRoute } from '@pharos/contract/byoip'
import type { QueryOf } from '@pharos/contract/route'
import { sql } from 'kysely'
import { columns, type RowOf } from '../../db/columns.ts'
import { listInTeam, orderBy, type Page } from '../../db/page.ts'
import type { Postgres } from '../../db/postgres.ts'
import { regionCheckResult } from './shown-status.store.ts'

const regionColumns = columns('regions', 'r', ['slug', 'name', 'last_check'], {
  last_check_result: regionCheckResult,
  location: sql<string>`(select l.name from locations l where l.key = r.location_key)`,
  country: sql<string>`(select l.country from locations l where l.key = r.location_key)`,
  timezone: sql<string>`(select l.timezone from locations l where l.key = r.location_key)`,
})
export type RegionRow = RowOf<typeof regionColumns>

/** Lists the open regions, which are open to every team. */
export const listOpenRegions = (
  postgres: Postgres,
  teamId: number,
  query: QueryOf<typeof listRegionsRoute>,
): Promise<Page<RegionRow>> =>
  listInTeam(postgres, teamId, {
    matching: sql`select r.id, r.slug, r.name, r.location_key, r.last_check, r.last_check_result, r.check_interval
      from regions r where r.open`,
    columns: regionColumns,
    order: orderBy(query.ordering, { slug: sql`r.slug collate "C"`, name: sql`r.name` }, sql`r.id`),
    slice: query,
  })
