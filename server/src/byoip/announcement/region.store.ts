// The SQL of regions as teams see them.
import { sql, type RawBuilder } from 'kysely'
import type { Postgres } from '../../db/postgres.ts'
import { checkResult } from './shown-status.store.ts'

export type RegionOrderingKey = 'slug' | 'name'

export type RegionRow = {
  readonly slug: string
  readonly name: string
  readonly location: string
  readonly country: string
  readonly timezone: string
  readonly last_check: Date | null
  readonly last_check_result: boolean | null
}

const orderings: Record<RegionOrderingKey, RawBuilder<unknown>> = {
  slug: sql`slug collate "C"`,
  name: sql`name`,
}

type Order = readonly { readonly key: RegionOrderingKey; readonly descending: boolean }[]
type PageRow = { slug: null; count: number } | (RegionRow & { count: number })

/** The open regions: today they are open to every team, the team only says who is asking. */
export async function listOpenRegions(
  postgres: Postgres,
  teamId: number,
  order: Order,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ page: RegionRow[]; count: number }> {
  const keys = order.map(({ key, descending }) => (descending ? sql`${orderings[key]} desc` : orderings[key]))
  const ordering = sql.join([...keys, sql`id`])
  const query = sql`
    with open as (
      select r.id, r.slug, r.name, l.name as location, l.country, l.timezone, r.last_check,
        ${checkResult} as last_check_result
      from regions r join locations l on l.key = r.location_key
      where r.open),
    page as (
      select row_number() over () as place, p.*
      from (select * from open order by ${ordering} limit ${limit} offset ${offset}) p)
    select c.count, page.* from (select count(*) from open) c left join page on true
    order by page.place`
  const rows = await postgres.readInTeam<PageRow>(teamId, query.compile(postgres.owner))
  return { page: rows.filter((row) => row.slug !== null).map(regionOf), count: rows[0]!.count }
}

function regionOf({
  slug,
  name,
  location,
  country,
  timezone,
  last_check,
  last_check_result,
}: RegionRow): RegionRow {
  return { slug, name, location, country, timezone, last_check, last_check_result }
}
