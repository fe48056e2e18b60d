// Reading what happened to an announcement. It changes nothing.
import type { HistoryEntry } from '@pharos/contract/announcement-checks'
import type { Postgres } from '../../db/postgres.ts'
import { notFound } from '../../runtime/error.ts'
import type { Operation } from '../../runtime/operation.ts'
import { listHistoryRows, type HistoryOrder, type HistoryRow } from './history.store.ts'
import { parseOrdering } from '../../runtime/ordering.ts'

export type HistoryQuery = {
  readonly kind?: readonly string[]
  readonly ordering: string
  readonly limit: number
  readonly offset: number
}

/** A page of the history of one announcement of the actor's team; `not_found` otherwise. */
export async function listHistory(
  { postgres }: { readonly postgres: Postgres },
  { actor }: Operation,
  id: number,
  query: HistoryQuery,
): Promise<{ results: HistoryEntry[]; count: number }> {
  const order = parseOrdering<HistoryOrder['key']>(query.ordering)
  const filter = query.kind ? { kinds: query.kind } : {}
  const found = await listHistoryRows(postgres, actor.teamId, id, filter, order, query)
  if (!found) throw notFound('announcement')
  return { results: found.page.map(presentEntry), count: found.count }
}

function presentEntry({ id, at, kind, region, actor, detail, took_ms }: HistoryRow): HistoryEntry {
  return { id, at: at.toISOString(), kind, region, actor, detail, took_ms }
}
