// The second factor of a test user: enabled without the setup calls, and the codes of its authenticator.
import { sql } from 'kysely'
import { Secret, TOTP } from 'otpauth'
import { createRecoveryCodes, recoveryCodeMac } from '../../src/session/recovery-code.ts'
import { sealFactorSecret } from '../../src/session/second-factor-check.ts'
import { savePendingFactor } from '../../src/session/second-factor.store.ts'
import { createTotpSecret } from '../../src/session/totp.ts'
import type { Db, Trx } from '../../src/db/postgres.ts'
import type { TestApi } from '../api.ts'

export type TestFactor = {
  readonly userId: number
  readonly secret: Uint8Array
  readonly recoveryCodes: readonly string[]
}

/** Enables a second factor, replacing any other. */
export async function addSecondFactor(
  { database, config }: TestApi,
  userId: number,
  recoveryCodes: readonly string[] = createRecoveryCodes(),
): Promise<TestFactor> {
  const secret = createTotpSecret()
  const { owner } = database.postgres
  await owner.transaction().execute(async (trx) => {
    await sql`delete from second_factors where user_id = ${userId}`.execute(trx)
    await sql`delete from recovery_codes where user_id = ${userId}`.execute(trx)
    await sql`insert into second_factors (user_id, secret_sealed)
      values (${userId}, ${sealFactorSecret(config.secret, userId, secret)})`.execute(trx)
    await trx
      .insertInto('recovery_codes')
      .values(
        recoveryCodes.map((code) => ({
          user_id: userId,
          code_mac: recoveryCodeMac(config.secret, userId, code),
        })),
      )
      .execute()
    await sql`update users set totp_enabled = now() where id = ${userId}`.execute(trx)
    await markSessions(trx, userId, true)
  })
  return { userId, secret, recoveryCodes }
}

/** Makes the sessions of the user, or of all users, as if they had been opened with a second factor, or without one. */
export const markSessions = (db: Db | Trx, userId: number | null, strong: boolean) =>
  sql`
    update session_proofs p set strong = ${strong} from sessions s
    where s.id = p.session_id and p.strong <> ${strong} and s.user_id = coalesce(${userId}::integer, s.user_id)`.execute(
    db,
  )

/** Adds a factor whose first code is not confirmed yet and returns its secret. */
export async function addPendingFactor({ database, config }: TestApi, userId: number): Promise<Uint8Array> {
  const secret = createTotpSecret()
  const sealed = sealFactorSecret(config.secret, userId, secret)
  await database.postgres.owner.transaction().execute((trx) => savePendingFactor(trx, userId, sealed, 10))
  return secret
}

/** Removes all second factors. */
export async function removeSecondFactors({ database }: TestApi): Promise<void> {
  const { owner } = database.postgres
  await sql`update users set totp_enabled = null, passkey_added = null`.execute(owner)
  await sql`delete from passkeys`.execute(owner)
  await markSessions(owner, null, false)
  await sql`delete from second_factors`.execute(owner)
  await sql`delete from recovery_codes`.execute(owner)
}

/** Returns the current code of an authenticator; it is accepted for at least 30 s. */
export const codeOf = (secret: Uint8Array | string): string =>
  new TOTP({
    secret: typeof secret === 'string' ? secret : new Secret({ buffer: Uint8Array.from(secret).buffer }),
  }).generate()

/** Clears the last used time step of the user, so that the current code is accepted again. */
export async function passStep({ database }: TestApi, userId: number): Promise<void> {
  await sql`update second_factors set last_step = 0 where user_id = ${userId}`.execute(
    database.postgres.owner,
  )
}
