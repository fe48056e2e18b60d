// The SQL of the recorded shares of route collectors with an announcement.
import { sql } from 'kysely'
import type { Db, ReadStatement } from '../../db/postgres.ts'
import { unnestRows } from '../../db/unnest.ts'
import { followedWithin } from './visibility.store.ts'

/** An announcement of a team, and the time to read. Keys are unique. */
export type WatchedAnnouncement = {
  readonly key: number
  readonly teamId: number
  readonly announcementId: number
  readonly start: Date
  readonly end: Date
}

/** A collector that was not heard yet may have the route: the share of a partial view is a lower bound. */
export async function insertShares(db: Db, announcementIds: readonly number[], at: Date): Promise<void> {
  await sql`
    insert into announcement_heard (announcement_id, team_id, at, percent, is_least)
    select v.announcement_id, v.team_id, ${at}::timestamptz,
      100.0 * coalesce((select sum((o ->> 'count')::integer) from jsonb_array_elements(v.origins) o where (o ->> 'expected')::boolean), 0)
        / v.collectors_total,
      v.state <> 'current'
    from announcement_visibility v
    where v.announcement_id = any(${announcementIds}::integer[]) and v.collectors_total > 0 and v.change_kind = 'announced'
      and exists (select from visibility_sources where is_used and checked > now() - ${followedWithin})
    on conflict (announcement_id, at) do update set percent = excluded.percent, is_least = excluded.is_least`.execute(
    db,
  )
}

export async function deleteOldShares(db: Db, before: Date): Promise<void> {
  await sql`delete from announcement_heard where at < ${before}`.execute(db)
}

const announcementRows = (announcements: readonly WatchedAnnouncement[]) =>
  unnestRows(
    announcements.map(({ key, teamId, announcementId, start, end }) => ({
      key,
      teamId,
      announcementId,
      start,
      end,
    })),
    { key: 'bigint', teamId: 'integer', announcementId: 'bigint', start: 'timestamptz', end: 'timestamptz' },
  )

/** The announcements that the teams have now. */
export const listWatched = (
  read: ReadStatement,
  announcements: readonly WatchedAnnouncement[],
): Promise<{ readonly key: number; readonly is_announced: boolean }[]> =>
  read(sql`
    select n.key, coalesce(v.change_kind = 'announced', true) as is_announced
    from ${announcementRows(announcements)}
      join announcements a on a.team_id = n."teamId" and a.id = n."announcementId" and a.deleted is null
      left join announcement_visibility v on v.announcement_id = a.id`)

export const listShares = (
  read: ReadStatement,
  announcements: readonly WatchedAnnouncement[],
): Promise<
  {
    readonly key: number
    readonly start_ms: number
    readonly percent: number
    readonly is_least: boolean
  }[]
> =>
  read(sql`
    select n.key, (extract(epoch from h.at) * 1000)::bigint as start_ms, h.percent, h.is_least
    from ${announcementRows(announcements)}
      join announcement_heard h on h.team_id = n."teamId" and h.announcement_id = n."announcementId"
        and h.at >= n.start and h.at < n."end"`)
