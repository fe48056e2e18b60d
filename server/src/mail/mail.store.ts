// The SQL of mails.
import { sql } from 'kysely'
import { noRestoreIsOpen } from '../db/open-restore.ts'
import { claimRows } from '../db/due-work.ts'
import type { Db, Trx } from '../db/postgres.ts'

export type MailRow = {
  readonly recipient: string
  readonly teamId: number | null
  /** The user to whom a mail of notifications is; null for other mails. */
  readonly userId: number | null
  readonly template: string
  readonly contentSealed: Buffer
}

export async function insertMail(trx: Db | Trx, mail: MailRow): Promise<void> {
  await trx
    .insertInto('mails')
    .values({
      team_id: mail.teamId,
      ...(mail.userId === null ? {} : { user_id: mail.userId }),
      recipient: mail.recipient,
      template: mail.template,
      content_sealed: mail.contentSealed,
    })
    .execute()
}

export type ClaimedMail = {
  readonly id: number
  readonly recipient: string
  readonly template: string
  readonly contentSealed: Buffer
  readonly created: Date
  readonly ageSeconds: number
  /** Including this attempt; distinguishes a claim from a later claim of the same mail. */
  readonly attempts: number
}

/** Claims the mails that have been due for longest, for `leaseSeconds`. `templates`: only these; by default all. */
export function claimMails(
  db: Db,
  limit: number,
  leaseSeconds: number,
  templates?: readonly string[],
): Promise<ClaimedMail[]> {
  return claimRows<ClaimedMail>(db, 'mails', {
    due: sql`select r.id from mails r where r.sent is null and r.failed is null and r.due <= now()
        and ${templates ? sql`r.template = any(${templates}::text[])` : noRestoreIsOpen}
      order by r.due limit ${limit}`,
    lease: sql`due = now() + make_interval(secs => ${leaseSeconds}), attempts = r.attempts + 1`,
    returning: sql`r.id, r.recipient, r.template, r.content_sealed as "contentSealed", r.created, r.attempts,
      extract(epoch from now() - r.created)::double precision as "ageSeconds"`,
  })
}

/** The mail was sent: its content is deleted. */
export async function saveSent(db: Db, id: number): Promise<void> {
  await sql`update mails set sent = now(), content_sealed = null, error = null
    where id = ${id} and sent is null and failed is null`.execute(db)
}

/** The mail is not sent any more: its content is deleted. */
export async function saveFailed(db: Db, id: number, error: string): Promise<void> {
  await sql`update mails set failed = now(), content_sealed = null, error = ${error}
    where id = ${id} and sent is null and failed is null`.execute(db)
}

/** The mail is due again after `delaySeconds`, unless another process has claimed it in the meantime. */
export async function savePostponed(
  db: Db,
  { id, attempts }: Pick<ClaimedMail, 'id' | 'attempts'>,
  error: string,
  delaySeconds: number,
): Promise<void> {
  await sql`update mails set due = now() + make_interval(secs => ${delaySeconds}), error = ${error}
    where id = ${id} and attempts = ${attempts} and sent is null and failed is null`.execute(db)
}
