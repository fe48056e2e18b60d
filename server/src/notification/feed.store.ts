// The SQL of a user's feed, as the owner: every statement names the user and the team.
import type { listNotificationsRoute, NotificationsChangedData } from '@pharos/contract/messages/notification'
import type { NotificationKind } from '@pharos/contract/messages/notification-text'
import type { QueryOf } from '@pharos/contract/route'
import { sql, type RawBuilder } from 'kysely'
import { columns } from '../db/columns.ts'
import { listAll, orderBy, type Page } from '../db/page.ts'
import type { Db, Trx } from '../db/postgres.ts'

const feedColumns = columns('notifications', 'n', ['id', 'at', 'read'], {
  kind: sql<NotificationKind>`n.kind`,
  attrs: sql<Record<string, unknown>>`n.attrs`,
})
export type FeedRow = {
  readonly id: number
  readonly kind: NotificationKind
  readonly at: Date
  readonly attrs: Record<string, unknown>
  readonly read: Date | null
}

/** The rows of alias `n` for the user in the team: the team's, and for staff also staff notifications. */
export const visibleIn = (userId: RawBuilder<unknown>, teamId: RawBuilder<unknown>) => sql`
  n.user_id = ${userId} and (n.team_id = ${teamId}
    or (n.team_id is null and exists (select from users u where u.id = n.user_id and u.is_staff)))`

const visible = (userId: number, teamId: number) => visibleIn(sql`${userId}`, sql`${teamId}`)

export const listFeed = (
  db: Db,
  userId: number,
  teamId: number,
  query: QueryOf<typeof listNotificationsRoute>,
): Promise<Page<FeedRow>> =>
  listAll(db, {
    matching: sql`select n.* from notifications n where ${visible(userId, teamId)}
      ${query.unread === undefined ? sql`` : sql`and (n.read is null) = ${query.unread}`}`,
    columns: feedColumns,
    order: orderBy(query.ordering, { id: sql`n.id`, at: sql`n.at` }, sql`n.id`),
    slice: query,
  })

/** Returns the number of notifications that were unread before. */
export async function saveRead(trx: Trx, userId: number, teamId: number, upTo: number): Promise<number> {
  const { rows } = await sql`
    update notifications n set read = now()
    where ${visible(userId, teamId)} and n.id <= ${upTo}::bigint and n.read is null returning 1`.execute(trx)
  return rows.length
}

export async function readFeedState(
  db: Db | Trx,
  userId: number,
  teamId: number,
): Promise<NotificationsChangedData> {
  const { rows } = await sql<NotificationsChangedData>`
    select count(*) filter (where n.read is null) as unread, max(n.id) as newest_id
    from notifications n where ${visible(userId, teamId)}`.execute(db)
  return rows[0]!
}
