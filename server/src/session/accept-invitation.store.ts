// Creates the account of a user who accepts an invitation.
import { sql } from 'kysely'
import type { Trx } from '../db/postgres.ts'

export type NewAccount = {
  readonly email: string
  readonly passwordHash: string
  readonly firstName: string
  readonly lastName: string
}

/** Returns the new user's id, with the address confirmed; undefined if the account was created concurrently. */
export async function insertAccount(trx: Trx, account: NewAccount): Promise<number | undefined> {
  const { email, passwordHash, firstName, lastName } = account
  const username = email.slice(0, email.lastIndexOf('@'))
  const displayName = [firstName, lastName].filter(Boolean).join(' ') || username
  const { rows } = await sql<{ id: number }>`
    insert into users (email, email_confirmed, password_hash, password_chosen, username, first_name, last_name, display_name)
    values (${email}, now(), ${passwordHash}, now(), ${username}, ${firstName}, ${lastName}, ${displayName})
    on conflict (lower(email)) do nothing returning id`.execute(trx)
  return rows[0]?.id
}
