// The SQL of the history of announcements. Append only.
import type { HistoryKind } from '@pharos/contract/byoip/announcement-checks'
import type { listAnnouncementHistoryRoute } from '@pharos/contract/byoip/announcement'
import type { QueryOf } from '@pharos/contract/route'
import { sql } from 'kysely'
import { columns, type RowOf } from '../../db/columns.ts'
import { andAll, listInTeam, orderBy, type Page } from '../../db/page.ts'
import type { Postgres, Trx } from '../../db/postgres.ts'
import { executeLater } from '../../db/team-transactions.ts'

export type HistoryLine = {
  readonly announcementId: number
  readonly teamId: number
  readonly kind: HistoryKind
  /** Actor as in the audit: `user:7`, `operator`; or the loop that observed it. */
  readonly actor: string
  readonly regionId?: number
  readonly detail?: object
}

export async function writeHistory(trx: Trx, ...lines: readonly HistoryLine[]): Promise<void> {
  if (lines.length === 0) return
  await executeLater(
    trx,
    trx.insertInto('announcement_history').values(
      lines.map(({ announcementId, teamId, kind, actor, regionId, detail = {} }) => ({
        announcement_id: announcementId,
        team_id: teamId,
        kind,
        actor,
        region_id: regionId ?? null,
        detail: JSON.stringify(detail),
      })),
    ),
  )
}

const entryColumns = columns('announcement_history', 'h', ['id', 'at', 'kind', 'actor', 'took_ms'], {
  region: sql<string | null>`(select r.slug from regions r where r.id = h.region_id)`,
  detail: sql<Record<string, unknown>>`h.detail`,
})
export type HistoryRow = RowOf<typeof entryColumns>

/** Returns a page of one announcement's history; throws `not_found` if the team has no such announcement. */
export const listHistoryRows = (
  postgres: Postgres,
  teamId: number,
  announcementId: number,
  query: QueryOf<typeof listAnnouncementHistoryRoute>,
): Promise<Page<HistoryRow>> =>
  listInTeam(postgres, teamId, {
    parent: {
      name: 'announcement',
      statement: sql`
        select id from announcements
        where team_id = ${teamId} and id = ${announcementId}::bigint and deleted is null`,
    },
    matching: sql`
      select h.* from announcement_history h join parent on parent.id = h.announcement_id
      where h.team_id = ${teamId} ${andAll(query.kind && sql`h.kind = any(${query.kind}::text[])`)}`,
    columns: entryColumns,
    order: orderBy(query.ordering, { id: sql`h.id`, at: sql`h.at` }, sql`h.id`),
    slice: query,
  })
