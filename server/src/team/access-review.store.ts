// The SQL of the access review: everything that opens a team, as one kind of row. Every statement is limited to the team.
import type { Role } from '@pharos/contract/role'
import type { QueryOf } from '@pharos/contract/route'
import type { Scope } from '@pharos/contract/scope'
import {
  accessKinds,
  type exportTeamAccessRoute,
  type listTeamAccessRoute,
  type ReviewedAccess,
} from '@pharos/contract/team/access-review'
import { sql, type RawBuilder } from 'kysely'
import { andAll, listInTeam, orderBy, type Page } from '../db/page.ts'
import type { Postgres } from '../db/postgres.ts'
import { hasFactor } from '../db/proofs.ts'
import { rolesOfInvitation, rolesOfMember } from '../db/roles.ts'

export type ReviewedRow = Pick<
  ReviewedAccess,
  'kind' | 'id' | 'name' | 'is_admin' | 'is_limited' | 'two_factor' | 'sign_in' | 'created_by'
> & {
  readonly roles: Role[] | null
  readonly scopes: Scope[] | null
  readonly created: Date
  readonly expires: Date | null
  readonly last_used: Date | null
}

type Filters = QueryOf<typeof exportTeamAccessRoute>

/** A TSIG key has no record of its use. */
const accessOf = (teamId: number): RawBuilder<unknown> => sql`
  select 'member' as kind, m.id::text as id, u.email as name, ${rolesOfMember} as roles, m.is_admin, null::text[] as scopes,
    false as is_limited, ${hasFactor} as two_factor, member_sign_in(u.id, ${teamId}) as sign_in, m.joined as created, 'user:' || m.invited_by as created_by, null::timestamptz as expires,
    s.last_used
  from memberships m join users u on u.id = m.user_id
  left join (select user_id, max(last_used) as last_used from sessions where team_id = ${teamId} group by user_id) s on s.user_id = m.user_id
  where m.team_id = ${teamId}
  union all
  select 'invitation', i.id::text, i.email, ${rolesOfInvitation}, i.is_admin, null, false, null, null, i.sent, i.inviter, i.expires, null
  from invitations i
  where i.team_id = ${teamId} and i.accepted is null and i.expires > now()
  union all
  select 'service_account', s.id::text, s.name, s.roles, 'admin' = any(s.roles), null, false, null, null, s.created, s.creator, null, a.last_used
  from service_accounts s
  left join (
    select service_account_id as id, max(last_used) as last_used from api_tokens where team_id = ${teamId} group by service_account_id) a
    on a.id = s.id
  where s.team_id = ${teamId}
  union all
  select 'api_token', a.id, a.name, s.roles, coalesce('admin' = any(s.roles), a.is_admin), a.scopes, a.is_limited, null, null, a.created,
    a.creator, a.expires, a.last_used
  from api_tokens a left join service_accounts s on s.id = a.service_account_id
  where a.team_id = ${teamId} and a.revoked is null
  union all
  select 'tsig_key', k.id::text, k.name, null, false, null, k.is_limited, null, null, k.created, k.creator, k.expires, null
  from dns_tsig_keys k
  where k.team_id = ${teamId}`

const matching = (teamId: number, { kind, unused_days: days }: Filters): RawBuilder<unknown> => sql`
  select * from (${accessOf(teamId)}) a where true ${andAll(
    kind !== undefined && sql`a.kind = ${kind}`,
    days !== undefined &&
      sql`a.kind <> 'tsig_key' and coalesce(a.last_used, a.created) <= now() - make_interval(days => ${days})`,
  )}`

const keys = {
  kind: sql`array_position(${[...accessKinds]}::text[], kind)`,
  name: sql`lower(name) collate "C"`,
  created: sql`created`,
  expires: sql`coalesce(expires, 'infinity')`,
  last_used: sql`last_used`,
}

/** Returns a page. What was never used sorts first, what never expires last. */
export const listAccess = (
  postgres: Postgres,
  teamId: number,
  { ordering, limit, offset, ...filters }: QueryOf<typeof listTeamAccessRoute>,
): Promise<Page<ReviewedRow>> =>
  listInTeam<ReviewedRow>(postgres, teamId, {
    matching: matching(teamId, filters),
    order: orderBy(ordering, keys, sql`kind, id`),
    slice: { limit, offset },
  })

/** Returns all that matches: the quotas of a team limit it to a few thousand rows. */
export const listAllAccess = (postgres: Postgres, teamId: number, filters: Filters): Promise<ReviewedRow[]> =>
  postgres.readInTeam(
    teamId,
    sql<ReviewedRow>`select * from (${matching(teamId, filters)}) m order by ${orderBy('kind,name', keys, sql`kind, id`)}`,
  )
