// The SQL of deleting an account. Most of it follows from the row of the user: the database deletes what refers to it.
import { sql } from 'kysely'
import type { DeletedAccount } from '@pharos/contract/session/personal-data'
import type { Db, Trx } from '../db/postgres.ts'

export type DeletedParts = Omit<DeletedAccount, 'user_id' | 'teams'>

export async function countParts(trx: Trx, userId: number, email: string): Promise<DeletedParts> {
  const ofUser = (table: string) => sql`(select count(*) from ${sql.table(table)} where user_id = ${userId})`
  const { rows } = await sql<DeletedParts>`
    select ${ofUser('sessions')} as sessions, ${ofUser('user_identities')} as identities, ${ofUser('passkeys')} as passkeys,
      ${ofUser('notifications')} as notifications, (select count(*) from audit_addresses
        where erased is null and (user_id = ${userId} or lower(value) = lower(${email}))) as audit_texts`.execute(
    trx,
  )
  return rows[0]!
}

export type AdministeredTeam = { readonly id: number; readonly name: string }

/** Teams that would have no admin without the user. Valid for as long as the teams are locked. */
export async function listTeamsLeftWithoutAdmin(trx: Trx, userId: number): Promise<AdministeredTeam[]> {
  const { rows } = await sql<AdministeredTeam>`
    select t.id, t.name from memberships m join teams t on t.id = m.team_id
    where m.user_id = ${userId} and m.is_admin
      and not exists (select from memberships o where o.team_id = m.team_id and o.is_admin and o.user_id <> ${userId})
    order by t.id`.execute(trx)
  return rows
}

export async function findNamesOfTeams(
  trx: Trx,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const { rows } =
    await sql<AdministeredTeam>`select id, name from teams where id = any(${ids}::integer[])`.execute(trx)
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** Whether the platform file made the account: it would make it again. */
export async function isManagedByFile(db: Db | Trx, userId: number): Promise<boolean> {
  const { rows } = await sql<{ managed_by: string }>`
    select managed_by from users where id = ${userId}`.execute(db)
  return rows[0]?.managed_by === 'operator'
}

/** Also what contains the address without referring to the account: invitations to it, and mails, of which none is sent any more. */
export async function deleteUser(trx: Trx, userId: number, email: string): Promise<void> {
  await sql`delete from invitations where lower(email) = lower(${email})`.execute(trx)
  await sql`delete from mails where lower(recipient) = lower(${email})`.execute(trx)
  await sql`delete from users where id = ${userId}`.execute(trx)
}
