// Restores in the view of staff: the open one with its differences, and earlier ones.
import {
  actionsOfArea,
  restoreReasons,
  type listRestoreItemsRoute,
  type listRestoresRoute,
  type Restore,
  type RestoreItem,
} from '@pharos/contract/operator/restore'
import type { QueryOf } from '@pharos/contract/route'
import type { Db } from '../db/postgres.ts'
import { notFound } from '../runtime/error.ts'
import { findRestore, listItemRows, listRestoreRows, type ItemRow, type RestoreRow } from './restore.store.ts'

type Deps = { readonly db: Db }

export async function listRestores(
  { db }: Deps,
  _operation: unknown,
  query: QueryOf<typeof listRestoresRoute>,
): Promise<{ results: Restore[]; count: number }> {
  const { page, count } = await listRestoreRows(db, query)
  return { results: page.map(presentRestore), count }
}

export async function getRestore({ db }: Deps, _operation: unknown, id: number): Promise<Restore> {
  const row = await findRestore(db, id)
  if (!row) throw notFound('restore')
  return presentRestore(row)
}

export async function listRestoreItems(
  { db }: Deps,
  _operation: unknown,
  id: number,
  query: QueryOf<typeof listRestoreItemsRoute>,
): Promise<{ results: RestoreItem[]; count: number }> {
  const { page, count } = await listItemRows(db, id, query)
  return { results: page.map(presentItem), count }
}

export function presentRestore({ detected, closed, areas, sources, reason, ...row }: RestoreRow): Restore {
  const isTime = (text: string | null) => (text === null ? null : new Date(text).toISOString())
  return {
    ...row,
    reason,
    detail: restoreReasons[reason],
    state: closed === null ? 'open' : 'closed',
    detected: detected.toISOString(),
    closed: closed?.toISOString() ?? null,
    areas: [...areas],
    sources: sources.map(({ compared, ...source }) => ({ ...source, compared: isTime(compared) })),
  }
}

function presentItem({ team_id, team_name, adoptable, area, ...item }: ItemRow): RestoreItem {
  return {
    ...item,
    area,
    adoptable: adoptable && actionsOfArea[area].includes('adopt'),
    team: team_id === null ? null : { id: team_id, name: team_name ?? '' },
  }
}

/** Returns the sources that were not compared since the restore was opened. */
export const uncomparedOf = ({ sources }: Pick<RestoreRow, 'sources'>): string[] =>
  sources.filter(({ compared }) => compared === null).map(({ area, name }) => `${area} of ${name}`)
