// Mail tokens in the database.
import { sql } from 'kysely'
import type { Db, Trx } from '../db/postgres.ts'

export type MailTokenPurpose = 'confirm-email' | 'password-reset'

export type NewMailToken = {
  readonly id: string
  readonly purpose: MailTokenPurpose
  readonly userId: number
  readonly email: string
  readonly secretMac: Buffer
  readonly minutes: number
}

/** Bound to the account's current state. */
export async function insertMailToken(trx: Trx, token: NewMailToken): Promise<void> {
  await sql`
    insert into mail_tokens (id, user_id, purpose, secret_mac, email, account_state, expires)
    select ${token.id}, id, ${token.purpose}, ${token.secretMac}, ${token.email}, account_state(email, password_hash),
      now() + make_interval(mins => ${token.minutes})
    from users where id = ${token.userId}`.execute(trx)
}

export type FoundMailToken = {
  readonly id: string
  readonly userId: number
  /** The recipient's address. */
  readonly email: string
  readonly secretMac: Buffer
}

/** Returns a token that has not expired and whose account has not changed since. */
export async function findMailToken(
  db: Db | Trx,
  purpose: MailTokenPurpose,
  id: string,
): Promise<FoundMailToken | undefined> {
  const { rows } = await sql<FoundMailToken>`
    select t.id, t.user_id as "userId", t.email, t.secret_mac as "secretMac"
    from mail_tokens t join users u on u.id = t.user_id
    where t.id = ${id} and t.purpose = ${purpose} and t.expires > now()
      and t.account_state = account_state(u.email, u.password_hash)`.execute(db)
  return rows[0]
}

/** Returns whether a token was sent to the user during the last minutes. */
export async function hasNewMailToken(
  trx: Trx,
  userId: number,
  purpose: MailTokenPurpose,
  minutes: number,
): Promise<boolean> {
  const { rows } = await sql`
    select from mail_tokens where user_id = ${userId} and purpose = ${purpose}
      and created > now() - make_interval(mins => ${minutes}) limit 1`.execute(trx)
  return rows.length > 0
}

/** Binds the token to the account's new state, so that it remains valid. */
export async function rebindMailToken(trx: Trx, id: string): Promise<void> {
  await sql`
    update mail_tokens t set account_state = account_state(u.email, u.password_hash)
    from users u where u.id = t.user_id and t.id = ${id}`.execute(trx)
}

/** Deletes all tokens of the user, or the tokens of one purpose. */
export async function deleteMailTokens(trx: Trx, userId: number, purpose?: MailTokenPurpose): Promise<void> {
  const all = trx.deleteFrom('mail_tokens').where('user_id', '=', userId)
  await (purpose === undefined ? all : all.where('purpose', '=', purpose)).execute()
}
