// Account state that requests consume and that tests can restore: passwords, mail tokens, sessions to revoke.
import { sql } from 'kysely'
import { createMailToken } from '../../src/session/mail-token.ts'
import { hashPassword } from '../../src/session/password.ts'
import { testPassword, type TestApi } from '../api.ts'
import type { Fixtures } from './fixtures.ts'

/** The first belongs to red's admin, the second to another user. */
export const spareSessions = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222']

/** As the sessions. */
export const sparePasskeys = [900_001, 900_002]

export type SpareAccounts = {
  readonly confirmToken: string
  readonly resetToken: string
  /** Restores the initial state. */
  restore(): Promise<void>
}

/** The tokens belong to a user who makes no calls. */
export async function createSpareAccounts(api: TestApi, fixtures: Fixtures): Promise<SpareAccounts> {
  const { owner } = api.database.postgres
  const password_hash = await hashPassword(testPassword)
  const setPasswords = () =>
    owner.updateTable('users').set({ password_hash }).where('password_hash', '<>', '-').execute()
  await setPasswords()
  const { userId, email } = fixtures.people.former
  const [confirmToken, resetToken] = await owner
    .transaction()
    .execute(async (trx) => [
      await createMailToken(trx, api.config.secret, 'confirm-email', userId, email),
      await createMailToken(trx, api.config.secret, 'password-reset', userId, email),
    ])
  const tokens = await owner.selectFrom('mail_tokens').selectAll().where('user_id', '=', userId).execute()
  return {
    confirmToken: confirmToken!,
    resetToken: resetToken!,
    async restore() {
      await setPasswords()
      await owner.deleteFrom('mail_tokens').where('user_id', '=', userId).execute()
      await owner.insertInto('mail_tokens').values(tokens).execute()
      await restoreSessions(api, fixtures)
    },
  }
}

async function restoreSessions({ database }: TestApi, { people, red }: Fixtures): Promise<void> {
  for (const [at, { userId }] of [people.admin, people.former].entries()) {
    await sql`
      insert into sessions (id, user_id, team_id, expires)
      values (${spareSessions[at]}, ${userId}, ${red.teamId}, now() + interval '1 hour')
      on conflict (id) do update set revoked = null, expires = excluded.expires`.execute(
      database.postgres.owner,
    )
    await sql`
      insert into passkeys (id, user_id, credential_id, public_key, counter, transports, backed_up, aaguid, relying_party, name)
      overriding system value
      values (${sparePasskeys[at]}, ${userId}, ${`spare-${at}`}, '', 0, '{}', false, gen_random_uuid(), 'localhost', 'Spare')
      on conflict (id) do nothing`.execute(database.postgres.owner)
  }
}
