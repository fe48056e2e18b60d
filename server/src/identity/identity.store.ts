// The SQL of linked identities. A sign-in reads before the person is known to be a member, as the API's own role.
import { sql } from 'kysely'
import type { Role } from '@pharos/contract/role'
import type { QueryOf } from '@pharos/contract/route'
import type { listIdentitiesRoute } from '@pharos/contract/session/sso'
import { columns, type RowOf } from '../db/columns.ts'
import { listAll, orderBy, type Page } from '../db/page.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { rolesOfMember } from '../db/roles.ts'
import type { AccountFacts, LinkFacts } from './link.ts'
import type { MemberFacts } from './mapping.ts'

type Provider = { readonly id: number; readonly teamId: number }

/** The account `u` as link.ts needs it. Membership by SCIM does not count, whoever has set its roles: the same provider that states the address has made it. */
const accountFacts = (teamId: number) => sql`
  json_build_object('id', u.id, 'isReserved', u.is_staff or u.is_demo,
    'isMember', exists (select from memberships m where m.team_id = ${teamId} and m.user_id = u.id and m.roles_source <> 'scim'
      and not exists (select from scim_users s where s.member_id = m.id)),
    'isOwned', u.password_hash is not null or u.passkey_added is not null
      or exists (select from memberships m where m.team_id <> ${teamId} and m.user_id = u.id))`

/** The domain of an address is verified for the team of the provider now, and bound to the provider. */
const isBound = ({ id, teamId }: Provider, domain: ReturnType<typeof sql>) => sql<boolean>`
  exists (select from domains d where d.team_id = ${teamId} and d.provider_id = ${id} and d.verified is not null and d.domain = ${domain})`

export type FoundFacts = Pick<LinkFacts, 'identity' | 'account'> & { readonly is_domain_bound: boolean }

/** `email` is canonical; `domain` is its domain in the spelling of the domains of teams. */
export async function readLinkFacts(
  db: Db | Trx,
  provider: Provider,
  subject: string,
  { email, domain }: { readonly email: string | null; readonly domain: string | null },
): Promise<FoundFacts> {
  const { rows } = await sql<FoundFacts>`
    select
      (select json_build_object('account', ${accountFacts(provider.teamId)},
          'isSuspended', not ${isBound(provider, sql`split_part(lower(i.email), '@', 2)`)})
        from user_identities i join users u on u.id = i.user_id
        where i.provider_id = ${provider.id} and i.subject = ${subject}) as identity,
      (select ${accountFacts(provider.teamId)} from users u where lower(u.email) = lower(${email})) as account,
      ${isBound(provider, sql`${domain}`)} as is_domain_bound`.execute(db)
  return rows[0]!
}

export async function findAccountFacts(
  db: Db | Trx,
  { teamId }: Provider,
  userId: number,
): Promise<AccountFacts | undefined> {
  const { rows } = await sql<{ facts: AccountFacts }>`
    select ${accountFacts(teamId)} as facts from users u where u.id = ${userId}`.execute(db)
  return rows[0]?.facts
}

export type MemberRecord = Omit<MemberFacts, 'isInvited' | 'isProvisioned'> & {
  readonly memberId: number | null
}

type MembershipRow = {
  readonly member_id: number | null
  readonly roles: Role[] | null
  readonly is_manual: boolean
  readonly is_scim: boolean
  readonly is_former: boolean
  readonly is_last_admin: boolean
}

/** The person's membership of the team; of an account that does not exist yet for `userId` null. */
export async function readMemberFacts(
  db: Db | Trx,
  teamId: number,
  userId: number | null,
): Promise<MemberRecord> {
  const { rows } = await sql<MembershipRow>`
    select m.id as member_id, case when m.id is not null then ${rolesOfMember} end as roles,
      coalesce(m.roles_source = 'manual', false) as is_manual, coalesce(m.roles_source = 'scim', false) as is_scim,
      exists (select from former_members f where f.team_id = ${teamId} and f.user_id = o.user_id) as is_former,
      coalesce(m.is_admin and not exists (
        select from memberships a where a.team_id = ${teamId} and a.is_admin and a.id <> m.id), false) as is_last_admin
    from (select ${userId}::integer as user_id) o left join memberships m on m.team_id = ${teamId} and m.user_id = o.user_id`.execute(
    db,
  )
  const { member_id, roles, is_manual, is_scim, is_former, is_last_admin } = rows[0]!
  return {
    memberId: member_id,
    roles,
    isManual: is_manual,
    isScim: is_scim,
    isFormer: is_former,
    isLastAdmin: is_last_admin,
  }
}

/** Returns the id of the member; undefined if the team is full. The caller has locked the team. */
export async function insertProvided(
  trx: Trx,
  member: {
    readonly teamId: number
    readonly userId: number
    readonly roles: readonly Role[]
    readonly membersMax: number
  },
): Promise<number | undefined> {
  const { teamId, userId, roles, membersMax } = member
  const { rows } = await sql<{ id: number }>`
    insert into memberships (team_id, user_id, roles, is_admin, roles_source)
    select ${teamId}, ${userId}, ${roles}, ${roles.includes('admin')}, 'provider'
    where ${membersMax} > (
      (select count(*) from memberships where team_id = ${teamId})
      + (select count(*) from invitations where team_id = ${teamId} and accepted is null and expires > now()))
    on conflict do nothing returning id`.execute(trx)
  return rows[0]?.id
}

export async function saveProvidedRoles(
  trx: Trx,
  teamId: number,
  memberId: number,
  roles: readonly Role[],
): Promise<void> {
  await sql`
    update memberships set roles = ${roles}, is_admin = ${roles.includes('admin')}, roles_source = 'provider'
    where team_id = ${teamId} and id = ${memberId}`.execute(trx)
}

/** Returns the id of a new account without a password, whose address is confirmed; undefined if another request has created it. */
export async function insertPasswordlessAccount(
  trx: Trx,
  account: {
    readonly email: string
    readonly firstName: string
    readonly lastName: string
    readonly displayName: string
  },
): Promise<number | undefined> {
  const { email, firstName, lastName, displayName } = account
  const username = email.slice(0, email.lastIndexOf('@'))
  const { rows } = await sql<{ id: number }>`
    insert into users (email, email_confirmed, password_hash, username, first_name, last_name, display_name)
    values (${email}, now(), null, ${username}, ${firstName}, ${lastName}, ${displayName || username})
    on conflict (lower(email)) do nothing returning id`.execute(trx)
  return rows[0]?.id
}

/** Links the subject to the account. A suspended link of the subject is to the same account (link.ts). */
export async function saveIdentity(
  trx: Trx,
  identity: {
    readonly providerId: number
    readonly subject: string
    readonly userId: number
    readonly email: string
  },
): Promise<void> {
  const { providerId, subject, userId, email } = identity
  await sql`
    insert into user_identities (provider_id, subject, user_id, email) values (${providerId}, ${subject}, ${userId}, ${email})
    on conflict (provider_id, subject) do update set email = excluded.email where user_identities.user_id = excluded.user_id`.execute(
    trx,
  )
}

export async function saveIdentityUse(trx: Trx, providerId: number, subject: string): Promise<void> {
  await sql`
    update user_identities set last_used = now() where provider_id = ${providerId} and subject = ${subject}`.execute(
    trx,
  )
}

export type AccountAddress = { readonly email: string; readonly session_version: number }

export async function findAddress(db: Db | Trx, userId: number): Promise<AccountAddress | undefined> {
  const { rows } = await sql<AccountAddress>`
    select email, session_version from users where id = ${userId}`.execute(db)
  return rows[0]
}

const identityColumns = columns('user_identities', 'i', ['id', 'email', 'linked', 'last_used'], {
  provider_id: sql<number>`i.provider_id`,
  provider_name: sql<string>`i.provider_name`,
  team_id: sql<number>`i.team_id`,
  team_name: sql<string>`i.team_name`,
})
export type IdentityRow = RowOf<typeof identityColumns>

const identitiesOf = (userId: number) => sql`
  select i.*, p.name as provider_name, p.team_id, t.name as team_name
  from user_identities i join identity_providers p on p.id = i.provider_id join teams t on t.id = p.team_id
  where i.user_id = ${userId}`

export const listIdentityRows = (
  db: Db,
  userId: number,
  { ordering, ...slice }: QueryOf<typeof listIdentitiesRoute>,
): Promise<Page<IdentityRow>> =>
  listAll(db, {
    matching: identitiesOf(userId),
    columns: identityColumns,
    order: orderBy(
      ordering,
      { id: sql`i.id`, linked: sql`i.linked`, last_used: sql`i.last_used` },
      sql`i.id`,
    ),
    slice,
  })

/** Deletes the link, and ends what it has opened; undefined if the user has no such link. */
export async function deleteIdentityRow(
  trx: Trx,
  userId: number,
  id: number,
): Promise<IdentityRow | undefined> {
  const { rows } = await sql<IdentityRow>`
    with i as (${identitiesOf(userId)} and i.id = ${id}::bigint),
    gone as (delete from user_identities where id in (select id from i)),
    ended as (
      update session_proofs p set expires = now() from sessions s, i
      where s.id = p.session_id and s.user_id = ${userId} and p.provider_id = i.provider_id and p.expires > now())
    select ${identityColumns} from i`.execute(trx)
  return rows[0]
}
