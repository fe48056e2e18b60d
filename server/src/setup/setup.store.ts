// The SQL of the first run: whether it is open, its code, and what is left to set up.
import { sql } from 'kysely'
import type { Db, Trx } from '../db/postgres.ts'

/**
 * Returns whether the first account may be created: there is no account, none was created here before, and the database was never
 * restored.
 */
export async function findSetupOpen(db: Db | Trx): Promise<boolean> {
  const { rows } = await sql<{ open: boolean }>`
    select not exists (select from users)
      and not exists (select from setup where completed is not null)
      and not exists (select from restores) as open`.execute(db)
  return rows[0]!.open
}

export type SetupSalt = { readonly salt: string; readonly expires: Date }

/** Returns the stored code if it has not expired. */
export async function findCode(db: Db | Trx): Promise<SetupSalt | undefined> {
  const { rows } = await sql<SetupSalt>`
    select salt, expires from setup where salt is not null and expires > now()`.execute(db)
  return rows[0]
}

/** Stores the salt unless there is one that has not expired; two processes that start together keep the first. */
export async function saveCode(db: Db, salt: string, hours: number): Promise<void> {
  await sql`
    insert into setup as s (salt, expires) values (${salt}, now() + make_interval(hours => ${hours}))
    on conflict (key) do update set salt = excluded.salt, expires = excluded.expires
    where s.expires is null or s.expires <= now()`.execute(db)
}

/** The code is gone with it. Returns false if another request has completed the setup. */
export async function completeSetup(trx: Trx): Promise<boolean> {
  const { rows } = await sql`
    insert into setup as s (completed) values (now())
    on conflict (key) do update set completed = now(), salt = null, expires = null
    where s.completed is null returning key`.execute(trx)
  return rows.length === 1
}

/** Its user chose the password. Returns the account with its team. */
export async function finishAccount(
  trx: Trx,
  email: string,
): Promise<{ readonly user_id: number; readonly team_id: number }> {
  const { rows } = await sql<{ user_id: number; team_id: number }>`
    update users u set password_chosen = now() from memberships m
    where lower(u.email) = lower(${email}) and m.user_id = u.id
    returning u.id as user_id, m.team_id`.execute(trx)
  return rows[0]!
}

/** A team without staff is a customer. */
export async function findProgress(db: Db | Trx): Promise<ProgressRow> {
  const { rows } = await sql<ProgressRow>`
    select
      exists (select from provider where support is not null) as provider,
      exists (select from users where is_staff)
        and not exists (select from users
          where is_staff and totp_enabled is null and passkey_added is null) as second_factor,
      exists (select from regions where open) as region,
      exists (select from sources) as detector,
      exists (select from devices) as device,
      exists (select from teams t where not exists (
        select from memberships m join users u on u.id = m.user_id where m.team_id = t.id and u.is_staff)) as customer,
      exists (select from setup s where s.dismissed is not null) as dismissed`.execute(db)
  return rows[0]!
}

export type ProgressRow = {
  readonly provider: boolean
  readonly second_factor: boolean
  readonly region: boolean
  readonly detector: boolean
  readonly device: boolean
  readonly customer: boolean
  readonly dismissed: boolean
}

/** Keeps the time of an earlier dismissal. */
export async function saveDismissed(trx: Trx, dismissed: boolean): Promise<void> {
  await sql`
    insert into setup as s (dismissed) values (case when ${dismissed} then now() end)
    on conflict (key) do update set dismissed = case when ${dismissed} then coalesce(s.dismissed, now()) end`.execute(
    trx,
  )
}
