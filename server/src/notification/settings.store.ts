// The SQL of notification settings, of the feed's readers, and of the mails that wait. Every statement names the user and the team.
import { sql } from 'kysely'
import type { Digest } from '@pharos/contract/messages/notification'
import type { NotificationKind } from '@pharos/contract/messages/notification-text'
import type { Db, Trx } from '../db/postgres.ts'

export type SavedSettings = {
  readonly mail: boolean
  readonly digest: Digest
  readonly attackBps: number | null
  readonly attackPps: number | null
  readonly monthlyReport: boolean
  readonly kinds: Readonly<Partial<Record<NotificationKind, boolean>>>
}

/** Returns the saved settings; `teamId` is null for staff notifications. */
export async function findSettings(
  db: Db | Trx,
  userId: number,
  teamId: number | null,
): Promise<SavedSettings | undefined> {
  const { rows } = await sql<SavedSettings>`
    select mail, digest, attack_bps as "attackBps", attack_pps as "attackPps", kinds,
      monthly_report as "monthlyReport"
    from notification_settings
    where user_id = ${userId} and team_id is not distinct from ${teamId}::integer`.execute(db)
  return rows[0]
}

export async function saveNotificationSettings(
  trx: Trx,
  userId: number,
  teamId: number | null,
  { mail, digest, attackBps, attackPps, kinds, monthlyReport }: SavedSettings,
): Promise<void> {
  await sql`
    insert into notification_settings (user_id, team_id, mail, digest, attack_bps, attack_pps, kinds, monthly_report)
    values (${userId}, ${teamId}, ${mail}, ${digest}, ${attackBps}, ${attackPps}, ${JSON.stringify(kinds)}::jsonb, ${monthlyReport})
    on conflict (user_id, team_id) do update set mail = excluded.mail, digest = excluded.digest,
      attack_bps = excluded.attack_bps, attack_pps = excluded.attack_pps, kinds = excluded.kinds,
      monthly_report = excluded.monthly_report`.execute(trx)
}

/** Lets one change of the settings of a user follow the other. */
export async function lockSettings(trx: Trx, userId: number): Promise<void> {
  await sql`select from users where id = ${userId} for no key update`.execute(trx)
}

/** Whether the user is a member of the team; the membership is kept until the transaction ends. */
export async function isLockedMember(trx: Trx, userId: number, teamId: number): Promise<boolean> {
  const { rows } = await sql`
    select from memberships where user_id = ${userId} and team_id = ${teamId} for key share`.execute(trx)
  return rows.length > 0
}

/** Removes waiting mails: notifications stay in the feed, unsent mails are deleted. */
export async function deleteWaitingMails(trx: Trx, userId: number, teamId: number | null): Promise<void> {
  const ofUser = sql`user_id = ${userId} and team_id is not distinct from ${teamId}::integer`
  await sql`update notification_mailings set due = null where ${ofUser}`.execute(trx)
  await sql`update notifications set mail = 'none' where ${ofUser} and mail = 'waiting'`.execute(trx)
  await sql`delete from mails where ${ofUser} and sent is null and failed is null`.execute(trx)
}

export type Mailing = { readonly last: Date | null; readonly isDue: boolean }

export async function listMailings(trx: Trx, userId: number, teamId: number | null): Promise<Mailing[]> {
  const { rows } = await sql<Mailing>`
    select last, due is not null as "isDue" from notification_mailings
    where user_id = ${userId} and team_id is not distinct from ${teamId}::integer for no key update`.execute(
    trx,
  )
  return rows
}

export async function saveDue(trx: Trx, userId: number, teamId: number | null, due: Date): Promise<void> {
  await sql`
    update notification_mailings set due = ${due}
    where user_id = ${userId} and team_id is not distinct from ${teamId}::integer`.execute(trx)
}
