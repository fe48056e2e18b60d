// A user's roles in a team, read in one query and uncached: cached credentials cover only their own team.
import { sql } from 'kysely'
import type { Role } from '@pharos/contract/role'
import type { Db } from '../db/postgres.ts'
import { rolesOfMember } from '../db/roles.ts'

export type TeamAccessRow = {
  readonly teamId: number
  readonly modules: readonly string[]
  readonly requiresFactor: boolean
  readonly hasFactor: boolean
  readonly isStaff: boolean
  /** Null: not a member of the team. */
  readonly roles: readonly Role[] | null
}

/** Returns undefined if the team does not exist. */
export async function findTeamAccess(
  db: Db,
  teamId: number,
  userId: number,
): Promise<TeamAccessRow | undefined> {
  const { rows } = await sql<TeamAccessRow>`
    select t.id as "teamId", t.enabled_modules as modules, t.require_2fa as "requiresFactor",
      u.totp_enabled is not null as "hasFactor", u.is_staff as "isStaff", ${rolesOfMember} as roles
    from teams t
    join users u on u.id = ${userId}
    left join memberships m on m.team_id = t.id and m.user_id = u.id
    where t.id = ${teamId}::bigint`.execute(db)
  return rows[0]
}
