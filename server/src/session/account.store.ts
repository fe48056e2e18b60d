// The account of a user in the database: address, password, profile.
import { updateUserRoute } from '@pharos/contract/session/account'
import type { BodyOf } from '@pharos/contract/route'
import { sql } from 'kysely'
import type { User } from '@pharos/contract/session/session'
import type { Db, Trx } from '../db/postgres.ts'
import { errorCode } from '../db/errno.ts'
import { escapesProvider } from '../db/proofs.ts'

export type Account = {
  readonly id: number
  readonly email: string
  readonly emailConfirmed: Date | null
  /** Null: the account signs in with an identity provider only. */
  readonly passwordHash: string | null
  readonly isStaff: boolean
}

const columns = [
  'id',
  'email',
  'email_confirmed as emailConfirmed',
  'password_hash as passwordHash',
  'is_staff as isStaff',
] as const

export async function findAccount(db: Db | Trx, userId: number): Promise<Account | undefined> {
  return db.selectFrom('users').select(columns).where('id', '=', userId).executeTakeFirst()
}

export async function findAccountByEmail(db: Db | Trx, email: string): Promise<Account | undefined> {
  return db
    .selectFrom('users')
    .select(columns)
    .where(sql`lower(email)`, '=', sql`lower(${email})`)
    .executeTakeFirst()
}

/** Changes of an account or its sessions lock this first; opening a session takes a shared lock. */
export async function lockAccount(trx: Trx, userId: number): Promise<Account | undefined> {
  return trx.selectFrom('users').select(columns).where('id', '=', userId).forNoKeyUpdate().executeTakeFirst()
}

/** Saves a password chosen by the user: the password in the platform file no longer applies. */
export async function savePassword(trx: Trx, userId: number, passwordHash: string): Promise<void> {
  await trx
    .updateTable('users')
    .set({ password_hash: passwordHash, password_chosen: sql<Date>`now()` })
    .where('id', '=', userId)
    .execute()
}

/** Sets the account's address, confirmed; returns `taken` if another account has it. */
export async function saveConfirmedEmail(trx: Trx, userId: number, email: string): Promise<Date | 'taken'> {
  try {
    const { confirmed } = await trx
      .updateTable('users')
      .set({ email, email_confirmed: sql<Date>`now()` })
      .where('id', '=', userId)
      .returning(sql<Date>`email_confirmed`.as('confirmed'))
      .executeTakeFirstOrThrow()
    return confirmed
  } catch (error) {
    if (errorCode(error) === '23505') return 'taken'
    throw error
  }
}

/** Returns whether a team of the user requires its identity provider for the current address, and would not for this one. */
export async function leavesProvider(trx: Trx, userId: number, email: string): Promise<boolean> {
  const { rows } = await sql`
    select from users u join memberships m on m.user_id = u.id join teams t on t.id = m.team_id
    where u.id = ${userId} and ${escapesProvider(email)} limit 1`.execute(trx)
  return rows.length > 0
}

/** Marks the current address as confirmed. */
export async function confirmAddress(trx: Trx, userId: number): Promise<void> {
  await trx
    .updateTable('users')
    .set({ email_confirmed: sql<Date>`now()` })
    .where('id', '=', userId)
    .where('email_confirmed', 'is', null)
    .execute()
}

export type Profile = Required<BodyOf<typeof updateUserRoute>>
const profileFields = Object.keys(updateUserRoute.body.properties) as (keyof Profile)[]

export async function lockProfile(trx: Trx, userId: number): Promise<Profile | undefined> {
  return trx
    .selectFrom('users')
    .select(profileFields)
    .where('id', '=', userId)
    .forNoKeyUpdate()
    .executeTakeFirst()
}

export async function saveProfile(trx: Trx, userId: number, profile: Profile): Promise<void> {
  await trx.updateTable('users').set(profile).where('id', '=', userId).execute()
}

/** Returns the user as in the API, with the team as the current one. */
export async function findUser(db: Db | Trx, userId: number, teamId: number): Promise<User | null> {
  const { rows } = await sql<{ profile: User | null }>`
    select user_profile(${userId}, ${teamId}) as profile`.execute(db)
  return rows[0]!.profile
}
