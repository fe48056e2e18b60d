// The lock of a team: every change of roles in it takes this lock first, so that such changes run one after the other,
// each based on the previous one.
import type { Role } from '@pharos/contract/role'
import { sql } from 'kysely'
import type { Trx } from '../db/postgres.ts'
import { rolesOfMember } from '../db/roles.ts'

/** Locks the team and returns its name; undefined if it does not exist. Does not block the team's other reads and writes. */
export async function lockTeamRow(trx: Trx, teamId: number): Promise<{ name: string } | undefined> {
  const { rows } = await sql<{ name: string }>`
    select name from teams where id = ${teamId}::bigint for no key update`.execute(trx)
  return rows[0]
}

/** Returns the roles of the user in the team; undefined if not a member. */
export async function findRoles(trx: Trx, teamId: number, userId: number): Promise<Role[] | undefined> {
  const { rows } = await sql<{ roles: Role[] }>`
    select ${rolesOfMember} as roles from memberships m
    where m.team_id = ${teamId} and m.user_id = ${userId}`.execute(trx)
  return rows[0]?.roles
}

/** Returns the roles of members for whom an admin has not chosen roles. */
export async function readDefaultRoles(trx: Trx, teamId: number): Promise<Role[]> {
  const { rows } = await sql<{ roles: Role[] }>`
    select default_roles as roles from teams where id = ${teamId}`.execute(trx)
  return rows[0]!.roles
}

export type TokenRow = {
  readonly isAdmin: boolean
  /** Null: the token has no service account. */
  readonly serviceRoles: Role[] | null
}

/**
 * Returns the source of the token's roles; undefined for a revoked token and for a token of a disabled service account.
 */
export async function findTokenRow(trx: Trx, teamId: number, tokenId: string): Promise<TokenRow | undefined> {
  const { rows } = await sql<TokenRow>`
    select a.is_admin as "isAdmin", s.roles as "serviceRoles"
    from api_tokens a left join service_accounts s on s.id = a.service_account_id
    where a.team_id = ${teamId} and a.id = ${tokenId} and a.revoked is null and s.disabled is not true`.execute(
    trx,
  )
  return rows[0]
}

/** Reports whether an access of staff is open. Row-level security hides those to other teams. */
export async function isOpenAccess(trx: Trx, id: number): Promise<boolean> {
  const { rows } = await sql`
    select from staff_accesses where id = ${id} and closed is null and expires > now()`.execute(trx)
  return rows.length > 0
}
