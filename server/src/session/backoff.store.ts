// Failed sign-ins in the database, by account and origin.
import { sql } from 'kysely'
import type { Db, Trx } from '../db/postgres.ts'
import type { Failures } from './backoff.ts'

export type FailureKey = {
  /** A MAC, so that accounts that do not exist are counted in the same way and are not stored as text. */
  readonly accountMac: Buffer
  /** A network from which the account has signed in before, or `elsewhere`. */
  readonly origin: string
}

/** Returns the address in the database's lower case, which identifies the account. */
export async function lowerCased(db: Db | Trx, email: string): Promise<string> {
  const { rows } = await sql<{ account: string }>`select lower(${email}) as account`.execute(db)
  return rows[0]!.account
}

/**
 * Returns the network of the address if the account signed in from it during the last 90 days: an IPv4 address, or the /64
 * of an IPv6 address, within which a subscriber's machines change addresses daily. Returns `elsewhere` otherwise.
 */
export async function findOrigin(db: Db, email: string, address: string): Promise<string> {
  const { rows } = await sql<{ network: string }>`
    with origin as (
      select case when family(a) = 6 and not a <<= '::ffff:0:0/96' then set_masklen(a, 64) else a end as network
      from (select ${address}::inet) as given(a))
    select network(o.network)::text as network from origin o
    where exists (
      select from users u join sessions s on s.user_id = u.id
      where lower(u.email) = lower(${email}) and s.created > now() - interval '90 days' and s.address <<= o.network)`.execute(
    db,
  )
  return rows[0]?.network ?? 'elsewhere'
}

export type LockedFailures = { readonly known: Failures; readonly now: Date }

/**
 * Returns the failures of the key, locked until the transaction ends, with the database's time. The commit does not wait for the
 * disk: a crash loses the failures of its last half second, and a flood writes 200 a second.
 */
export async function lockFailures(trx: Trx, { accountMac, origin }: FailureKey): Promise<LockedFailures> {
  // The write is needed even without a change: it locks the row, so that two concurrent first attempts wait for each
  // other.
  const { rows } = await sql<Failures & { now: Date }>`
    insert into sign_in_failures as known (account_mac, origin, failures, latest)
    values (${accountMac}, ${origin}, 0, 'epoch')
    on conflict (account_mac, origin) do update set failures = known.failures
    returning failures, latest, clock_timestamp() as now, set_config('synchronous_commit', 'off', true)`.execute(
    trx,
  )
  const { failures, latest, now } = rows[0]!
  return { known: { failures, latest }, now }
}

export async function saveFailures(trx: Trx, key: FailureKey, next: Failures): Promise<void> {
  await trx
    .updateTable('sign_in_failures')
    .set(next)
    .where('account_mac', '=', key.accountMac)
    .where('origin', '=', key.origin)
    .execute()
}

/** Removes one attempt that did not fail. Later attempts are kept. */
export async function removeAttempt(db: Db, key: FailureKey, began: Date, before: Date): Promise<void> {
  await sql`
    update sign_in_failures set failures = failures - 1,
      latest = case when latest = ${began} then ${before} else latest end
    where account_mac = ${key.accountMac} and origin = ${key.origin} and failures > 0`.execute(db)
}

export async function deleteFailures(db: Db | Trx, key: FailureKey): Promise<void> {
  await db
    .deleteFrom('sign_in_failures')
    .where('account_mac', '=', key.accountMac)
    .where('origin', '=', key.origin)
    .execute()
}

/** Deletes the failures of all origins. */
export async function deleteAllFailures(trx: Trx, accountMac: Buffer): Promise<void> {
  await trx.deleteFrom('sign_in_failures').where('account_mac', '=', accountMac).execute()
}
