// Writes the messages about changed statuses and about the checks of regions. Every statement that writes
// announcements.status or the result of a region's check must be followed by a call of these functions, in its
// transaction.
import { sql, type RawBuilder } from 'kysely'
import type { Trx } from '../../db/postgres.ts'
import { writeMessages } from '../../outbox/outbox.ts'
import type { AnnouncementStatus } from './announcement.ts'
import { isEveryRegionRead, reportedStatus, unreadAnnouncements } from './reported-status.store.ts'
import { statusMessages, type ShownChange } from './status-message.ts'

/** An announcement that the transaction has locked, with its stored status before and after the transaction. */
export type StatusChange = Pick<ShownChange, 'id' | 'teamId' | 'cidr' | 'originAsn'> & {
  readonly before: AnnouncementStatus
  readonly after: AnnouncementStatus
}

/** Notifies the teams of announcements whose status was just saved; announcements without a change may be included. */
export async function notifyStatusChanges(trx: Trx, changes: readonly StatusChange[]): Promise<void> {
  if (changes.length === 0) return
  const { at, isShown } = await readVisibility(trx)
  if (isShown) {
    const shown = changes.map((change) => ({ ...change, notified: change.before, shown: change.after }))
    return writeMessages(trx, statusMessages(shown, at))
  }
  const ids = changes.map(({ id }) => id)
  await notifyShown(
    trx,
    at,
    ids,
    sql`unnest(${listOf(ids, 'integer')}, ${listOf(
      changes.map(({ before }) => before),
      'text',
    )}) n (id, status)
      join announcements a on a.id = n.id
      left join notified_statuses s on s.announcement_id = a.id`,
    sql`coalesce(s.status, n.status)`,
  )
}

/** Notifies the teams of statuses that became visible by the check of a region that was just saved. */
export async function notifyCheckedStatuses(trx: Trx): Promise<void> {
  const { rows } = await sql<{ id: number; at: Date }>`
    select announcement_id as id, now() as at from notified_statuses`.execute(trx)
  if (rows.length === 0) return
  const ids = rows.map(({ id }) => id)
  await notifyShown(
    trx,
    rows[0]!.at,
    ids,
    sql`notified_statuses s join announcements a on a.id = s.announcement_id`,
    sql`s.status`,
  )
}

/** Up to this number of announcements the plan need not be that of their number. */
const fewIds = 10

/**
 * An array as a parameter. PostgreSQL estimates the rows of a few from the length of the array, and plans such a statement anew for each PATCH,
 * which takes twenty times as long as to run it; from a subquery it does not know the length, and keeps the plan.
 */
const listOf = (values: readonly unknown[], type: 'integer' | 'text'): RawBuilder<unknown> => {
  const list = sql`${values}::${sql.raw(type)}[]`
  return values.length <= fewIds ? sql`(select ${list})` : list
}

/** `isShown`: every stored status is shown, and no team was notified of another one. */
async function readVisibility(trx: Trx): Promise<{ readonly at: Date; readonly isShown: boolean }> {
  const { rows } = await sql<{ at: Date; isShown: boolean }>`
    select now() as at, not exists (select from notified_statuses) and ${isEveryRegionRead} as "isShown"`.execute(
    trx,
  )
  return rows[0]!
}

async function notifyShown(
  trx: Trx,
  at: Date,
  ids: readonly number[],
  from: RawBuilder<unknown>,
  notified: RawBuilder<unknown>,
): Promise<void> {
  const { rows } = await sql<
    ShownChange & { readonly stored: AnnouncementStatus; readonly kept: AnnouncementStatus | null }
  >`
    select a.id, a.team_id as "teamId", a.prefix::text as cidr, a.origin_asn as "originAsn", a.status as stored,
      ${reportedStatus} as shown, ${notified} as notified, s.status as kept
    from ${from}
      left join ${unreadAnnouncements(sql`ar.announcement_id in (select unnest(${listOf(ids, 'integer')}))`)} u
        on u.announcement_id = a.id
    where ${notified} <> a.status or s.announcement_id is not null`.execute(trx)
  await writeMessages(trx, statusMessages(rows, at))
  const hidden = rows.filter(({ shown, stored, kept }) => shown !== stored && shown !== kept)
  if (hidden.length > 0) {
    await sql`
      insert into notified_statuses as s (announcement_id, team_id, status)
      select * from unnest(${hidden.map(({ id }) => id)}::integer[], ${hidden.map(({ teamId }) => teamId)}::integer[],
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
