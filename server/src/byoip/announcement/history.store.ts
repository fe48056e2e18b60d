// The SQL of what happened to announcements. Append only.
import { sql } from 'kysely'
import type { Postgres, Trx } from '../../db/postgres.ts'

export type HistoryLine = {
  readonly announcementId: number
  readonly teamId: number
  /** A word of its own for each kind of thing that happens: `created`, `enabled`, `validation`, ... */
  readonly kind: string
  /** As in the audit: `user:7`, `operator`; or the loop that saw it. */
  readonly actor: string
  readonly regionId?: number
  readonly detail?: object
}

export async function writeHistory(trx: Trx, ...lines: readonly HistoryLine[]): Promise<void> {
  if (lines.length === 0) return
  await trx
    .insertInto('announcement_history')
    .values(
      lines.map(({ announcementId, teamId, kind, actor, regionId, detail = {} }) => ({
        announcement_id: announcementId,
        team_id: teamId,
        kind,
        actor,
        region_id: regionId ?? null,
        detail: JSON.stringify(detail),
      })),
    )
    .execute()
}

export type HistoryRow = {
  readonly id: number
  readonly at: Date
  readonly kind: string
  readonly region: string | null
  readonly actor: string
  readonly detail: Record<string, unknown>
  readonly took_ms: number | null
}

export type HistoryOrder = { readonly key: 'id' | 'at'; readonly descending: boolean }

type PageRow = { id: null; count: number } | (HistoryRow & { count: number })

/** A page of one announcement's history and the count, from one snapshot; undefined where the team has no such one. */
export async function listHistoryRows(
  postgres: Postgres,
  teamId: number,
  announcementId: number,
  filter: { readonly kinds?: readonly string[] },
  order: readonly HistoryOrder[],
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ page: HistoryRow[]; count: number } | undefined> {
  const keys = order.map(({ key, descending }) => sql`${sql.ref(key)} ${descending ? sql`desc` : sql`asc`}`)
  const query = sql`
    with one as (
      select id from announcements
      where team_id = ${teamId} and id = ${announcementId}::bigint and deleted is null),
    matching as (
      select h.id, h.at, h.kind, r.slug as region, h.actor, h.detail, h.took_ms
      from announcement_history h join one on one.id = h.announcement_id left join regions r on r.id = h.region_id
      where h.team_id = ${teamId} ${filter.kinds ? sql`and h.kind = any(${filter.kinds}::text[])` : sql``}),
    page as (
      select row_number() over () as place, p.*
      from (select * from matching order by ${sql.join([...keys, sql`id`])} limit ${limit} offset ${offset}) p)
    select c.count, page.* from one cross join (select count(*) from matching) c left join page on true
    order by page.place`
  const rows = await postgres.readInTeam<PageRow>(teamId, query.compile(postgres.owner))
  if (rows.length === 0) return undefined
  return { page: rows.filter((row) => row.id !== null), count: rows[0]!.count }
}
