// Deletes accounts that have been in no team for a time: nobody can sign in to them. The time begins when the loop first sees an account without a
// team, so that one who leaves a team has all of it. Accounts of the provider's staff and of the platform file stay.
import { sql } from 'kysely'
import type { Db } from '../db/postgres.ts'
import { deleteInBatches } from '../db/retention.ts'
import { queueMail } from '../mail/mail.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { deleteAccount, lockForDeletion } from './delete-account.ts'

/** Between the mail and the deletion. */
const noticeDays = 30

type Deps = { readonly db: Db; readonly ring: KeyRing }

/** Not while it is invited: its deletion would withdraw the invitation. */
const isUnused = sql<boolean>`(not u.is_staff and u.managed_by = 'team' and not exists (select from memberships m where m.user_id = u.id)
  and not exists (select from invitations i where lower(i.email) = lower(u.email) and i.accepted is null and i.expires > now()))`

/** Returns the number of accounts that were told, and of those that were deleted. */
export async function expireAccounts(
  deps: Deps,
  months: number,
  signal: AbortSignal,
): Promise<{ readonly mailed: number; readonly deleted: number }> {
  await sql`
    delete from unused_accounts a using users u where u.id = a.user_id and not ${isUnused}`.execute(deps.db)
  await deleteInBatches(signal, (limit) => noteUnused(deps.db, limit))
  const mailed = await deleteInBatches(signal, (limit) => mailBatch(deps, months, limit), mailsAtOnce)
  return { mailed, deleted: await deleteDue(deps, months, signal) }
}

const mailsAtOnce = 100

async function noteUnused(db: Db, limit: number): Promise<number> {
  const { rows } = await sql`
    insert into unused_accounts (user_id)
    select u.id from users u where ${isUnused} and not exists (select from unused_accounts a where a.user_id = u.id)
    order by u.id limit ${limit}
    on conflict do nothing returning user_id`.execute(db)
  return rows.length
}

const mailBatch = ({ db, ring }: Deps, months: number, limit: number): Promise<number> =>
  db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ email: string }>`
      with due as (
        select a.user_id from unused_accounts a
        where a.mailed is null and a.since < now() - make_interval(months => ${months}) + make_interval(days => ${noticeDays})
        order by a.user_id limit ${limit} for update skip locked)
      update unused_accounts a set mailed = now() from due join users u on u.id = due.user_id
      where a.user_id = due.user_id returning u.email`.execute(trx)
    for (const { email: to } of rows)
      await queueMail(trx, ring, {
        to,
        teamId: null,
        template: 'account-unused',
        content: { days: noticeDays },
      })
    return rows.length
  })

async function deleteDue({ db, ring }: Deps, months: number, signal: AbortSignal): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    select user_id as id from unused_accounts
    where since < now() - make_interval(months => ${months}) and mailed < now() - make_interval(days => ${noticeDays})
    order by user_id`.execute(db)
  let deleted = 0
  for (const { id } of rows) {
    signal.throwIfAborted()
    deleted += await deleteUnused({ db, ring }, id)
  }
  return deleted
}

/** Another process may have deleted it, or a team added it, since it was found. */
const deleteUnused = ({ db, ring }: Deps, id: number): Promise<number> =>
  db.transaction().execute(async (trx) => {
    const account = await lockForDeletion(trx, id)
    const { rows } = await sql`select from users u where u.id = ${id} and ${isUnused}`.execute(trx)
    if (!account || rows.length === 0) return 0
    await deleteAccount(trx, ring, account, { author: { teamId: null, actor: 'pharos' }, address: null })
    return 1
  })
