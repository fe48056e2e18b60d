// Mails in the database.
import type { Db, Trx } from '../db/postgres.ts'

export type MailRow = {
  readonly recipient: string
  readonly teamId: number | null
  readonly template: string
  readonly contentSealed: Buffer
}

export async function insertMail(trx: Db | Trx, mail: MailRow): Promise<void> {
  await trx
    .insertInto('mails')
    .values({
      team_id: mail.teamId,
      recipient: mail.recipient,
      template: mail.template,
      content_sealed: mail.contentSealed,
    })
    .execute()
}
