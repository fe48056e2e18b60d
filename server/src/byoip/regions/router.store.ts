// The SQL of regions and routers for staff: the last observations of the reconciler, and which routers are drained.
import type { listAdminRegionsRoute } from '@pharos/contract/operator/region'
import type { QueryOf } from '@pharos/contract/route'
import { sql } from 'kysely'
import { columns, type RowOf } from '../../db/columns.ts'
import { listAll, orderBy, type Page } from '../../db/page.ts'
import type { Db, Trx } from '../../db/postgres.ts'
import { asDesired } from '../status/reported-status.store.ts'
import { isDesiredRow } from './desired.store.ts'
import type { NeighborCheck } from './evidence.ts'
import type { Neighbor } from './speaker.ts'

/** Times inside are ISO 8601: PostgreSQL writes them into JSON. */
export type RouterRow = {
  readonly name: string
  readonly kind: string
  readonly drained: string | null
  readonly last_check: string | null
  readonly last_check_result: boolean | null
  readonly error: string | null
  readonly routes: number | null
  /** Its ASN when it was last read. */
  readonly asn: number | null
  readonly neighbors: readonly (Omit<Neighbor, 'since'> & { readonly since?: string })[]
  readonly checks: readonly NeighborCheck[]
}

const regionColumns = columns(
  'regions',
  'r',
  ['id', 'slug', 'name', 'open', 'quorum', 'last_check', 'neighbors4', 'neighbors6', 'routes_missing'],
  {
    last_check_result: asDesired(sql<boolean | null>`r.last_check_result`),
    error: sql<string | null>`r.last_error`,
    routers: sql<RouterRow[]>`
      (select coalesce(jsonb_agg(jsonb_build_object('name', s.value ->> 'name', 'kind', s.value ->> 'kind',
        'drained', o.drained, 'last_check', o.last_check, 'last_check_result', o.last_check_result, 'error', o.last_error,
        'routes', o.routes, 'neighbors', coalesce(o.neighbors, '[]'),
        'asn', (o.applied ->> 'asn')::bigint, 'checks', coalesce(o.neighbor_checks, '[]')) order by s.ordinality), '[]')
      from jsonb_array_elements(r.speakers) with ordinality s
      left join region_routers o on o.region_id = r.id and o.name = s.value ->> 'name')`,
    open_approval: sql<
      number | null
    >`(select max(p.id) from approvals p where p.area = 'routes' and p.region_id = r.id and p.state = 'open')`,
  },
)
export type AdminRegionRow = RowOf<typeof regionColumns>

export const listRegionRows = (
  db: Db,
  query: QueryOf<typeof listAdminRegionsRoute>,
): Promise<Page<AdminRegionRow>> =>
  listAll(db, {
    matching: sql`select r.* from regions r`,
    columns: regionColumns,
    order: orderBy(query.ordering, { slug: sql`r.slug`, name: sql`r.name` }, sql`r.id`),
    slice: query,
  })

/** Returns all regions, by slug. */
export async function readAllRegionRows(db: Db | Trx): Promise<AdminRegionRow[]> {
  const { rows } = await sql<AdminRegionRow>`select ${regionColumns} from regions r order by r.slug`.execute(
    db,
  )
  return rows
}

/**
 * Locks the region against another drain and against a run that is sending, so that neither relies on a router that
 * the other drains.
 */
export async function lockRegionRow(trx: Trx, slug: string): Promise<AdminRegionRow | undefined> {
  await sql`select from regions where slug = ${slug} for no key update`.execute(trx)
  const { rows } = await sql<AdminRegionRow>`
    select ${regionColumns} from regions r where r.slug = ${slug}`.execute(trx)
  return rows[0]
}

export async function saveDrained(
  trx: Trx,
  regionId: number,
  name: string,
  isDrained: boolean,
): Promise<void> {
  const drained = isDrained ? sql`now()` : sql`null`
  await sql`
    insert into region_routers (region_id, name, drained) values (${regionId}, ${name}, ${drained})
    on conflict (region_id, name) do update set drained = excluded.drained`.execute(trx)
}

export type RegionCounts = { readonly id: number; readonly desired: number; readonly announced: number }

/** Counts each region's desired routes, and the announced part of them. */
export async function countRegionRoutes(db: Db | Trx): Promise<RegionCounts[]> {
  const { rows } = await sql<RegionCounts>`
    select r.id, count(*) filter (where ${isDesiredRow}) as desired,
      count(*) filter (where ${isDesiredRow} and ar.state = 'announced') as announced
    from regions r left join announcement_regions ar on ar.region_id = r.id
    left join announcements a on a.id = ar.announcement_id
    group by r.id`.execute(db)
  return rows
}
