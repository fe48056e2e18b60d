// The SQL of the access review of the installation: accounts with rights, and staff tokens, as one kind of row.
import {
  reviewedKinds,
  type exportAccessRoute,
  type listAccessRoute,
  type ReviewedAccount,
} from '@pharos/contract/operator/access-review'
import type { Role } from '@pharos/contract/role'
import type { QueryOf } from '@pharos/contract/route'
import type { StaffRole } from '@pharos/contract/staff-role'
import { sql, type RawBuilder } from 'kysely'
import { columns, type RowOf } from '../db/columns.ts'
import { andAll, listAll, orderBy, type Page } from '../db/page.ts'
import type { Db } from '../db/postgres.ts'
import { hasFactor } from '../db/proofs.ts'
import { rolesOfMember, staffRolesOf } from '../db/roles.ts'

type Filters = QueryOf<typeof exportAccessRoute>

/** The teams are added to the rows of a page only. */
const reviewed = sql`
  select case when u.is_staff then 'staff' else 'account' end as kind, u.id as user_id, u.id::text as id, u.email as name,
    ${staffRolesOf} as staff_roles, '{}'::text[] as scopes, array_remove(array[
      case when u.password_hash is not null then 'password' end, case when u.passkey_added is not null then 'passkey' end,
      case when exists (select from user_identities i where i.user_id = u.id) then 'provider' end], null) as sign_in,
    ${hasFactor} as two_factor, u.managed_by, u.created, null::timestamptz as expires, s.last_sign_in,
    greatest(s.last_used, a.last_used) as last_used
  from users u
  left join (select user_id, max(created) as last_sign_in, max(last_used) as last_used from sessions group by user_id) s on s.user_id = u.id
  left join (
    select created_by, max(last_used) as last_used from api_tokens where service_account_id is null group by created_by) a
    on a.created_by = u.id
  where u.is_staff or exists (select from memberships m where m.user_id = u.id)
  union all
  select 'staff_token', null, t.id, t.name, '{}', t.scopes, '{}', null, null, t.created, t.expires, null, t.last_used
  from staff_tokens t where t.revoked is null and t.expires > now()`

const matching = ({ kind, team_id: team, unused_days: days }: Filters): RawBuilder<unknown> => sql`
  select * from (${reviewed}) r where true ${andAll(
    kind !== undefined && sql`r.kind = ${kind}`,
    team !== undefined &&
      sql`exists (select from memberships m where m.user_id = r.user_id and m.team_id = ${team}::bigint)`,
    days !== undefined && sql`coalesce(r.last_used, r.created) <= now() - make_interval(days => ${days})`,
  )}`

type ReviewedTeam = {
  readonly id: number
  readonly slug: string
  readonly name: string
  readonly roles: Role[]
}

const reviewColumns = columns('users', 'r', ['created'], {
  kind: sql<ReviewedAccount['kind']>`r.kind`,
  id: sql<string>`r.id`,
  name: sql<string>`r.name`,
  staff_roles: sql<StaffRole[]>`r.staff_roles`,
  scopes: sql<string[]>`r.scopes`,
  sign_in: sql<ReviewedAccount['sign_in']>`r.sign_in`,
  two_factor: sql<boolean | null>`r.two_factor`,
  managed_by: sql<ReviewedAccount['managed_by']>`r.managed_by`,
  expires: sql<Date | null>`r.expires`,
  last_sign_in: sql<Date | null>`r.last_sign_in`,
  last_used: sql<Date | null>`r.last_used`,
  teams: sql<ReviewedTeam[]>`coalesce((
    select json_agg(json_build_object('id', t.id, 'slug', t.slug, 'name', t.name, 'roles', ${rolesOfMember}) order by t.slug)
    from memberships m join teams t on t.id = m.team_id where m.user_id = r.user_id), '[]')`,
})
export type ReviewRow = RowOf<typeof reviewColumns>

const keys = {
  kind: sql`array_position(${[...reviewedKinds]}::text[], r.kind)`,
  name: sql`lower(r.name) collate "C"`,
  created: sql`r.created`,
  last_sign_in: sql`r.last_sign_in`,
  last_used: sql`r.last_used`,
}

/** Returns a page. What was never used sorts first. */
export const listReviewed = (
  db: Db,
  { ordering, limit, offset, ...filters }: QueryOf<typeof listAccessRoute>,
): Promise<Page<ReviewRow>> =>
  listAll(db, {
    matching: matching(filters),
    columns: reviewColumns,
    order: orderBy(ordering, keys, sql`r.kind, r.id`),
    slice: { limit, offset },
  })

/** Returns all that matches: accounts of people, of which an installation has some thousands. */
export async function listAllReviewed(db: Db, filters: Filters): Promise<ReviewRow[]> {
  const { rows } = await sql<ReviewRow>`
    select ${reviewColumns} from (${matching(filters)}) r order by ${orderBy('kind,name', keys, sql`r.kind, r.id`)}`.execute(
    db,
  )
  return rows
}
