// The SQL of an export: what is stored about one account, each part by the number of the account. No secrets, and nothing that a team owns.
import type { Role } from '@pharos/contract/role'
import type { Scope } from '@pharos/contract/scope'
import { exportedAuditMax, exportedSessionsMax } from '@pharos/contract/session/personal-data'
import type { StaffRole } from '@pharos/contract/staff-role'
import { sql } from 'kysely'
import { columns, type RowOf } from '../db/columns.ts'
import type { Trx } from '../db/postgres.ts'
import { rolesOfMember, staffRolesOf } from '../db/roles.ts'

const profileColumns = columns(
  'users',
  'u',
  ['id', 'email', 'email_confirmed', 'username', 'first_name', 'last_name', 'display_name', 'avatar_url'],
  {
    country: sql<string>`u.country`,
    billing_uuid: sql<string>`u.billing_uuid`,
    staff_roles: sql<StaffRole[]>`${staffRolesOf}`,
    has_password: sql<boolean>`u.password_hash is not null`,
    authenticator_added: sql<Date | null>`u.totp_enabled`,
    recovery_codes_left: sql<number>`(select count(*) from recovery_codes c where c.user_id = u.id and c.used is null)`,
    created: sql<Date>`u.created`,
  },
)

export async function findProfile(
  trx: Trx,
  userId: number,
): Promise<RowOf<typeof profileColumns> | undefined> {
  const { rows } = await sql<
    RowOf<typeof profileColumns>
  >`select ${profileColumns} from users u where u.id = ${userId}`.execute(trx)
  return rows[0]
}

type MembershipRow = {
  readonly team_id: number
  readonly team_name: string
  readonly roles: Role[] | null
  readonly joined: Date | null
  readonly ended: Date | null
}

export async function listMemberships(trx: Trx, userId: number): Promise<MembershipRow[]> {
  const { rows } = await sql<MembershipRow>`
    select t.id as team_id, t.name as team_name, ${rolesOfMember} as roles, m.joined, null::timestamptz as ended
    from memberships m join teams t on t.id = m.team_id where m.user_id = ${userId}
    union all
    select t.id, t.name, null, null, f.removed from former_members f join teams t on t.id = f.team_id where f.user_id = ${userId}
    order by 1`.execute(trx)
  return rows
}

type IdentityRow = {
  readonly team_id: number
  readonly provider_name: string
  readonly subject: string
  readonly email: string
  readonly linked: Date
  readonly last_used: Date | null
}

export async function listLinkedIdentities(trx: Trx, userId: number): Promise<IdentityRow[]> {
  const { rows } = await sql<IdentityRow>`
    select p.team_id, p.name as provider_name, i.subject, i.email, i.linked, i.last_used
    from user_identities i join identity_providers p on p.id = i.provider_id
    where i.user_id = ${userId} order by i.id`.execute(trx)
  return rows
}

const sessionColumns = columns(
  'sessions',
  's',
  ['id', 'team_id', 'created', 'last_used', 'expires', 'revoked', 'user_agent', 'last_user_agent'],
  {
    address: sql<string | null>`host(s.address)`,
    last_address: sql<string | null>`host(s.last_address)`,
    count: sql<number>`count(*) over ()`,
  },
)

export async function listStoredSessions(trx: Trx, userId: number): Promise<RowOf<typeof sessionColumns>[]> {
  const { rows } = await sql<RowOf<typeof sessionColumns>>`
    select ${sessionColumns} from sessions s where s.user_id = ${userId}
    order by s.created desc, s.id limit ${exportedSessionsMax}`.execute(trx)
  return rows
}

const tokenColumns = columns(
  'api_tokens',
  'a',
  ['id', 'team_id', 'name', 'created', 'expires', 'last_used', 'revoked'],
  { scopes: sql<Scope[]>`a.scopes` },
)

export async function listCreatedTokens(trx: Trx, userId: number): Promise<RowOf<typeof tokenColumns>[]> {
  const { rows } = await sql<RowOf<typeof tokenColumns>>`
    select ${tokenColumns} from api_tokens a where a.created_by = ${userId} order by a.created, a.id`.execute(
    trx,
  )
  return rows
}

const notificationColumns = columns(
  'notification_settings',
  'n',
  ['team_id', 'mail', 'digest', 'attack_bps', 'attack_pps', 'monthly_report'],
  { kinds: sql<Record<string, boolean>>`n.kinds` },
)

export async function listNotificationSettings(
  trx: Trx,
  userId: number,
): Promise<RowOf<typeof notificationColumns>[]> {
  const { rows } = await sql<RowOf<typeof notificationColumns>>`
    select ${notificationColumns} from notification_settings n where n.user_id = ${userId} order by n.team_id`.execute(
    trx,
  )
  return rows
}

const viewColumns = columns('saved_views', 'v', ['team_id', 'page', 'name', 'search', 'created'], {
  panels: sql<unknown[]>`v.panels`,
})

export async function listOwnViews(trx: Trx, userId: number): Promise<RowOf<typeof viewColumns>[]> {
  const { rows } = await sql<RowOf<typeof viewColumns>>`
    select ${viewColumns} from saved_views v where v.user_id = ${userId} order by v.id`.execute(trx)
  return rows
}

/** Values only of entries about the account and its sessions: what it changed in a team belongs to the team. */
const entryColumns = columns(
  'audit_entries',
  'e',
  ['id', 'at', 'team_id', 'credential', 'action', 'target', 'request_id'],
  {
    before: sql<unknown>`case when e.target = e.actor or e.target like 'session:%' then e.before end`,
    after: sql<unknown>`case when e.target = e.actor or e.target like 'session:%' then e.after end`,
    address: sql<string | null>`host(e.address)`,
    count: sql<number>`count(*) over ()`,
  },
)

/**
 * What the account did, the newest first. The index of the audit log begins with the team: those of the account are looked up in it, one by one, and
 * the entries without a team.
 */
export async function listOwnEntries(trx: Trx, userId: number): Promise<RowOf<typeof entryColumns>[]> {
  const actor = `user:${userId}`
  const ofTeam = sql`select e.* from audit_entries e where e.actor = ${actor}`
  const { rows } = await sql<RowOf<typeof entryColumns>>`
    with teams_of as (
      select team_id from memberships where user_id = ${userId} union select team_id from former_members where user_id = ${userId}
      union select team_id from sessions where user_id = ${userId} union select team_id from staff_accesses where user_id = ${userId}),
    entries as materialized (
      select e.* from teams_of t cross join lateral (${ofTeam} and e.team_id = t.team_id) e
      union all ${ofTeam} and e.team_id is null)
    select ${entryColumns} from entries e order by e.id desc limit ${exportedAuditMax}`.execute(trx)
  return rows
}
