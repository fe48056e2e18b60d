// Writes the messages that follow from changed statuses and from the checks of regions. Every statement that writes
// announcements.status or the result of a region's check is followed by one of these, in its transaction.
import { sql, type RawBuilder } from 'kysely'
import type { Trx } from '../../db/postgres.ts'
import { writeMessages } from '../../outbox/outbox.ts'
import type { AnnouncementStatus } from './announcement.ts'
import { shownStatus, unreadAnnouncements } from './shown-status.store.ts'
import { statusMessages, type StatusRow } from './status-message.ts'

type StatusBefore = { readonly id: number; readonly status: AnnouncementStatus }

/**
 * Notifies the teams of announcements whose status was just written. `before` holds the stored statuses before that, of rows
 * that the transaction has locked.
 */
export async function notifyStatusChanges(trx: Trx, before: readonly StatusBefore[]): Promise<void> {
  if (before.length === 0) return
  const ids = before.map(({ id }) => id)
  await notify(
    trx,
    sql`unnest(${ids}::integer[], ${before.map(({ status }) => status)}::text[]) n (id, status)
      join announcements a on a.id = n.id and a.id = any(${ids}::integer[])
      left join notified_statuses s on s.announcement_id = a.id
      left join ${unreadAnnouncements(sql`ar.announcement_id = any(${ids}::integer[])`)} u on u.announcement_id = a.id
      where a.status <> n.status or s.announcement_id is not null`,
    sql`coalesce(s.status, n.status)`,
  )
}

/** Notifies the teams of statuses that the check of a region, which was just saved, has made visible. */
export async function notifyCheckedStatuses(trx: Trx): Promise<void> {
  const { rows } = await sql<{ id: number }>`select announcement_id as id from notified_statuses`.execute(trx)
  if (rows.length === 0) return
  const ids = rows.map(({ id }) => id)
  await notify(
    trx,
    sql`notified_statuses s
      join announcements a on a.id = s.announcement_id
      left join ${unreadAnnouncements(sql`ar.announcement_id = any(${ids}::integer[])`)} u on u.announcement_id = a.id
      where a.id = any(${ids}::integer[])`,
    sql`s.status`,
  )
}

async function notify(trx: Trx, from: RawBuilder<unknown>, notified: RawBuilder<unknown>): Promise<void> {
  const { rows } = await sql<StatusRow & { readonly kept: AnnouncementStatus | null }>`
    select a.id, a.team_id, a.prefix::text as cidr, a.origin_asn, a.status as stored, ${shownStatus} as shown,
      ${notified} as notified, s.status as kept, now() as at
    from ${from}`.execute(trx)
  await writeMessages(trx, statusMessages(rows))
  const hidden = rows.filter(({ shown, stored, kept }) => shown !== stored && shown !== kept)
  if (hidden.length > 0) {
    await sql`
      insert into notified_statuses as s (announcement_id, team_id, status)
      select * from unnest(${hidden.map(({ id }) => id)}::integer[], ${hidden.map(({ team_id }) => team_id)}::integer[],
        ${hidden.map(({ shown }) => shown)}::text[])
      on conflict (announcement_id) do update set status = excluded.status`.execute(trx)
  }
  const visible = rows.filter(({ shown, stored, kept }) => shown === stored && kept !== null)
  if (visible.length > 0) {
    await sql`
      delete from notified_statuses where announcement_id = any(${visible.map(({ id }) => id)}::integer[])`.execute(
      trx,
    )
  }
}
