// The SQL of SCIM resources. Each statement names the team of the token. Lists are read as the team; changes are made as the owner, since accounts belong to no team.
import { sql, type RawBuilder } from 'kysely'
import { errorCode } from '../db/errno.ts'
import { columns, type RowOf } from '../db/columns.ts'
import { listInTeam, type Page } from '../db/page.ts'
import type { Postgres, Trx } from '../db/postgres.ts'
import { ScimError } from './error.ts'
import type { GroupFields } from './group.ts'
import type { UserFields } from './user.ts'

/** The provider of a token. */
export type ScimProvider = { readonly id: number; readonly teamId: number }

const userColumns = columns('scim_users', 's', [
  'id',
  'user_name',
  'external_id',
  'email',
  'display_name',
  'given_name',
  'family_name',
  'active',
  'user_id',
  'created',
  'updated',
  'version',
])
export type UserRow = RowOf<typeof userColumns>

export type GroupMember = { readonly value: string; readonly display: string }

const groupColumns = columns('scim_groups', 'g', [
  'id',
  'display_name',
  'external_id',
  'created',
  'updated',
  'version',
])
export type ScimGroupRow = RowOf<typeof groupColumns>
/** Null: the members were not asked for. */
export type GroupWithMembers = ScimGroupRow & { readonly members: readonly GroupMember[] | null }

export type ResourceSlice = { readonly limit: number; readonly offset: number }
type Condition = RawBuilder<unknown>

const all = (conditions: readonly Condition[]): Condition =>
  conditions.length === 0 ? sql`` : sql`and ${sql.join(conditions, sql` and `)}`

/** `condition` is of scim_users `s`. */
export const listUserRows = (
  postgres: Postgres,
  { id, teamId }: ScimProvider,
  conditions: readonly Condition[],
  slice: ResourceSlice,
): Promise<Page<UserRow>> =>
  listInTeam(postgres, teamId, {
    matching: sql`
      select s.* from scim_users s where s.team_id = ${teamId} and s.provider_id = ${id} ${all(conditions)}`,
    columns: userColumns,
    order: sql`s.created, s.id`,
    slice,
    isIndexed: true,
  })

const oneUser = ({ id, teamId }: ScimProvider, userId: string, lock: Condition = sql``) => sql<UserRow>`
  select ${userColumns} from scim_users s
  where s.team_id = ${teamId} and s.provider_id = ${id} and s.id = ${userId}::uuid ${lock}`

export async function findScimUser(
  postgres: Postgres,
  provider: ScimProvider,
  userId: string,
): Promise<UserRow | undefined> {
  return (await postgres.readInTeam(provider.teamId, oneUser(provider, userId)))[0]
}

export async function lockUserRow(
  trx: Trx,
  provider: ScimProvider,
  userId: string,
): Promise<UserRow | undefined> {
  return (await oneUser(provider, userId, sql`for no key update`).execute(trx)).rows[0]
}

export async function countGroups(trx: Trx, { id, teamId }: ScimProvider): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) from scim_groups where team_id = ${teamId} and provider_id = ${id}`.execute(trx)
  return rows[0]!.count
}

/** Throws ScimError if another row of the provider has the name or the address. */
async function unlessTaken<T>(statement: () => Promise<T>): Promise<T> {
  try {
    return await statement()
  } catch (error) {
    throw errorCode(error) === '23505' ? new ScimError('taken', { cause: error }) : error
  }
}

/** What a new user needs: a domain that is verified for the team now, and bound to the provider, and fewer than `usersMax` users. Throws ScimError. */
export async function insertUser(
  trx: Trx,
  { id, teamId }: ScimProvider,
  fields: UserFields,
  domain: string,
  usersMax: number,
): Promise<{ readonly row: UserRow; readonly count: number }> {
  const { user_name, external_id, email, display_name, given_name, family_name, active } = fields
  const { rows } = await unlessTaken(() =>
    sql<{ [Name in keyof UserRow]: UserRow[Name] | null } & { count: number; is_bound: boolean }>`
      with facts as materialized (select ${isBound(id, teamId, domain)} as is_bound,
        (select count(*) from scim_users where team_id = ${teamId} and provider_id = ${id}) as count),
      added as (
        insert into scim_users (provider_id, team_id, user_name, external_id, email, display_name, given_name, family_name, active)
        select ${id}::integer, ${teamId}::integer, ${user_name}::text, ${external_id}::text, ${email}::text, ${display_name}::text,
          ${given_name}::text, ${family_name}::text, ${active}::boolean
        from facts where is_bound and count < ${usersMax}::bigint returning *)
      select ${userColumns}, f.count, f.is_bound from facts f left join added s on true`.execute(trx),
  )
  const { count, is_bound: isBoundNow, ...row } = rows[0]!
  if (!isBoundNow) throw new ScimError('domain')
  if (row.id === null) throw new ScimError('quota')
  return { row: row as UserRow, count }
}

export async function saveUser(
  trx: Trx,
  { id, teamId }: ScimProvider,
  userId: string,
  fields: UserFields,
): Promise<UserRow> {
  const { user_name, external_id, email, display_name, given_name, family_name, active } = fields
  const { rows } = await unlessTaken(() =>
    sql<UserRow>`
      update scim_users s set user_name = ${user_name}, external_id = ${external_id}, email = ${email}, display_name = ${display_name},
        given_name = ${given_name}, family_name = ${family_name}, active = ${active}, updated = now(), version = version + 1
      where s.team_id = ${teamId} and s.provider_id = ${id} and s.id = ${userId} returning ${userColumns}`.execute(
      trx,
    ),
  )
  return rows[0]!
}

/** Another user of the provider has the name or the address. */
export async function isTaken(
  trx: Trx,
  { id, teamId }: ScimProvider,
  userId: string,
  { user_name, email }: Pick<UserFields, 'user_name' | 'email'>,
): Promise<boolean> {
  const { rows } = await sql<{ taken: boolean }>`
    select exists (select from scim_users s where s.team_id = ${teamId} and s.provider_id = ${id} and s.id <> ${userId}
      and (lower(s.user_name) = lower(${user_name}) or lower(s.email) = lower(${email}))) as taken`.execute(
    trx,
  )
  return rows[0]!.taken
}

export async function deleteUserRow(trx: Trx, { id, teamId }: ScimProvider, userId: string): Promise<void> {
  await sql`delete from scim_users where team_id = ${teamId} and provider_id = ${id} and id = ${userId}`.execute(
    trx,
  )
}

const isBound = (provider: number, teamId: number, domain: string) => sql<boolean>`
  exists (select from domains where team_id = ${teamId} and provider_id = ${provider} and verified is not null and domain = ${domain})`

/** The domain is verified for the team now, and bound to the provider. */
export async function isBoundDomain(
  trx: Trx,
  { id, teamId }: ScimProvider,
  domain: string,
): Promise<boolean> {
  const { rows } = await sql<{ bound: boolean }>`
    select ${isBound(id, teamId, domain)} as bound`.execute(trx)
  return rows[0]!.bound
}

const membersOfGroup = sql<GroupMember[]>`
  coalesce((select json_agg(json_build_object('value', u.id, 'display', u.user_name) order by u.created, u.id)
    from scim_members m join scim_users u on u.id = m.scim_user_id where m.group_id = g.id), '[]')`

const groupList = (withMembers: boolean) =>
  sql`${groupColumns}, ${withMembers ? membersOfGroup : sql`null::json`} as members`

/** `condition` is of scim_groups `g`. */
export async function listGroupRows(
  postgres: Postgres,
  { id, teamId }: ScimProvider,
  conditions: readonly Condition[],
  slice: ResourceSlice,
  withMembers: boolean,
): Promise<Page<GroupWithMembers>> {
  const { page, count } = await listInTeam(postgres, teamId, {
    matching: sql`
      select g.* from scim_groups g where g.team_id = ${teamId} and g.provider_id = ${id} ${all(conditions)}`,
    columns: groupColumns,
    order: sql`g.created, g.id`,
    slice,
    isIndexed: true,
  })
  if (!withMembers) return { page: page.map((row) => ({ ...row, members: null })), count }
  const members = await membersOf(postgres, teamId, page)
  return { page: page.map((row) => ({ ...row, members: members.get(row.id) ?? [] })), count }
}

async function membersOf(
  postgres: Postgres,
  teamId: number,
  groups: readonly ScimGroupRow[],
): Promise<ReadonlyMap<string, readonly GroupMember[]>> {
  const ids = groups.map(({ id }) => id)
  const rows = await postgres.readInTeam(
    teamId,
    sql<{ id: string; members: GroupMember[] }>`
      select g.id, ${membersOfGroup} as members from scim_groups g where g.team_id = ${teamId} and g.id = any(${ids}::uuid[])`,
  )
  return new Map(rows.map(({ id, members }) => [id, members]))
}

const oneGroup = (
  { id, teamId }: ScimProvider,
  groupId: string,
  withMembers: boolean,
  lock: Condition = sql``,
) =>
  sql<GroupWithMembers>`
    select ${groupList(withMembers)} from scim_groups g
    where g.team_id = ${teamId} and g.provider_id = ${id} and g.id = ${groupId}::uuid ${lock}`

export async function findGroup(
  postgres: Postgres,
  provider: ScimProvider,
  groupId: string,
  withMembers: boolean,
): Promise<GroupWithMembers | undefined> {
  return (await postgres.readInTeam(provider.teamId, oneGroup(provider, groupId, withMembers)))[0]
}

export async function lockGroup(
  trx: Trx,
  provider: ScimProvider,
  groupId: string,
): Promise<GroupWithMembers | undefined> {
  return (await oneGroup(provider, groupId, false, sql`for no key update`).execute(trx)).rows[0]
}

export async function readGroup(
  trx: Trx,
  provider: ScimProvider,
  groupId: string,
): Promise<GroupWithMembers> {
  return (await oneGroup(provider, groupId, true).execute(trx)).rows[0]!
}

export async function insertGroup(
  trx: Trx,
  { id, teamId }: ScimProvider,
  { display_name, external_id }: GroupFields,
): Promise<string> {
  const { rows } = await unlessTaken(() =>
    sql<{ id: string }>`
      insert into scim_groups (provider_id, team_id, display_name, external_id)
      values (${id}, ${teamId}, ${display_name}, ${external_id}) returning id`.execute(trx),
  )
  return rows[0]!.id
}

export async function saveGroup(
  trx: Trx,
  { id, teamId }: ScimProvider,
  groupId: string,
  { display_name, external_id }: GroupFields,
): Promise<void> {
  await unlessTaken(() =>
    sql`
      update scim_groups set display_name = ${display_name}, external_id = ${external_id}, updated = now(), version = version + 1
      where team_id = ${teamId} and provider_id = ${id} and id = ${groupId}`.execute(trx),
  )
}

export async function deleteGroupRow(trx: Trx, { id, teamId }: ScimProvider, groupId: string): Promise<void> {
  await sql`delete from scim_groups where team_id = ${teamId} and provider_id = ${id} and id = ${groupId}`.execute(
    trx,
  )
}

/** Returns the ids of the users in the group. */
export async function listMemberIds(trx: Trx, groupId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select scim_user_id as id from scim_members where group_id = ${groupId}`.execute(trx)
  return rows.map(({ id }) => id)
}

/** Throws ScimError if one is no user of the provider. */
export async function addMembers(
  trx: Trx,
  { id, teamId }: ScimProvider,
  groupId: string,
  userIds: readonly string[],
): Promise<void> {
  if (userIds.length === 0) return
  const { rows } = await sql<{ known: number }>`
    with known as (
      select u.id from scim_users u where u.team_id = ${teamId} and u.provider_id = ${id} and u.id = any(${userIds}::uuid[])),
    added as (
      insert into scim_members (group_id, scim_user_id, provider_id, team_id)
      select ${groupId}::uuid, id, ${id}::integer, ${teamId}::integer from known on conflict do nothing)
    select count(*) as known from known`.execute(trx)
  if (rows[0]!.known !== userIds.length) throw new ScimError('member')
}

export async function removeMembers(trx: Trx, groupId: string, userIds: readonly string[]): Promise<void> {
  if (userIds.length === 0) return
  await sql`
    delete from scim_members where group_id = ${groupId} and scim_user_id = any(${userIds}::uuid[])`.execute(
    trx,
  )
}
