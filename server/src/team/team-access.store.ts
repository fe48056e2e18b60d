// A user's role in a team, read in one query and uncached: cached credentials cover only their own team.
import { sql } from 'kysely'
import type { Db } from '../db/postgres.ts'

export type TeamAccessRow = {
  readonly teamId: number
  readonly modules: readonly string[]
  readonly requiresFactor: boolean
  readonly hasFactor: boolean
  readonly isStaff: boolean
  /** Null: not a member of the team. */
  readonly isAdmin: boolean | null
}

/** Returns undefined if the team does not exist. */
export async function findTeamAccess(
  db: Db,
  teamId: number,
  userId: number,
): Promise<TeamAccessRow | undefined> {
  const { rows } = await sql<TeamAccessRow>`
    select t.id as "teamId", t.enabled_modules as modules, t.require_2fa as "requiresFactor",
      u.totp_enabled is not null as "hasFactor", u.is_staff as "isStaff", m.is_admin as "isAdmin"
    from teams t
    join users u on u.id = ${userId}
    left join memberships m on m.team_id = t.id and m.user_id = u.id
    where t.id = ${teamId}::bigint`.execute(db)
  return rows[0]
}
