// The SQL of a team's members and of those whom it has invited, as one kind of row: reads, and what PATCH and DELETE
// come to. Every statement names the team.
import { sql, type RawBuilder } from 'kysely'
import type { Postgres, Trx } from '../db/postgres.ts'

export type MemberStatus = 'active' | 'invited'

export type MemberRow = {
  readonly id: number
  /** Null of somebody who is invited, whether or not he has an account. */
  readonly user_id: number | null
  readonly email: string
  readonly display_name: string
  readonly is_admin: boolean
  readonly status: MemberStatus
  readonly invited_by: string | null
  readonly joined: Date | null
  readonly last_seen: Date | null
  readonly two_factor: boolean
  readonly version: number
}

/**
 * Members, and invitations that are open. Who invited is shown while the team sees him: the users that it sees are its
 * members. When somebody was last seen is said of this team, not of others that he works in.
 */
const membersOf = (teamId: number): RawBuilder<unknown> => sql`
  select m.id, m.user_id, u.email, u.display_name, m.is_admin, 'active' as status, m.invited_by, m.joined,
    (select max(s.last_used) from sessions s where s.user_id = m.user_id and s.team_id = m.team_id) as last_seen,
    u.totp_enabled is not null as two_factor, m.version
  from memberships m join users u on u.id = m.user_id
  where m.team_id = ${teamId}
  union all
  select i.id, null, i.email, '', i.is_admin, 'invited', i.invited_by, null, null, false, i.version
  from invitations i
  where i.team_id = ${teamId} and i.accepted is null and i.expires > now()`

const columns = sql`a.id, a.user_id, a.email, a.display_name, a.is_admin, a.status,
  (select b.email from users b where b.id = a.invited_by) as invited_by, a.joined, a.last_seen, a.two_factor, a.version`

const oneOf = (teamId: number, id: number): RawBuilder<unknown> =>
  sql`select ${columns} from (${membersOf(teamId)}) a where a.id = ${id}::bigint`

export async function findMember(
  postgres: Postgres,
  teamId: number,
  id: number,
): Promise<MemberRow | undefined> {
  const [row] = await postgres.readInTeam<MemberRow>(teamId, oneOf(teamId, id).compile(postgres.owner))
  return row
}

/** The same in a transaction. */
export async function readMember(trx: Trx, teamId: number, id: number): Promise<MemberRow | undefined> {
  const { rows } = await sql<MemberRow>`${oneOf(teamId, id)}`.execute(trx)
  return rows[0]
}

export type MemberOrderingKey = 'email' | 'id' | 'is_admin' | 'status' | 'joined' | 'last_seen'
export type MemberOrder = { readonly key: MemberOrderingKey; readonly descending: boolean }

export type MemberQuery = {
  readonly email?: string
  readonly status?: MemberStatus
  readonly is_admin?: boolean
  readonly order: readonly MemberOrder[]
  readonly limit: number
  readonly offset: number
}

/** A page and the exact count, from one snapshot. */
export async function listMemberRows(
  postgres: Postgres,
  teamId: number,
  { order, limit, offset, ...filter }: MemberQuery,
): Promise<{ page: MemberRow[]; count: number }> {
  const query = sql`
    with matching as (
      select * from (${membersOf(teamId)}) a where true ${sql.join(conditions(filter), sql` `)}),
    page as (
      select row_number() over () as place, p.* from (
        select * from matching a order by ${ordering(order)} limit ${limit} offset ${offset}) p)
    select c.count, ${columns}
    from (select count(*) from matching) c left join page a on true
    order by a.place`
  const rows = await postgres.readInTeam<MemberRow & { count: number }>(teamId, query.compile(postgres.owner))
  return { page: rows.filter(({ id }) => id !== null), count: rows[0]!.count }
}

function conditions({ email, status, is_admin }: Omit<MemberQuery, 'order' | 'limit' | 'offset'>) {
  return [
    email === undefined ? sql`` : sql`and position(lower(${email}) in lower(a.email)) > 0`,
    status === undefined ? sql`` : sql`and a.status = ${status}`,
    is_admin === undefined ? sql`` : sql`and a.is_admin = ${is_admin}`,
  ]
}

const orderings: Record<MemberOrderingKey, RawBuilder<unknown>> = {
  email: sql`lower(a.email) collate "C"`,
  id: sql`a.id`,
  is_admin: sql`a.is_admin`,
  status: sql`a.status collate "C"`,
  joined: sql`a.joined`,
  last_seen: sql`a.last_seen`,
}

/** Who has not joined, or was never seen, comes after those who were, in either direction before them. */
function ordering(order: readonly MemberOrder[]): RawBuilder<unknown> {
  const keys = order.map(({ key, descending }) =>
    descending ? sql`${orderings[key]} desc nulls last` : sql`${orderings[key]} asc nulls first`,
  )
  return sql.join([...keys, sql`a.id`])
}

/** Members and open invitations, of which a team has a limited number. */
export async function countMembers(trx: Trx, teamId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select (select count(*) from memberships where team_id = ${teamId})
      + (select count(*) from invitations where team_id = ${teamId} and accepted is null and expires > now())
      as count`.execute(trx)
  return rows[0]!.count
}

/** Whether somebody with the address is a member, in whatever case it is written. */
export async function isMember(trx: Trx, teamId: number, email: string): Promise<boolean> {
  const { rows } = await sql`
    select from memberships m join users u on u.id = m.user_id
    where m.team_id = ${teamId} and lower(u.email) = lower(${email})`.execute(trx)
  return rows.length > 0
}

/** Whether the team has an admin beside this member. Holds for as long as the team is locked. */
export async function hasOtherAdmin(trx: Trx, teamId: number, id: number): Promise<boolean> {
  const { rows } = await sql`
    select from memberships where team_id = ${teamId} and is_admin and id <> ${id} limit 1`.execute(trx)
  return rows.length > 0
}

/** From then on the role is the team's own decision. */
export async function setAdmin(trx: Trx, teamId: number, member: MemberRow, isAdmin: boolean): Promise<void> {
  await (
    member.status === 'active'
      ? sql`update memberships set is_admin = ${isAdmin}, managed_by = 'team'
          where team_id = ${teamId} and id = ${member.id}`
      : sql`update invitations set is_admin = ${isAdmin} where team_id = ${teamId} and id = ${member.id}`
  ).execute(trx)
}

/** Notes that he was a member, so that only an invitation brings him back. */
export async function deleteMembership(trx: Trx, teamId: number, userId: number): Promise<void> {
  await sql`delete from memberships where team_id = ${teamId} and user_id = ${userId}`.execute(trx)
  await sql`
    insert into former_members (team_id, user_id) values (${teamId}, ${userId}) on conflict do nothing`.execute(
    trx,
  )
}

/** Ends the user's sessions that work in the team; how many. */
export async function revokeSessionsIn(trx: Trx, teamId: number, userId: number): Promise<number> {
  const { numAffectedRows } = await sql`
    update sessions set revoked = now(), revoked_reason = 'removed from the team'
    where team_id = ${teamId} and user_id = ${userId} and revoked is null`.execute(trx)
  return Number(numAffectedRows)
}

/** Takes the admin role from the API tokens that the user made for the team; their ids. */
export async function demoteTokensOf(trx: Trx, teamId: number, userId: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update api_tokens set is_admin = false
    where team_id = ${teamId} and created_by = ${userId} and is_admin and revoked is null returning id`.execute(
    trx,
  )
  return rows.map(({ id }) => id)
}

export async function revokeTokensOf(trx: Trx, teamId: number, userId: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update api_tokens set revoked = now()
    where team_id = ${teamId} and created_by = ${userId} and revoked is null returning id`.execute(trx)
  return rows.map(({ id }) => id)
}
