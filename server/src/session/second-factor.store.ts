// The second factor in the database. An attempt is counted before a code is compared; one statement decides which of
// several concurrent requests with the same code is the first.
import { sql } from 'kysely'
import type { Db, Trx } from '../db/postgres.ts'
import { hasFactor } from '../db/proofs.ts'

const wrongCodesMax = 10
const countedFor = sql`interval '15 minutes'`

export type StoredFactor = {
  /** Null: the account has no authenticator; the row counts wrong recovery codes. */
  readonly secretSealed: Buffer | null
  /** Null: the authenticator is enabled. */
  readonly pendingUntil: Date | null
  /** The database's own time, which all processes share. */
  readonly now: Date
}

/** Returns the user's factor and counts one attempt; undefined if there is no factor or no attempt left. */
export async function countCodeAttempt(db: Db, userId: number): Promise<StoredFactor | undefined> {
  const { rows } = await sql<StoredFactor>`
    update second_factors set
      wrong_codes = case when wrong_since > now() - ${countedFor} then wrong_codes + 1 else 1 end,
      wrong_since = case when wrong_since > now() - ${countedFor} then wrong_since else now() end
    where user_id = ${userId} and (wrong_codes < ${wrongCodesMax} or wrong_since <= now() - ${countedFor})
    returning secret_sealed as "secretSealed", pending_until as "pendingUntil", now() as now`.execute(db)
  return rows[0]
}

/** Returns the seconds until the next attempt is allowed, if there is a factor. */
export async function findWaitSeconds(db: Db, userId: number): Promise<number | undefined> {
  const { rows } = await sql<{ seconds: number }>`
    select extract(epoch from wrong_since + ${countedFor} - now())::float8 as seconds
    from second_factors where user_id = ${userId}`.execute(db)
  return rows[0]?.seconds
}

/**
 * Marks the step and all before it as used, and refunds the attempt. Returns false if it was used already, or if the
 * secret has changed since it was read.
 */
export async function useStep(db: Db, userId: number, step: number, secretSealed: Buffer): Promise<boolean> {
  const { rows } = await sql`
    update second_factors set last_step = ${step}, wrong_codes = greatest(wrong_codes - 1, 0)
    where user_id = ${userId} and secret_sealed = ${secretSealed} and pending_until is null and last_step < ${step}
    returning user_id`.execute(db)
  return rows.length > 0
}

export type StoredCode = { readonly id: number; readonly codeMac: Buffer }

export async function listUnusedCodes(db: Db, userId: number): Promise<StoredCode[]> {
  const { rows } = await sql<StoredCode>`
    select id, code_mac as "codeMac" from recovery_codes
    where user_id = ${userId} and used is null order by id`.execute(db)
  return rows
}

/** Marks the code as used; false if it was used already or deleted. */
export async function useCode(db: Db, { id }: StoredCode): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('recovery_codes')
    .set({ used: sql<Date>`now()` })
    .where('id', '=', id)
    .where('used', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Separate from `useCode`: updating both rows in one statement, in this order, could deadlock with `deleteFactor`. */
export async function refundCodeAttempt(db: Db, userId: number): Promise<void> {
  await sql`update second_factors set wrong_codes = greatest(wrong_codes - 1, 0) where user_id = ${userId}`.execute(
    db,
  )
}

/** Saves a secret to be confirmed; undefined if a factor is enabled. Counted attempts are kept. */
export async function savePendingFactor(
  trx: Trx,
  userId: number,
  secretSealed: Buffer,
  minutes: number,
): Promise<Date | undefined> {
  const { rows } = await sql<{ pendingUntil: Date }>`
    insert into second_factors as f (user_id, secret_sealed, pending_until)
    values (${userId}, ${secretSealed}, now() + make_interval(mins => ${minutes}))
    on conflict (user_id) do update set secret_sealed = excluded.secret_sealed,
      pending_until = excluded.pending_until, last_step = 0
    where f.pending_until is not null
    returning pending_until as "pendingUntil"`.execute(trx)
  return rows[0]?.pendingUntil
}

/** Enables the pending factor with its first code; undefined if it was replaced, is enabled already, or has expired. */
export async function enableFactor(
  trx: Trx,
  userId: number,
  step: number,
  secretSealed: Buffer,
): Promise<Date | undefined> {
  const { rows } = await sql<{ enabled: Date }>`
    with confirmed as (
      update second_factors set pending_until = null, last_step = ${step}, wrong_codes = greatest(wrong_codes - 1, 0)
      where user_id = ${userId} and pending_until > now() and secret_sealed = ${secretSealed} returning user_id)
    update users set totp_enabled = now() where id in (select user_id from confirmed)
    returning totp_enabled as enabled`.execute(trx)
  return rows[0]?.enabled
}

/** Without a secret, in the past: an authenticator that is neither enabled nor being set up. */
const noAuthenticator = sql`secret_sealed = null, pending_until = 'epoch', last_step = 0`

/** Deletes the authenticator, and the recovery codes unless the account has passkeys; false if it was not enabled. Locks in the same order as enabling. */
export async function deleteAuthenticator(trx: Trx, userId: number): Promise<boolean> {
  await sql`update second_factors set ${noAuthenticator} where user_id = ${userId}`.execute(trx)
  const { numUpdatedRows } = await trx
    .updateTable('users')
    .set({ totp_enabled: null })
    .where('id', '=', userId)
    .where('totp_enabled', 'is not', null)
    .executeTakeFirst()
  await deleteUnusedCodes(trx, userId)
  return numUpdatedRows > 0n
}

/** Deletes the recovery codes of an account that no longer has a second factor. */
export async function deleteUnusedCodes(trx: Trx, userId: number): Promise<void> {
  await sql`
    delete from second_factors f using users u where f.user_id = ${userId} and u.id = f.user_id and not ${hasFactor}`.execute(
    trx,
  )
  await sql`
    delete from recovery_codes c using users u where c.user_id = ${userId} and u.id = c.user_id and not ${hasFactor}`.execute(
    trx,
  )
}

/** Deletes every second factor and the recovery codes; false if there is none. */
export async function deleteFactors(trx: Trx, userId: number): Promise<boolean> {
  await lockCounter(trx, userId)
  const { rows } = await sql`
    update users u set totp_enabled = null, passkey_added = null where id = ${userId} and ${hasFactor} returning id`.execute(
    trx,
  )
  await trx.deleteFrom('passkeys').where('user_id', '=', userId).execute()
  await deleteUnusedCodes(trx, userId)
  return rows.length > 0
}

/** Locks the counter of wrong codes, and creates it: an account with passkeys only has recovery codes too. */
export async function lockCounter(trx: Trx, userId: number): Promise<void> {
  await sql`
    insert into second_factors as f (user_id, pending_until) values (${userId}, 'epoch')
    on conflict (user_id) do update set user_id = f.user_id`.execute(trx)
}

/** Returns whether the account has a second factor, and locks it until the transaction ends. */
export async function lockFactor(trx: Trx, userId: number): Promise<boolean> {
  const { rows } = await sql`
    select from second_factors f join users u on u.id = f.user_id where f.user_id = ${userId} and ${hasFactor}
    for update of f`.execute(trx)
  return rows.length > 0
}

/** Replaces all recovery codes. */
export async function replaceCodes(trx: Trx, userId: number, codeMacs: readonly Buffer[]): Promise<void> {
  await trx.deleteFrom('recovery_codes').where('user_id', '=', userId).execute()
  await trx
    .insertInto('recovery_codes')
    .values(codeMacs.map((code_mac) => ({ user_id: userId, code_mac })))
    .execute()
}

export type FactorStatus = {
  /** Of the authenticator. */
  readonly enabled: Date | null
  /** Of any kind. */
  readonly has_factor: boolean
  readonly codesLeft: number
}

export async function findFactorStatus(db: Db | Trx, userId: number): Promise<FactorStatus> {
  const { rows } = await sql<FactorStatus>`
    select totp_enabled as enabled, ${hasFactor} as has_factor,
      (select count(*)::integer from recovery_codes c where c.user_id = u.id and c.used is null) as "codesLeft"
    from users u where id = ${userId}`.execute(db)
  return rows[0] ?? { enabled: null, has_factor: false, codesLeft: 0 }
}

export type FactorHolder = { readonly userId: number; readonly email: string; readonly name: string }

const factorHolder = sql`
  select id as "userId", email, coalesce(nullif(display_name, ''), email) as name from users`

export async function findHolderByEmail(db: Db, email: string): Promise<FactorHolder | undefined> {
  const { rows } = await sql<FactorHolder>`${factorHolder} where lower(email) = lower(${email})`.execute(db)
  return rows[0]
}

export async function findFactorHolder(db: Db | Trx, userId: number): Promise<FactorHolder | undefined> {
  const { rows } = await sql<FactorHolder>`${factorHolder} where id = ${userId}`.execute(db)
  return rows[0]
}
