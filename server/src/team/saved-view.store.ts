// The SQL of saved views. Every statement is limited to a team, and to the views of the team and of one user.
import type { QueryOf } from '@pharos/contract/route'
import type { listViewsRoute, ViewPanel } from '@pharos/contract/team/view'
import { sql } from 'kysely'
import { columns, type RowOf } from '../db/columns.ts'
import { andAll, listInTeam, orderBy, type Page } from '../db/page.ts'
import type { Postgres, Trx } from '../db/postgres.ts'

const viewColumns = columns(
  'saved_views',
  'v',
  ['id', 'user_id', 'page', 'name', 'search', 'created', 'creator', 'version'],
  { panels: sql<ViewPanel[]>`v.panels` },
)
export type SavedViewRow = RowOf<typeof viewColumns>

/** The columns that a request changes. */
export const viewFields = ['name', 'search', 'panels'] as const
export type ViewContent = Pick<SavedViewRow, (typeof viewFields)[number]>

/** Whose views a request sees: those of the team and of the user. */
export type ViewReader = { readonly teamId: number; readonly userId: number }

const visibleTo = ({ teamId, userId }: ViewReader) =>
  sql`v.team_id = ${teamId} and (v.user_id is null or v.user_id = ${userId})`

export const listViewRows = (
  postgres: Postgres,
  reader: ViewReader,
  { page, shared, ordering, ...slice }: QueryOf<typeof listViewsRoute>,
): Promise<Page<SavedViewRow>> =>
  listInTeam(postgres, reader.teamId, {
    matching: sql`
      select v.* from saved_views v where ${visibleTo(reader)} ${andAll(
        page !== undefined && sql`v.page = ${page}`,
        shared !== undefined && sql`(v.user_id is null) = ${shared}`,
      )}`,
    columns: viewColumns,
    order: orderBy(ordering, { name: sql`lower(v.name)`, id: sql`v.id`, created: sql`v.created` }, sql`v.id`),
    slice,
  })

export async function findView(
  postgres: Postgres,
  reader: ViewReader,
  id: number,
): Promise<SavedViewRow | undefined> {
  const query = sql<SavedViewRow>`
    select ${viewColumns} from saved_views v where ${visibleTo(reader)} and v.id = ${id}::bigint`
  return (await postgres.readInTeam(reader.teamId, query))[0]
}

export async function lockView(trx: Trx, reader: ViewReader, id: number): Promise<SavedViewRow | undefined> {
  const { rows } = await sql<SavedViewRow>`
    select ${viewColumns} from saved_views v where ${visibleTo(reader)} and v.id = ${id}::bigint for no key update`.execute(
    trx,
  )
  return rows[0]
}

/**
 * Returns the views of the user, or with null those of the team: their ids and names, and which of them has the page and the name, as the unique index compares
 * names. The caller has locked the team.
 */
export async function listNamesOfViews(
  trx: Trx,
  teamId: number,
  userId: number | null,
  { page, name }: Pick<SavedViewRow, 'page' | 'name'>,
): Promise<readonly (Pick<SavedViewRow, 'id' | 'page' | 'name'> & { readonly is_same: boolean })[]> {
  const { rows } = await sql<Pick<SavedViewRow, 'id' | 'page' | 'name'> & { readonly is_same: boolean }>`
    select id, page, name, page = ${page} and lower(name) = lower(${name}) as is_same
    from saved_views where team_id = ${teamId} and user_id is not distinct from ${userId}::integer`.execute(
    trx,
  )
  return rows
}

export async function insertView(
  trx: Trx,
  { teamId, userId }: ViewReader,
  { page, name, search, panels, creator }: ViewContent & Pick<SavedViewRow, 'page' | 'creator'>,
): Promise<SavedViewRow> {
  const { rows } = await sql<SavedViewRow>`
    insert into saved_views as v (team_id, user_id, page, name, search, panels, creator)
    values (${teamId}, ${userId}, ${page}, ${name}, ${search}, ${JSON.stringify(panels)}::jsonb, ${creator})
    returning ${viewColumns}`.execute(trx)
  return rows[0]!
}

export async function saveView(
  trx: Trx,
  teamId: number,
  id: number,
  { name, search, panels }: ViewContent,
): Promise<SavedViewRow> {
  const { rows } = await sql<SavedViewRow>`
    update saved_views v set name = ${name}, search = ${search}, panels = ${JSON.stringify(panels)}::jsonb
    where v.team_id = ${teamId} and v.id = ${id}
    returning ${viewColumns}`.execute(trx)
  return rows[0]!
}

/** `userId`: null for the team. */
export async function saveViewHolder(
  trx: Trx,
  teamId: number,
  id: number,
  userId: number | null,
): Promise<SavedViewRow> {
  const { rows } = await sql<SavedViewRow>`
    update saved_views v set user_id = ${userId} where v.team_id = ${teamId} and v.id = ${id} returning ${viewColumns}`.execute(
    trx,
  )
  return rows[0]!
}

export async function deleteViewRow(trx: Trx, teamId: number, id: number): Promise<void> {
  await sql`delete from saved_views where team_id = ${teamId} and id = ${id}`.execute(trx)
}
