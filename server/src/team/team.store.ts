// The SQL of teams: read, lock, save.
import type { QueryOf } from '@pharos/contract/route'
import type { listTeamsRoute, TeamChanges } from '@pharos/contract/team/team'
import type { DefaultRole, Role } from '@pharos/contract/role'
import { sql, type RawBuilder } from 'kysely'
import { columns, jsonOf, type RowOf } from '../db/columns.ts'
import { andAll, listAll, orderBy, type Page } from '../db/page.ts'
import type { Db, Postgres, Trx } from '../db/postgres.ts'
import { activeProviderOf, blockedBy, listsTeam } from '../db/proofs.ts'
import { rolesOfMember } from '../db/roles.ts'

const asnJson = jsonOf(
  columns('asns', 'a', ['asn'], {
    // An expired proof does not count.
    verified: sql<Date | null>`case when a.expires is null or a.expires > now() then a.verified end`,
  }),
)
const teamColumns = columns(
  'teams',
  't',
  [
    'id',
    'name',
    'slug',
    'enable_sdwan',
    'enable_dns',
    'description',
    'billing_email',
    'technical_email',
    'abuse_email',
    'noc_phone',
    'country',
    'timezone',
    'require_2fa',
    'token_days_max',
    'created',
    'version',
  ],
  {
    member_count: sql<number>`(select count(*) from memberships m where m.team_id = t.id)`,
    default_roles: sql<DefaultRole[]>`t.default_roles`,
    asns: sql<RowOf<typeof asnJson>[]>`coalesce((
      select json_agg(${asnJson} order by a.asn) from asns a where a.team_id = t.id), '[]')`,
  },
)
export type TeamRow = RowOf<typeof teamColumns>

const teamOf = (teamId: number) => sql<TeamRow>`select ${teamColumns} from teams t where t.id = ${teamId}`

export async function findTeam(postgres: Postgres, teamId: number): Promise<TeamRow | undefined> {
  return (await postgres.readInTeam(teamId, teamOf(teamId)))[0]
}

/** The same in a transaction. */
export async function readTeam(trx: Trx, teamId: number): Promise<TeamRow | undefined> {
  return (await teamOf(teamId).execute(trx)).rows[0]
}

/** The columns that a request changes have the names of its fields. */
export type TeamColumns = Partial<Pick<TeamRow, keyof TeamChanges>>

/** A trigger raises the version. From then on the team decides on its name, not the platform file. */
export async function saveTeam(trx: Trx, teamId: number, columns: TeamColumns): Promise<void> {
  const renamed = columns.name === undefined ? {} : { renamed: sql<Date>`now()` }
  await trx
    .updateTable('teams')
    .set({ ...columns, ...renamed })
    .where('id', '=', teamId)
    .execute()
}

/**
 * The teams that an actor can access: a user's teams, every team for staff, for an API token its own, with the token's
 * roles.
 */
export type TeamReach =
  | { readonly userId: number; readonly isStaff: boolean; readonly sessionId: string }
  | { readonly teamId: number; readonly roles: readonly Role[] }

const availableColumns = columns('teams', 't', ['id', 'name', 'enable_sdwan', 'enable_dns'], {
  /** Null: not a member. */
  roles: sql<Role[] | null>`t.roles`,
  needs_sign_in: sql<boolean>`coalesce(t.blocked_by = 'sign_in', false)`,
  provider: sql<string | null>`case when t.blocked_by = 'sign_in' then ${activeProviderOf(sql`t.id`)} end`,
})
export type AvailableRow = RowOf<typeof availableColumns>

/** Returns a page over all teams: the only query without the row-level limit of a team; `reach` limits it instead. */
export const listAvailable = (
  db: Db,
  reach: TeamReach,
  { name, ...query }: QueryOf<typeof listTeamsRoute>,
): Promise<Page<AvailableRow>> =>
  listAll(db, {
    matching: sql`
      ${reachable(reach)} ${andAll(name !== undefined && sql`position(lower(${name}) in lower(t.name)) > 0`)}`,
    columns: availableColumns,
    order: orderBy(query.ordering, { name: sql`t.name`, id: sql`t.id`, created: sql`t.created` }, sql`t.id`),
    slice: query,
  })

function reachable(reach: TeamReach): RawBuilder<unknown> {
  if ('teamId' in reach)
    return sql`
      select t.*, ${reach.roles}::text[] as roles, null::text as blocked_by from teams t where t.id = ${reach.teamId}`
  return sql`
    select t.*, ${rolesOfMember} as roles, o.blocked_by from teams t
    join users u on u.id = ${reach.userId}
    left join memberships m on m.team_id = t.id and m.user_id = u.id
    join lateral (
      select ${blockedBy} as blocked_by, ${listsTeam} as is_listed from sessions s where s.id = ${reach.sessionId}::uuid) o on true
    where ${reach.isStaff ? sql`true` : sql`m.user_id is not null and o.is_listed`}`
}
