// The lock of a team: whoever changes who may do what in it takes it first, so that two such changes come one after the
// other, each seeing what the other left.
import { sql } from 'kysely'
import type { Trx } from '../db/postgres.ts'

/** The team's name; undefined if the team does not exist. Members can read and work meanwhile. */
export async function lockTeamRow(trx: Trx, teamId: number): Promise<{ name: string } | undefined> {
  const { rows } = await sql<{ name: string }>`
    select name from teams where id = ${teamId} for no key update`.execute(trx)
  return rows[0]
}

/** Whether the user is an admin of the team; undefined: not even a member. */
export async function findMembership(
  trx: Trx,
  teamId: number,
  userId: number,
): Promise<{ isAdmin: boolean } | undefined> {
  const { rows } = await sql<{ isAdmin: boolean }>`
    select is_admin as "isAdmin" from memberships where team_id = ${teamId} and user_id = ${userId}`.execute(
    trx,
  )
  return rows[0]
}

/** Undefined for a token that was revoked. */
export async function findTokenRole(
  trx: Trx,
  teamId: number,
  tokenId: string,
): Promise<{ isAdmin: boolean } | undefined> {
  const { rows } = await sql<{ isAdmin: boolean }>`
    select is_admin as "isAdmin" from api_tokens
    where team_id = ${teamId} and id = ${tokenId} and revoked is null`.execute(trx)
  return rows[0]
}
