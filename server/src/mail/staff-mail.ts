// Mails to staff: who gets them.
import { sql } from 'kysely'
import type { Db, Trx } from '../db/postgres.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { queueMail, type MailContents } from './mail.ts'

export type StaffMailDeps = {
  readonly ring: KeyRing
  /** The recipients of the mails; empty: all staff with a confirmed address. */
  readonly recipients: readonly string[]
}

type StaffTemplate = 'approval-open' | 'restore-open' | 'zones-refused' | 'team-sign-in'

/** Queues the mail for each recipient. Returns their number. */
export async function queueStaffMail<T extends StaffTemplate>(
  { ring, recipients }: StaffMailDeps,
  db: Db | Trx,
  template: T,
  content: MailContents[T],
): Promise<number> {
  const to = recipients.length > 0 ? recipients : await listStaffEmails(db)
  for (const recipient of to) await queueMail(db, ring, { to: recipient, teamId: null, template, content })
  return to.length
}

/** Returns the confirmed addresses of staff. */
async function listStaffEmails(db: Db | Trx): Promise<string[]> {
  const { rows } = await sql<{ email: string }>`
    select email from users where is_staff and email_confirmed is not null order by id`.execute(db)
  return rows.map(({ email }) => email)
}
