// The lock of a team: every change of roles in it takes this lock first, so that such changes run one after the other, each
// seeing the result of the previous one.
import { sql } from 'kysely'
import type { Trx } from '../db/postgres.ts'

/** Locks the team and returns its name; undefined if it does not exist. Does not block the team's other reads and writes. */
export async function lockTeamRow(trx: Trx, teamId: number): Promise<{ name: string } | undefined> {
  const { rows } = await sql<{ name: string }>`
    select name from teams where id = ${teamId} for no key update`.execute(trx)
  return rows[0]
}

/** Returns whether the user is an admin of the team; undefined if not a member. */
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

/** Returns undefined for a revoked token. */
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
