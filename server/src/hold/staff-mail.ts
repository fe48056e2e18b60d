// Mails to staff: who gets them, and when the next one about a hold is due.
import type { Db, Trx } from '../db/postgres.ts'
import { queueMail, type MailContents } from '../mail/mail.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { listStaffEmails } from './hold-alerts.store.ts'

export type StaffMailDeps = {
  readonly ring: KeyRing
  /** The recipients of the mails; empty: all staff with a confirmed address. */
  readonly recipients: readonly string[]
}

/** Of the loops that send alerts about holds. */
export type AlertDeps<Alert> = StaffMailDeps & {
  readonly db: Db
  /** Without a trailing path. */
  readonly publicUrl: string
  readonly onAlert: (alert: Alert) => void
}

/** Minutes until the next mail about an open hold, after its first one or after a reminder. */
export const nextAlertMinutes = (isReminder: boolean): number => (isReminder ? 240 : 30)

/** Queues the mail for each recipient. Returns their number. */
export async function queueStaffMail<
  T extends 'hold-open' | 'staff-holds-open' | 'import-held' | 'restore-open' | 'zones-refused',
>({ ring, recipients }: StaffMailDeps, db: Db | Trx, template: T, content: MailContents[T]): Promise<number> {
  const to = recipients.length > 0 ? recipients : await listStaffEmails(db)
  for (const recipient of to) await queueMail(db, ring, { to: recipient, teamId: null, template, content })
  return to.length
}
