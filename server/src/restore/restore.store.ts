// The SQL of restores: differences and decisions. They belong to the provider: only staff use them, as the owner of the tables.
import type {
  ComparedArea,
  Difference,
  DifferenceKind,
  listRestoreItemsRoute,
  listRestoresRoute,
  RestoreAction,
  RestoreArea,
  RestoreReason,
} from '@pharos/contract/operator/restore'
import type { QueryOf } from '@pharos/contract/route'
import { sql } from 'kysely'
import { columns, type RowOf } from '../db/columns.ts'
import { andAll, listAll, orderBy, type Page } from '../db/page.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { storedJson } from '../db/stored-json.ts'

type AreaCounts = {
  readonly area: RestoreArea
  readonly items: number
  readonly undecided: number
  readonly adoptable: number
}
type SourceRow = {
  readonly area: ComparedArea
  readonly name: string
  readonly compared: string | null
  readonly problem: string | null
}

/** Everything that is to be compared with the network. */
const comparable = sql`(
  select 'routes' as area, slug as name from regions
  union all select 'shield', name from scrubbers
  union all select 'zones', rtrim(name, '.') from dns_servers where catalog)`

const restoreColumns = columns('restores', 'r', ['id', 'detected', 'closed', 'closed_by', 'sessions_ended'], {
  reason: sql<RestoreReason>`r.reason`,
  known_head: sql<string | null>`r.evidence ->> 'known_head'`,
  found_head: sql<string | null>`r.evidence ->> 'found_head'`,
  areas: sql<AreaCounts[]>`(
    select coalesce(json_agg(a order by a.area), '[]') from (
      select i.area, count(*)::integer as items, count(*) filter (where i.decision is null)::integer as undecided,
        count(*) filter (where i.decision is null and i.adoptable)::integer as adoptable
      from restore_items i where i.restore_id = r.id group by i.area) a)`,
  sources: sql<SourceRow[]>`(
    select coalesce(json_agg(json_build_object('area', s.area, 'name', s.name, 'compared', s.compared, 'problem', s.problem)
      order by s.area, s.name), '[]')
    from (
      select c.area, c.name, o.compared, o.problem from ${comparable} c
      left join restore_sources o on o.restore_id = r.id and o.area = c.area and o.name = c.name
      where r.closed is null
      union all
      select area, name, compared, problem from restore_sources where restore_id = r.id and r.closed is not null) s)`,
})
export type RestoreRow = RowOf<typeof restoreColumns>

export async function findRestore(db: Db | Trx, id: number): Promise<RestoreRow | undefined> {
  const { rows } = await sql<RestoreRow>`
    select ${restoreColumns} from restores r where r.id = ${id}::bigint`.execute(db)
  return rows[0]
}

/** Locks the restore until the end of the transaction, so that its differences do not change; undefined if it does not exist. */
export async function lockRestore(trx: Trx, id: number): Promise<RestoreRow | undefined> {
  await sql`select from restores where id = ${id}::bigint for update`.execute(trx)
  return findRestore(trx, id)
}

export async function findOpenRestore(db: Db | Trx): Promise<RestoreRow | undefined> {
  const { rows } = await sql<RestoreRow>`
    select ${restoreColumns} from restores r where r.closed is null`.execute(db)
  return rows[0]
}

export const listRestoreRows = (
  db: Db,
  query: QueryOf<typeof listRestoresRoute>,
): Promise<Page<RestoreRow>> =>
  listAll(db, {
    matching: sql`select r.* from restores r where true ${andAll(
      query.state &&
        sql`case when r.closed is null then 'open' else 'closed' end = any(${query.state}::text[])`,
    )}`,
    columns: restoreColumns,
    order: orderBy(query.ordering, { id: sql`r.id` }, sql`r.id`),
    slice: query,
  })

const itemColumns = columns(
  'restore_items',
  'i',
  ['id', 'source', 'subject', 'adoptable', 'decided_by', 'team_id'],
  {
    area: sql<RestoreArea>`i.area`,
    kind: sql<DifferenceKind>`i.kind`,
    decision: sql<RestoreAction | null>`i.decision`,
    database: sql<Record<string, unknown> | null>`i.database`,
    network: sql<Record<string, unknown> | null>`i.network`,
    team_name: sql<string | null>`(select t.name from teams t where t.id = i.team_id)`,
  },
)
export type ItemRow = RowOf<typeof itemColumns>

export const listItemRows = (
  db: Db,
  restoreId: number,
  query: QueryOf<typeof listRestoreItemsRoute>,
): Promise<Page<ItemRow>> =>
  listAll(db, {
    parent: { name: 'restore', statement: sql`select from restores where id = ${restoreId}::bigint` },
    matching: sql`select i.* from restore_items i where i.restore_id = ${restoreId}::bigint ${andAll(
      query.area && sql`i.area = any(${query.area}::text[])`,
      query.undecided !== undefined && sql`(i.decision is null) = ${query.undecided}`,
    )}`,
    columns: itemColumns,
    order: orderBy(query.ordering, { id: sql`i.id`, subject: sql`i.subject` }, sql`i.id`),
    slice: query,
  })

export type DecidedItemRow = ItemRow & { readonly decision: RestoreAction }

export async function listDecidedItems(db: Db | Trx, restoreId: number): Promise<DecidedItemRow[]> {
  const { rows } = await sql<DecidedItemRow>`
    select ${itemColumns} from restore_items i
    where i.restore_id = ${restoreId}::bigint and i.decision is not null order by i.id`.execute(db)
  return rows
}

type FoundDifferences = {
  readonly area: ComparedArea
  /** Region, scrubber or name server. */
  readonly source: string
  readonly differences: readonly Difference[]
}

/**
 * Replaces the differences of a source in the open restore. A decision stays as long as its difference is the same:
 * staff decide only what they have seen.
 */
export async function saveDifferences(
  db: Db,
  { area, source, differences }: FoundDifferences,
): Promise<void> {
  const rows = storedJson(differences.map(({ teamId, ...one }) => ({ ...one, team_id: teamId })))
  await sql`
    with open as (select id from restores where closed is null for key share),
    found as (
      select * from jsonb_to_recordset(${rows}::jsonb)
        as n (subject text, kind text, team_id integer, database jsonb, network jsonb, adoptable boolean)),
    compared as (
      insert into restore_sources as s (restore_id, area, name, compared) select id, ${area}, ${source}, now() from open
      on conflict (restore_id, area, name) do update set compared = now(), problem = null),
    gone as (
      delete from restore_items i using open
      where i.restore_id = open.id and i.area = ${area} and i.source = ${source}
        and not exists (select from found where found.subject = i.subject))
    insert into restore_items as i (restore_id, area, source, subject, kind, team_id, database, network, adoptable)
    select open.id, ${area}, ${source}, f.subject, f.kind, f.team_id, f.database, f.network, f.adoptable
    from open, found f
    on conflict (restore_id, area, source, subject) do update
    set kind = excluded.kind, team_id = excluded.team_id, database = excluded.database, network = excluded.network,
      adoptable = excluded.adoptable, decision = null, decided = null, decided_by = null
    where (i.kind, i.database, i.network, i.adoptable) is distinct from
      (excluded.kind, excluded.database, excluded.network, excluded.adoptable)`.execute(db)
}

/** Stores why a source of the open restore cannot be compared; differences that were found before stay. */
export async function saveRestoreProblem(
  db: Db,
  { area, source, problem }: Pick<FoundDifferences, 'area' | 'source'> & { readonly problem: string },
): Promise<void> {
  await sql`
    insert into restore_sources as s (restore_id, area, name, problem)
    select id, ${area}, ${source}, ${problem} from restores where closed is null
    on conflict (restore_id, area, name) do update set problem = excluded.problem`.execute(db)
}

type NewDecision = {
  readonly area: RestoreArea
  readonly action: RestoreAction
  readonly ids: readonly number[] | undefined
  readonly actor: string
}

/** Decides the items, or all of the area that the action is possible for; returns how many were changed. */
export async function saveItemDecision(
  trx: Trx,
  restoreId: number,
  { area, action, ids, actor }: NewDecision,
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    update restore_items set decision = ${action}, decided = now(), decided_by = ${actor}
    where restore_id = ${restoreId}::bigint and area = ${area} ${andAll(
      ids && sql`id = any(${ids}::bigint[])`,
      action === 'adopt' && sql`adoptable`,
    )} and decision is distinct from ${action}`.execute(trx)
  return Number(numAffectedRows)
}

/** Returns which of these items exist in the area, and which of them cannot be adopted. */
export async function findItems(
  trx: Trx,
  restoreId: number,
  area: RestoreArea,
  ids: readonly number[],
): Promise<readonly { readonly id: number; readonly subject: string; readonly adoptable: boolean }[]> {
  const { rows } = await sql<{ id: number; subject: string; adoptable: boolean }>`
    select id, subject, adoptable from restore_items
    where restore_id = ${restoreId}::bigint and area = ${area} and id = any(${ids}::bigint[])`.execute(trx)
  return rows
}

export async function markClosed(trx: Trx, id: number, actor: string): Promise<void> {
  await sql`update restore_items set applied = now() where restore_id = ${id}::bigint`.execute(trx)
  // The clock, not the time of the transaction: a process compares it with an earlier reading.
  await sql`update restores set closed = clock_timestamp(), closed_by = ${actor} where id = ${id}::bigint`.execute(
    trx,
  )
}

/** Gives up the mails that the backup had queued. */
export async function discardMails(trx: Trx, before: Date): Promise<void> {
  await sql`
    update mails set failed = now(), content_sealed = null, error = 'discarded: the database was restored'
    where sent is null and failed is null and created <= ${before} and template <> 'restore-open'`.execute(
    trx,
  )
  await sql`update notifications set mail = 'none' where mail = 'waiting' and at <= ${before}`.execute(trx)
  await sql`
    update notification_mailings d set due = null where not exists (
      select from notifications n where n.user_id = d.user_id and n.team_id is not distinct from d.team_id
        and n.mail = 'waiting')`.execute(trx)
}

export async function cancelOldDeliveries(trx: Trx, before: Date): Promise<void> {
  await sql`
    update webhook_deliveries set state = 'cancelled' where state = 'pending' and created <= ${before}`.execute(
    trx,
  )
}
