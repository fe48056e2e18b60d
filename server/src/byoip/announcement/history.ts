// Reads the history of an announcement.
import type { HistoryEntry, HistoryKind } from '@pharos/contract/byoip/announcement-checks'
import type { listAnnouncementHistoryRoute } from '@pharos/contract/byoip/announcement'
import type { QueryOf } from '@pharos/contract/route'
import type { Postgres } from '../../db/postgres.ts'
import type { Operation } from '../../operation/operation.ts'
import { listHistoryRows, type HistoryRow } from './history.store.ts'

/** Returns a page of the history of one announcement of the actor's team; throws `not_found` for any other. */
export async function listHistory(
  { postgres }: { readonly postgres: Postgres },
  { actor }: Operation,
  id: number,
  query: QueryOf<typeof listAnnouncementHistoryRoute>,
): Promise<{ results: HistoryEntry[]; count: number }> {
  const { page, count } = await listHistoryRows(postgres, actor.teamId, id, query)
  return { results: page.map(presentEntry), count }
}

function presentEntry(entry: HistoryRow): HistoryEntry {
  return { ...entry, kind: entry.kind as HistoryKind, at: entry.at.toISOString() }
}
