// The SQL that makes users of SCIM members of the team. It runs as the owner: accounts belong to no team.
import { sql, type RawBuilder } from 'kysely'
import type { Role } from '@pharos/contract/role'
import type { Trx } from '../db/postgres.ts'
import { rolesOfMember } from '../db/roles.ts'
import { unnestRows } from '../db/unnest.ts'
import type { ScimProvider } from './scim.store.ts'

export type ProvisionRow = {
  readonly id: string
  readonly email: string
  readonly display_name: string
  readonly given_name: string
  readonly family_name: string
  readonly active: boolean
  /** The account: the linked one, else that with the address; null if there is none. */
  readonly user_id: number | null
  readonly is_linked: boolean
  /** Of staff, for the demo, or the account of another user of the provider, who has another address there now. */
  readonly is_reserved: boolean
  /** The account has a password, a passkey, or another team: its owner decides on its address and its name. */
  readonly is_owned: boolean
  readonly account_email: string | null
  readonly membership_id: number | null
  readonly roles: Role[] | null
  readonly roles_source: 'manual' | 'provider' | 'scim' | null
  readonly is_own: boolean
  readonly is_bound: boolean
  readonly ended_by: 'team' | 'operator' | 'scim' | null
  readonly mapped: Role[]
  /** Of the provider, for people whom no group names. */
  readonly default_roles: Role[]
}

/**
 * The users with these ids; all of the provider for null. The team is locked. A mapping is by the external id of a group before the name of another: people may choose the
 * names of groups.
 */
export async function readProvisioned(
  trx: Trx,
  { id, teamId }: ScimProvider,
  userIds: readonly string[] | null,
): Promise<ProvisionRow[]> {
  const isBound = (email: RawBuilder<unknown>) => sql<boolean>`
    exists (select from domains d where d.team_id = ${teamId} and d.provider_id = ${id} and d.verified is not null
      and d.domain = split_part(lower(${email}), '@', 2))`
  const { rows } = await sql<ProvisionRow>`
    select s.id, s.email, s.display_name, s.given_name, s.family_name, s.active, u.id as user_id, s.user_id is not null as is_linked,
      coalesce(u.is_staff or u.is_demo or s.user_id is null and exists (
        select from scim_users o where o.provider_id = s.provider_id and o.user_id = u.id), false) as is_reserved, u.email as account_email,
      coalesce(u.password_hash is not null or u.passkey_added is not null
        or exists (select from memberships o where o.user_id = u.id and o.team_id <> ${teamId}), false) as is_owned,
      m.id as membership_id, case when m.id is not null then ${rolesOfMember} end as roles, m.roles_source,
      coalesce(m.id = s.member_id, false) as is_own,
      ${isBound(sql`s.email`)} and (u.id is null or ${isBound(sql`u.email`)}) as is_bound,
      f.ended_by,
      array(select distinct r from scim_members k join scim_groups g on g.id = k.group_id
        join provider_mappings p on p.provider_id = g.provider_id and (p.group_name = g.external_id
          or (p.group_name = g.display_name and not exists (
            select from scim_groups e where e.provider_id = g.provider_id and e.external_id = p.group_name and e.id <> g.id)))
        cross join unnest(p.roles) r where k.scim_user_id = s.id) as mapped, i.default_roles
    from scim_users s
    join identity_providers i on i.id = s.provider_id and i.team_id = s.team_id
    left join users u on u.id = coalesce(s.user_id, (select o.id from users o where lower(o.email) = lower(s.email)))
    left join memberships m on m.team_id = ${teamId} and m.user_id = u.id
    left join former_members f on f.team_id = ${teamId} and f.user_id = u.id
    where s.team_id = ${teamId} and s.provider_id = ${id} ${ofUsers(userIds)}
    order by s.created, s.id`.execute(trx)
  return rows
}

/** One user is no array: PostgreSQL would plan this large statement anew for each request, which takes longer than running it. */
function ofUsers(ids: readonly string[] | null) {
  if (ids === null) return sql``
  return ids.length === 1 ? sql`and s.id = ${ids[0]!}::uuid` : sql`and s.id = any(${ids}::uuid[])`
}

export type JoiningUser = Pick<
  ProvisionRow,
  'id' | 'email' | 'display_name' | 'given_name' | 'family_name'
> & {
  readonly user_id: number | null
  readonly roles: readonly Role[]
}
export type JoinedUser = {
  readonly id: string
  readonly user_id: number
  readonly member_id: number
  readonly is_new: boolean
}

/** Makes the users members, on whom SCIM decides, with a new account for those without one. Leaves out whose account was created at the same moment: the caller reads again. */
export async function insertMembers(
  trx: Trx,
  { teamId }: ScimProvider,
  joining: readonly JoiningUser[],
): Promise<JoinedUser[]> {
  const rows = joining.map(({ roles, ...row }) => ({ ...row, roles: roles.join(' ') }))
  const { rows: joined } = await sql<JoinedUser>`
    with wanted as materialized (select n.*, string_to_array(n.roles, ' ') as list from ${unnestRows(rows, {
      id: 'uuid',
      email: 'text',
      display_name: 'text',
      given_name: 'text',
      family_name: 'text',
      user_id: 'integer',
      roles: 'text',
    })}),
    created as (
      insert into users (email, email_confirmed, password_hash, username, first_name, last_name, display_name)
      select email, now(), null, left(email, length(email) - strpos(reverse(email), '@')), given_name, family_name,
        coalesce(nullif(display_name, ''), nullif(concat_ws(' ', nullif(given_name, ''), nullif(family_name, '')), ''),
          left(email, length(email) - strpos(reverse(email), '@')))
      from wanted where user_id is null on conflict (lower(email)) do nothing returning id, email),
    accounts as (
      select w.id, w.list, coalesce(w.user_id, c.id) as user_id, c.id is not null as is_new
      from wanted w left join created c on c.email = w.email and w.user_id is null
      where w.user_id is not null or c.id is not null),
    members as (
      insert into memberships (team_id, user_id, roles, is_admin, roles_source)
      select ${teamId}::integer, user_id, list, 'admin' = any(list), 'scim' from accounts
      on conflict do nothing returning id, user_id),
    linked as (
      update scim_users s set member_id = m.id, user_id = m.user_id from accounts a join members m on m.user_id = a.user_id
      where s.id = a.id and s.team_id = ${teamId}),
    back as (
      delete from former_members f using accounts a where f.team_id = ${teamId} and f.user_id = a.user_id)
    select a.id, a.user_id, m.id as member_id, a.is_new from accounts a join members m on m.user_id = a.user_id`.execute(
    trx,
  )
  return joined
}

/** The membership that SCIM decides on from now on; that of another provider of the team loses it. */
export async function linkMembers(
  trx: Trx,
  { id, teamId }: ScimProvider,
  links: readonly { readonly id: string; readonly user_id: number; readonly member_id: number }[],
): Promise<void> {
  const rows = links.map(({ id: scimId, user_id, member_id }) => ({ id: scimId, user_id, member_id }))
  const wanted = unnestRows(rows, { id: 'uuid', user_id: 'integer', member_id: 'integer' })
  await sql`
    update scim_users s set member_id = null from ${wanted} where s.team_id = ${teamId} and s.member_id = n.member_id and s.id <> n.id`.execute(
    trx,
  )
  await sql`
    update scim_users s set member_id = n.member_id, user_id = n.user_id
    from ${wanted} where s.team_id = ${teamId} and s.provider_id = ${id} and s.id = n.id`.execute(trx)
}

export async function saveScimRoles(
  trx: Trx,
  teamId: number,
  memberId: number,
  roles: readonly Role[],
): Promise<void> {
  await sql`
    update memberships set roles = ${roles}, is_admin = ${roles.includes('admin')}, roles_source = 'scim'
    where team_id = ${teamId} and id = ${memberId}`.execute(trx)
}

/** Ends what identity providers and recovery codes of the team have opened for the user, in whichever team the session is. */
export async function endProofsOf(trx: Trx, teamId: number, userId: number): Promise<void> {
  await sql`
    update session_proofs p set expires = now() from sessions s
    where s.id = p.session_id and s.user_id = ${userId} and p.expires > now() and (p.team_id = ${teamId}
      or p.provider_id in (select i.id from identity_providers i where i.team_id = ${teamId}))`.execute(trx)
}

/** Withdraws open invitations to the addresses: they would bring back whom SCIM removes. */
export async function withdrawInvitationsTo(
  trx: Trx,
  teamId: number,
  emails: readonly string[],
): Promise<void> {
  await sql`
    delete from invitations where team_id = ${teamId} and accepted is null
      and lower(email) in (select lower(e) from unnest(${emails}::text[]) e)`.execute(trx)
}

/** Address and names of an account that nobody else decides on. An address that another account has stays as it is. */
export async function saveAccountOf(
  trx: Trx,
  { teamId }: ScimProvider,
  account: Pick<ProvisionRow, 'email' | 'display_name' | 'given_name' | 'family_name'> & {
    readonly user_id: number
  },
): Promise<void> {
  const { user_id: userId, email, display_name: display, given_name: given, family_name: family } = account
  await sql`
    update users u set email = case when exists (select from users o where lower(o.email) = lower(${email}) and o.id <> u.id)
        then u.email else ${email} end,
      first_name = ${given}, last_name = ${family}, display_name = coalesce(nullif(${display}, ''), u.display_name)
    where u.id = ${userId} and not u.is_staff and u.password_hash is null and u.passkey_added is null
      and not exists (select from memberships o where o.user_id = u.id and o.team_id <> ${teamId})`.execute(
    trx,
  )
}

/** The identity of the provider follows the address, whose domain decides whether it counts. */
export async function saveIdentityAddress(trx: Trx, { id }: ScimProvider, userId: number): Promise<void> {
  await sql`
    update user_identities i set email = u.email from users u
    where u.id = i.user_id and i.provider_id = ${id} and i.user_id = ${userId} and i.email is distinct from u.email`.execute(
    trx,
  )
}

export async function countAdmins(trx: Trx, teamId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) from memberships where team_id = ${teamId} and is_admin`.execute(trx)
  return rows[0]!.count
}
