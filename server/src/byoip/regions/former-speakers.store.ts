// The SQL of former speakers: routers that regions no longer have. `pharos apply` writes them with the change, the
// reconciler checks and deletes them, and staff may mark a router as gone.
import type { listFormerRoutersRoute } from '@pharos/contract/byoip/former-router'
import type { QueryOf } from '@pharos/contract/route'
import { sql } from 'kysely'
import { columns, type RowOf } from '../../db/columns.ts'
import { andAll, listAll, orderBy, type Page } from '../../db/page.ts'
import type { Db, Trx } from '../../db/postgres.ts'
import { wake } from '../../db/wake.ts'
import { storedJson } from '../../db/stored-json.ts'
import type { Prefix } from '../../net/prefix.ts'
import type { RegionLease } from './region-lock.store.ts'

/** A speaker of a region. `identity`: of its router and owner. */
export type FormerSpeaker = {
  readonly region: string
  readonly name: string
  readonly settings: unknown
  readonly identity: string
}

/**
 * Adds the speakers that regions are about to lose. Each may have the prefixes of all rows of its region that are not
 * withdrawn. Deletes the state of the daemon: its name may belong to another one from now on.
 */
export async function addFormerSpeakers(trx: Trx, speakers: readonly FormerSpeaker[]): Promise<void> {
  const added = sql`jsonb_to_recordset(${storedJson(speakers)}::jsonb)
    as n (region text, name text, settings jsonb, identity text) join regions r on r.slug = n.region`
  await sql`
    insert into former_speakers (region_id, name, settings, identity, prefixes)
    select r.id, n.name, n.settings, n.identity, array(
      select a.prefix from announcement_regions ar join announcements a on a.id = ar.announcement_id
        where ar.region_id = r.id and (ar.state <> 'withdrawn' or ar.announced_origin is not null)
      union select b.host from blackhole_regions br join blackholes b on b.id = br.blackhole_id
        where br.region_id = r.id and br.state <> 'withdrawn')
    from ${added}`.execute(trx)
  await sql`
    update region_routers o set daemon = null from ${added} where o.region_id = r.id and o.name = n.name`.execute(
    trx,
  )
}

/** Removes former speakers that regions have again. */
export async function removeFormerSpeakers(trx: Trx, identities: readonly string[]): Promise<void> {
  await sql`delete from former_speakers where identity = any(${identities}::text[])`.execute(trx)
}

/** Whether it is still a former speaker; its row stays locked until the end of the transaction. */
export async function confirmFormer(trx: Trx, id: number): Promise<boolean> {
  const { rows } = await sql`select from former_speakers where id = ${id} for share`.execute(trx)
  return rows.length > 0
}

/**
 * Result of a run for a former speaker: `isDone` if it is empty permanently. One that could not be read keeps its
 * prefixes.
 */
export type FormerCheck =
  | { readonly id: number; readonly error: string; readonly prefixes?: undefined }
  | {
      readonly id: number
      readonly error: string | null
      readonly prefixes: readonly Prefix[]
      readonly isDone: boolean
    }

/** Saves the checks, and deletes the speakers that are done. */
export async function saveFormerChecks(
  db: Db,
  { regionId, epoch }: Pick<RegionLease, 'regionId' | 'epoch'>,
  at: Date,
  checks: readonly FormerCheck[],
): Promise<void> {
  if (checks.length === 0) return
  const done = checks.filter((check) => check.prefixes !== undefined && check.isDone).map(({ id }) => id)
  await db.transaction().execute(async (trx) => {
    await sql`
      update former_speakers f
      set last_error = n.error, last_check = case when n.prefixes is null then f.last_check else ${at}::timestamptz end,
        prefixes = case when n.prefixes is null then f.prefixes
          else array(select value::cidr from jsonb_array_elements_text(n.prefixes)) end
      from jsonb_to_recordset(${storedJson(checks)}::jsonb) as n (id integer, error text, prefixes jsonb), regions r
      where f.id = n.id and f.region_id = r.id and r.id = ${regionId} and r.epoch = ${epoch}`.execute(trx)
    if (done.length === 0) return
    await sql`
      delete from former_speakers f using regions r
      where f.id = any(${done}::integer[]) and f.region_id = r.id and r.id = ${regionId} and r.epoch = ${epoch}`.execute(
      trx,
    )
    await wake(trx, 'announcements')
  })
}

const formerColumns = columns('former_speakers', 'f', ['id', 'name', 'since', 'last_check'], {
  region: sql<string>`(select r.slug from regions r where r.id = f.region_id)`,
  router: sql<string>`f.identity`,
  error: sql<string | null>`f.last_error`,
  routes: sql<number>`cardinality(f.prefixes)`,
})
export type FormerRow = RowOf<typeof formerColumns>

export const listFormerRows = (
  db: Db,
  query: QueryOf<typeof listFormerRoutersRoute>,
): Promise<Page<FormerRow>> =>
  listAll(db, {
    matching: sql`
      select f.* from former_speakers f join regions r on r.id = f.region_id
      where true ${andAll(query.region && sql`r.slug = any(${query.region}::text[])`)}`,
    columns: formerColumns,
    order: orderBy(query.ordering, { id: sql`f.id`, since: sql`f.since` }, sql`f.id`),
    slice: query,
  })

/** Returns all of them, by region. */
export async function readFormerRows(trx: Db | Trx): Promise<FormerRow[]> {
  const { rows } = await sql<FormerRow>`
    select ${formerColumns} from former_speakers f order by region, f.id`.execute(trx)
  return rows
}

/** Deletes a former speaker, and returns it; undefined if it does not exist. */
export async function deleteFormer(trx: Trx, id: number): Promise<FormerRow | undefined> {
  const { rows } = await sql<FormerRow>`
    select ${formerColumns} from former_speakers f where f.id = ${id}::bigint for update`.execute(trx)
  await sql`delete from former_speakers where id = ${id}::bigint`.execute(trx)
  return rows[0]
}
