// Mails in the database.
import { sql } from 'kysely'
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

export type ClaimedMail = {
  readonly id: number
  readonly recipient: string
  readonly template: string
  readonly contentSealed: Buffer
  readonly created: Date
  readonly ageSeconds: number
  /** This one included; tells a claim from a later one of the same mail. */
  readonly attempts: number
}

/**
 * Takes the mail that has been due for longest, so that nobody else does for `leaseSeconds`: whoever dies with it leaves it
 * to the others then. Undefined when none is due.
 */
export async function claimMail(db: Db, leaseSeconds: number): Promise<ClaimedMail | undefined> {
  const { rows } = await sql<{
    id: number
    recipient: string
    template: string
    content_sealed: Buffer
    created: Date
    age_seconds: number
    attempts: number
  }>`
    update mails set due = now() + make_interval(secs => ${leaseSeconds}), attempts = attempts + 1
    where id = (
      select id from mails where sent is null and failed is null and due <= now()
      order by due limit 1 for update skip locked)
    returning id, recipient, template, content_sealed, created, attempts,
      extract(epoch from now() - created)::double precision as age_seconds`.execute(db)
  const [row] = rows
  if (!row) return undefined
  const { content_sealed: contentSealed, age_seconds: ageSeconds, ...rest } = row
  return { ...rest, contentSealed, ageSeconds }
}

/** It was handed over: what it said is forgotten. */
export async function saveSent(db: Db, id: number): Promise<void> {
  await sql`update mails set sent = now(), content_sealed = null, error = null
    where id = ${id} and sent is null and failed is null`.execute(db)
}

/** It is given up: what it said is forgotten. */
export async function saveFailed(db: Db, id: number, error: string): Promise<void> {
  await sql`update mails set failed = now(), content_sealed = null, error = ${error}
    where id = ${id} and sent is null and failed is null`.execute(db)
}

/** It is tried again after `delaySeconds`, unless somebody else has taken it meanwhile. */
export async function savePostponed(
  db: Db,
  { id, attempts }: Pick<ClaimedMail, 'id' | 'attempts'>,
  error: string,
  delaySeconds: number,
): Promise<void> {
  await sql`update mails set due = now() + make_interval(secs => ${delaySeconds}), error = ${error}
    where id = ${id} and attempts = ${attempts} and sent is null and failed is null`.execute(db)
}
