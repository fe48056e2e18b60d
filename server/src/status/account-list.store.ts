// The SQL of the mails and accounts of the installation for staff. It reads no content of a mail, and nothing that a user signs in with.
import type { listMailsRoute, MailState } from '@pharos/contract/operator/mail'
import type { listUsersRoute } from '@pharos/contract/operator/user'
import type { Role } from '@pharos/contract/role'
import type { QueryOf } from '@pharos/contract/route'
import { sql } from 'kysely'
import { columns, type RowOf } from '../db/columns.ts'
import { andAll, listAll, orderBy, type Page } from '../db/page.ts'
import type { Db } from '../db/postgres.ts'
import { hasFactor } from '../db/proofs.ts'

const mailState = sql<MailState>`case when m.sent is not null then 'sent' when m.failed is not null then 'failed' else 'queued' end`

const mailColumns = columns('mails', 'm', ['id', 'recipient', 'attempts', 'created', 'error'], {
  kind: sql<string>`m.template`,
  state: mailState,
  due: sql<Date | null>`case when m.sent is null and m.failed is null then m.due end`,
  ended: sql<Date | null>`coalesce(m.sent, m.failed)`,
  team: sql<{ id: number; name: string } | null>`(
    select json_build_object('id', t.id, 'name', t.name) from teams t where t.id = m.team_id)`,
})
export type MailListRow = RowOf<typeof mailColumns>

export const listMailRows = (
  db: Db,
  { state, kind, team_id: teams, search, ordering, ...slice }: QueryOf<typeof listMailsRoute>,
): Promise<Page<MailListRow>> =>
  listAll(db, {
    matching: sql`
      select m.id, m.team_id, m.recipient, m.template, m.attempts, m.created, m.due, m.sent, m.failed, m.error
      from mails m where true ${andAll(
        state && sql`${mailState} = any(${state}::text[])`,
        kind && sql`m.template = any(${kind}::text[])`,
        teams && sql`m.team_id = any(${teams}::bigint[])`,
        search !== undefined && sql`strpos(lower(m.recipient), lower(${search})) > 0`,
      )}`,
    columns: mailColumns,
    order: orderBy(
      ordering,
      { id: sql`m.id`, created: sql`m.created`, attempts: sql`m.attempts` },
      sql`m.id`,
    ),
    slice,
  })

type AccountTeam = { readonly id: number; readonly name: string; readonly roles: Role[] }

const accountColumns = columns(
  'users',
  'u',
  ['id', 'email', 'display_name', 'is_staff', 'is_demo', 'created', 'email_confirmed'],
  {
    second_factor: sql<Date | null>`u.second_factor`,
    managed_by: sql<'operator' | 'team'>`u.managed_by`,
    sessions: sql<number>`(
      select count(*) from sessions s where s.user_id = u.id and s.revoked is null and s.expires > now())`,
    last_active: sql<Date | null>`u.last_active`,
    teams: sql<AccountTeam[]>`coalesce((
      select json_agg(json_build_object('id', t.id, 'name', t.name, 'roles', m.roles) order by lower(t.name), t.id)
      from memberships m join teams t on t.id = m.team_id where m.user_id = u.id), '[]')`,
  },
)
export type AccountRow = RowOf<typeof accountColumns>

type UserQuery = QueryOf<typeof listUsersRoute>

export const listAccountRows = (
  db: Db,
  {
    search,
    team_id: teams,
    is_staff: isStaff,
    has_second_factor: hasSecondFactor,
    ordering,
    ...slice
  }: UserQuery,
): Promise<Page<AccountRow>> =>
  listAll(db, {
    matching: sql`
      select u.id, u.email, u.display_name, u.is_staff, u.is_demo, u.created, u.email_confirmed, u.managed_by, least(u.totp_enabled, u.passkey_added) as second_factor,
        (select max(s.last_used) from sessions s where s.user_id = u.id) as last_active
      from users u where true ${andAll(
        search !== undefined &&
          sql`strpos(lower(concat_ws(chr(10), u.email, u.display_name)), lower(${search})) > 0`,
        teams &&
          sql`exists (select from memberships m where m.user_id = u.id and m.team_id = any(${teams}::bigint[]))`,
        isStaff !== undefined && sql`u.is_staff = ${isStaff}`,
        hasSecondFactor !== undefined && sql`${hasFactor} = ${hasSecondFactor}`,
      )}`,
    columns: accountColumns,
    order: orderBy(
      ordering,
      { id: sql`u.id`, email: sql`lower(u.email)`, created: sql`u.created`, last_active: sql`u.last_active` },
      sql`u.id`,
    ),
    slice,
  })
