// The SQL of a team's members and its invitations, as one kind of row: reads, updates and deletes. Every statement is
// limited to the team.
import type { listMembersRoute, rolesSources } from '@pharos/contract/team/member'
import type { Role } from '@pharos/contract/role'
import type { QueryOf } from '@pharos/contract/route'
import type { Scope } from '@pharos/contract/scope'
import { sql, type RawBuilder } from 'kysely'
import { columns, type RowOf } from '../db/columns.ts'
import { andAll, listInTeam, orderBy, type Page } from '../db/page.ts'
import type { Postgres, Trx } from '../db/postgres.ts'
import { hasFactor } from '../db/proofs.ts'
import { rolesOfInvitation, rolesOfMember } from '../db/roles.ts'

export type MemberStatus = 'active' | 'invited'
type RolesSource = (typeof rolesSources)[number]

/**
 * Members and open invitations. The inviter is shown while visible to the team: only members are. The time of the last
 * use is that in this team, not in other teams of the user.
 */
const membersOf = (teamId: number): RawBuilder<unknown> => sql`
  select m.id, m.user_id, u.email, u.display_name, m.is_admin, ${rolesOfMember} as roles, m.roles_source, 'active' as status, m.invited_by, m.joined,
    (select max(s.last_used) from sessions s where s.user_id = m.user_id and s.team_id = m.team_id) as last_seen,
    ${hasFactor} as two_factor, m.version
  from memberships m join users u on u.id = m.user_id
  where m.team_id = ${teamId}
  union all
  select i.id, null, i.email, '', i.is_admin, ${rolesOfInvitation}, 'manual', 'invited', i.invited_by, null, null, false, i.version
  from invitations i
  where i.team_id = ${teamId} and i.accepted is null and i.expires > now()`

/** Of members and invitations `a`. An invitation has no `user_id`, whether or not the address has an account. */
const memberColumns = columns('memberships', 'a', ['id', 'is_admin', 'version'], {
  user_id: sql<number | null>`a.user_id`,
  email: sql<string>`a.email`,
  display_name: sql<string>`a.display_name`,
  roles: sql<Role[]>`a.roles`,
  roles_source: sql<RolesSource>`a.roles_source`,
  status: sql<MemberStatus>`a.status`,
  invited_by: sql<string | null>`(select b.email from users b where b.id = a.invited_by)`,
  joined: sql<Date | null>`a.joined`,
  last_seen: sql<Date | null>`a.last_seen`,
  two_factor: sql<boolean>`a.two_factor`,
})
export type MemberRow = RowOf<typeof memberColumns>

const oneOf = (teamId: number, id: number) =>
  sql<MemberRow>`select ${memberColumns} from (${membersOf(teamId)}) a where a.id = ${id}::bigint`

export async function findMember(
  postgres: Postgres,
  teamId: number,
  id: number,
): Promise<MemberRow | undefined> {
  return (await postgres.readInTeam(teamId, oneOf(teamId, id)))[0]
}

/** The same in a transaction. */
export async function readMember(trx: Trx, teamId: number, id: number): Promise<MemberRow | undefined> {
  return (await oneOf(teamId, id).execute(trx)).rows[0]
}

/** Returns a page. Members who never joined or were never active sort first. */
export const listMemberRows = (
  postgres: Postgres,
  teamId: number,
  { email, status, is_admin, ...query }: QueryOf<typeof listMembersRoute>,
): Promise<Page<MemberRow>> =>
  listInTeam(postgres, teamId, {
    matching: sql`
      select * from (${membersOf(teamId)}) a where true ${andAll(
        email !== undefined && sql`position(lower(${email}) in lower(a.email)) > 0`,
        status !== undefined && sql`a.status = ${status}`,
        is_admin !== undefined && sql`a.is_admin = ${is_admin}`,
      )}`,
    columns: memberColumns,
    order: orderBy(
      query.ordering,
      {
        email: sql`lower(a.email) collate "C"`,
        id: sql`a.id`,
        is_admin: sql`a.is_admin`,
        status: sql`a.status collate "C"`,
        joined: sql`a.joined`,
        last_seen: sql`a.last_seen`,
      },
      sql`a.id`,
    ),
    slice: query,
  })

/** Returns the number of members and open invitations, which is limited per team. */
export async function countMembers(trx: Trx, teamId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select (select count(*) from memberships where team_id = ${teamId})
      + (select count(*) from invitations where team_id = ${teamId} and accepted is null and expires > now())
      as count`.execute(trx)
  return rows[0]!.count
}

/** Returns whether a member has the address, compared case-insensitively. */
export async function isMemberAddress(trx: Trx, teamId: number, email: string): Promise<boolean> {
  const { rows } = await sql`
    select from memberships m join users u on u.id = m.user_id
    where m.team_id = ${teamId} and lower(u.email) = lower(${email})`.execute(trx)
  return rows.length > 0
}

/** Returns whether the team has an admin besides this member. Valid for as long as the team is locked. */
export async function hasOtherAdmin(trx: Trx, teamId: number, id: number): Promise<boolean> {
  const { rows } = await sql`
    select from memberships where team_id = ${teamId} and is_admin and id <> ${id} limit 1`.execute(trx)
  return rows.length > 0
}

/** From then on the team decides on the roles, not the platform file. */
export async function saveRoles(
  trx: Trx,
  teamId: number,
  member: MemberRow,
  roles: readonly Role[],
): Promise<void> {
  const columns = sql`roles = ${roles}, is_admin = ${roles.includes('admin')}`
  await (
    member.status === 'active'
      ? sql`update memberships set ${columns}, roles_source = 'manual', managed_by = 'team'
          where team_id = ${teamId} and id = ${member.id}`
      : sql`update invitations set ${columns} where team_id = ${teamId} and id = ${member.id}`
  ).execute(trx)
}

/** Records the former membership, so that only an invitation makes the user a member again, or SCIM if it has ended it. */
export async function deleteMembership(
  trx: Trx,
  teamId: number,
  userId: number,
  endedBy: 'team' | 'scim' = 'team',
): Promise<void> {
  await sql`delete from memberships where team_id = ${teamId} and user_id = ${userId}`.execute(trx)
  await sql`
    insert into former_members (team_id, user_id, ended_by) values (${teamId}, ${userId}, ${endedBy}) on conflict do nothing`.execute(
    trx,
  )
}

/** Ends the user's sessions in the team; returns their number. */
export async function revokeSessionsIn(trx: Trx, teamId: number, userId: number): Promise<number> {
  const { numAffectedRows } = await sql`
    update sessions set revoked = now(), revoked_reason = 'removed from the team'
    where team_id = ${teamId} and user_id = ${userId} and revoked is null`.execute(trx)
  return Number(numAffectedRows)
}

/** Removes the role admin and the scopes from the API tokens that the user created for the team; returns the ids of changed tokens. */
export async function demoteTokensOf(
  trx: Trx,
  teamId: number,
  userId: number,
  lost: { readonly isAdmin: boolean; readonly scopes: readonly Scope[] },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update api_tokens set is_admin = is_admin and not ${lost.isAdmin}::boolean,
      scopes = array(select s from unnest(scopes) with ordinality o (s, at) where s <> all(${lost.scopes}::text[]) order by at)
    where team_id = ${teamId} and created_by = ${userId} and revoked is null and service_account_id is null
      and ((is_admin and ${lost.isAdmin}::boolean) or scopes && ${lost.scopes}::text[])
    returning id`.execute(trx)
  return rows.map(({ id }) => id)
}

export async function revokeTokensOf(trx: Trx, teamId: number, userId: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update api_tokens set revoked = now()
    where team_id = ${teamId} and created_by = ${userId} and revoked is null and service_account_id is null returning id`.execute(
    trx,
  )
  return rows.map(({ id }) => id)
}

/** Returns the teams that the user has joined, or in which the user created API tokens or sent invitations that are still valid. */
export async function listTeamsHeldIn(trx: Trx, userId: number): Promise<number[]> {
  const { rows } = await sql<{ teamId: number }>`
    select team_id as "teamId" from memberships where user_id = ${userId}
    union select team_id from api_tokens where created_by = ${userId} and revoked is null and service_account_id is null
    union select team_id from invitations where invited_by = ${userId} and accepted is null
    order by 1`.execute(trx)
  return rows.map(({ teamId }) => teamId)
}
