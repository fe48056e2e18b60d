// A user's roles in a team, read in one query and uncached: cached credentials cover only their own team.
import { sql } from 'kysely'
import type { Role } from '@pharos/contract/role'
import type { Db, Trx } from '../db/postgres.ts'
import type { StaffRole } from '@pharos/contract/staff-role'
import type { OpenAccess, UserActor } from '../operation/operation.ts'
import {
  blockedBy,
  isStrongInTeam,
  lacksStaffSignIn,
  neededProvider,
  staffRolesInSession,
  type BlockReason,
} from '../db/proofs.ts'
import { rolesOfMember } from '../db/roles.ts'

export type TeamAccessRow = {
  readonly teamId: number
  readonly modules: readonly string[]
  /** Whether a proof of the session that counts in the team is strong. */
  readonly isStrong: boolean
  /** Why the session does not open the team; null if it does. */
  readonly blocked_by: BlockReason | null
  /** Key of the identity provider of the team; null without an active one. */
  readonly provider: string | null
  /** With the rights of staff in this session. */
  readonly isStaff: boolean
  readonly lacks_staff_sign_in: boolean
  readonly staff_roles: readonly StaffRole[]
  /** The open access of the session to the team. */
  readonly access: OpenAccess | null
  /** Null: not a member of the team. */
  readonly roles: readonly Role[] | null
}

/** Returns undefined if the team does not exist. */
export async function findTeamAccess(
  db: Db | Trx,
  teamId: number,
  { userId, sessionId }: Pick<UserActor, 'userId' | 'sessionId'>,
): Promise<TeamAccessRow | undefined> {
  const { rows } = await sql<TeamAccessRow>`
    select t.id as "teamId", t.enabled_modules as modules, coalesce(o.is_strong, false) as "isStrong",
      case when o.is_strong is null then 'sign_in' else o.blocked_by end as blocked_by,
      ${neededProvider} as provider, u.is_staff and not coalesce(o.lacks_staff_sign_in, true) as "isStaff",
      u.is_staff and coalesce(o.lacks_staff_sign_in, true) as lacks_staff_sign_in, coalesce(o.staff_roles, '{}') as staff_roles, ${rolesOfMember} as roles,
      case when m.user_id is null and a.id is not null then json_build_object('id', a.id, 'change', a.change) end as access
    from teams t
    join users u on u.id = ${userId}
    left join memberships m on m.team_id = t.id and m.user_id = u.id
    left join lateral (
      select ${isStrongInTeam} as is_strong, ${blockedBy} as blocked_by, ${lacksStaffSignIn} as lacks_staff_sign_in,
        ${staffRolesInSession} as staff_roles from sessions s where s.id = ${sessionId}::uuid) o on true
    left join staff_accesses a on a.session_id = ${sessionId}::uuid and a.user_id = u.id and a.team_id = t.id
      and a.closed is null and a.expires > now()
    where t.id = ${teamId}::bigint`.execute(db)
  return rows[0]
}
