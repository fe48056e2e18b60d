// The SQL of invitations. A team's own changes run as the team; the holder of a link has no team yet, and accepting runs as the
// owner.
import type { Role } from '@pharos/contract/role'
import { sql, type RawBuilder } from 'kysely'
import type { Db, Trx } from '../db/postgres.ts'
import { rolesOfInvitation, rolesOfMember, staffRolesOf } from '../db/roles.ts'

/** Lifetime of an invitation's link in days, from its newest mail. */
export const invitationDays = 7

/** Returns the id for a new invitation, which its member keeps. */
export async function nextMemberId(trx: Trx): Promise<number> {
  const { rows } = await sql<{ id: number }>`select nextval('member_ids')::integer as id`.execute(trx)
  return rows[0]!.id
}

/** Returns the id of the open invitation to the address, compared case-insensitively. */
export async function findOpenInvitation(
  trx: Db | Trx,
  teamId: number,
  email: string,
): Promise<number | undefined> {
  const { rows } = await sql<{ id: number }>`
    select id from invitations
    where team_id = ${teamId} and lower(email) = lower(${email}) and accepted is null and expires > now()`.execute(
    trx,
  )
  return rows[0]?.id
}

/** Returns the whole seconds until the mail of an open invitation may be sent again; zero or less if it may be sent now. */
export async function secondsUntilResend(
  trx: Trx,
  teamId: number,
  id: number,
  intervalSeconds: number,
): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    select ceil(${intervalSeconds} - extract(epoch from now() - sent))::integer as seconds from invitations
    where team_id = ${teamId} and id = ${id} and accepted is null`.execute(trx)
  return rows[0]!.seconds
}

export type NewInvitation = {
  readonly id: number
  readonly teamId: number
  readonly email: string
  readonly roles: readonly Role[]
  readonly tokenMac: Buffer
  readonly invitedBy: number | null
  /** `user:7` or `token:...` */
  readonly inviter: string
  readonly inviterName: string
}

/** Replaces an expired invitation to the same address. */
export async function insertInvitation(trx: Trx, invitation: NewInvitation): Promise<void> {
  const { id, teamId, email, roles, tokenMac, invitedBy, inviter, inviterName } = invitation
  const isAdmin = roles.includes('admin')
  await sql`
    delete from invitations
    where team_id = ${teamId} and lower(email) = lower(${email}) and accepted is null`.execute(trx)
  await sql`
    insert into invitations (id, team_id, email, is_admin, roles, token_mac, invited_by, inviter, inviter_name, expires)
    values (${id}, ${teamId}, ${email}, ${isAdmin}, ${roles}, ${tokenMac}, ${invitedBy}, ${inviter}, ${inviterName},
      now() + make_interval(days => ${invitationDays}))`.execute(trx)
}

/** Sets a new link and invalidates the earlier ones. */
export async function renewInvitation(trx: Trx, invitation: NewInvitation): Promise<void> {
  const { id, teamId, email, roles, tokenMac, invitedBy, inviter, inviterName } = invitation
  const isAdmin = roles.includes('admin')
  await sql`
    update invitations set email = ${email}, is_admin = ${isAdmin}, roles = ${roles}, token_mac = ${tokenMac},
      invited_by = ${invitedBy}, inviter = ${inviter}, inviter_name = ${inviterName}, sent = now(),
      expires = now() + make_interval(days => ${invitationDays})
    where team_id = ${teamId} and id = ${id}`.execute(trx)
}

export async function deleteInvitation(trx: Trx, teamId: number, id: number): Promise<void> {
  await sql`delete from invitations where team_id = ${teamId} and id = ${id} and accepted is null`.execute(
    trx,
  )
}

/** Deletes open invitations that the user sent, personally or with an API token; returns their addresses. */
export async function deleteInvitationsBy(trx: Trx, teamId: number, userId: number): Promise<string[]> {
  const { rows } = await sql<{ email: string }>`
    delete from invitations
    where team_id = ${teamId} and accepted is null and (inviter = ${`user:${userId}`} or inviter in (
      select 'token:' || id from api_tokens where team_id = ${teamId} and created_by = ${userId}))
    returning email`.execute(trx)
  return rows.map(({ email }) => email).toSorted()
}

export type Inviter = { readonly email: string; readonly displayName: string }

/** Returns a user visible to the team: a member. */
export async function findInviter(trx: Trx, userId: number): Promise<Inviter | undefined> {
  const { rows } = await sql<Inviter>`
    select email, display_name as "displayName" from users where id = ${userId}`.execute(trx)
  return rows[0]
}

/** Returns the user who created the token; null if the operator did. */
export async function findTokenCreator(trx: Trx, teamId: number, tokenId: string): Promise<number | null> {
  const { rows } = await sql<{ created_by: number | null }>`
    select created_by from api_tokens where team_id = ${teamId} and id = ${tokenId}`.execute(trx)
  return rows[0]?.created_by ?? null
}

export type SentInvitation = {
  readonly id: number
  readonly teamId: number
  readonly teamName: string
  readonly email: string
  readonly roles: readonly Role[]
  readonly tokenMac: Buffer
  readonly invitedBy: number | null
  readonly inviterName: string
  readonly expires: Date
  /** The user who accepted it and is still the member. */
  readonly acceptedBy: number | null
  readonly accountCreated: boolean
  readonly sso: InvitedSignIn | null
}

/** The active identity provider of the team for the domain of an invited address. */
export type InvitedSignIn = { readonly provider: string; readonly name: string; readonly required: boolean }

const providerOfAddress = (
  teamId: RawBuilder<unknown>,
  email: RawBuilder<unknown>,
) => sql<InvitedSignIn | null>`
  (select json_build_object('provider', p.key, 'name', p.name, 'required', t.sign_in_policy <> 'optional')
    from domains d join identity_providers p on p.id = d.provider_id join teams t on t.id = d.team_id
    where d.team_id = ${teamId} and d.verified is not null and p.status = 'active'
      and d.domain = split_part(lower(${email}), '@', 2))`

export async function findInvitedSignIn(
  trx: Trx,
  teamId: number,
  email: string,
): Promise<InvitedSignIn | null> {
  const { rows } = await sql<{ sso: InvitedSignIn | null }>`
    select ${providerOfAddress(sql`${teamId}::integer`, sql`${email}`)} as sso`.execute(trx)
  return rows[0]!.sso
}

/**
 * Finds an invitation that has not expired and whose sender may still send it: an admin of the team, or staff. An
 * accepted invitation is found while its member exists.
 */
const sent = (id: number) => sql`
  select i.id, i.team_id as "teamId", t.name as "teamName", i.email, ${rolesOfInvitation} as roles,
    i.token_mac as "tokenMac", i.invited_by as "invitedBy", i.inviter_name as "inviterName", i.expires,
    i.accepted_by as "acceptedBy", i.account_created as "accountCreated", ${providerOfAddress(sql`i.team_id`, sql`i.email`)} as sso
  from invitations i join teams t on t.id = i.team_id
  where i.id = ${id} and i.expires > now() and case
    when i.accepted is not null then exists (
      select from memberships m where m.team_id = i.team_id and m.user_id = i.accepted_by)
    when i.inviter like 'user:%' then exists (
      select from users u left join memberships m on m.user_id = u.id and m.team_id = i.team_id
      where 'user:' || u.id = i.inviter and u.id = i.invited_by and (m.is_admin or 'admin' = any(${staffRolesOf})))
    else exists (
      select from api_tokens a
      where 'token:' || a.id = i.inviter and a.team_id = i.team_id and a.is_admin and a.revoked is null)
    end`

export async function findSentInvitation(db: Db | Trx, id: number): Promise<SentInvitation | undefined> {
  const { rows } = await sql<SentInvitation>`${sent(id)}`.execute(db)
  return rows[0]
}

/** Locks the invitation, so that it is accepted once; read it after this. */
export async function lockInvitation(trx: Trx, id: number): Promise<void> {
  await sql`select from invitations where id = ${id} for update`.execute(trx)
}

/**
 * Makes the user a member with the given id, and removes the former membership. An existing member keeps their id and
 * roles, and also gets the roles of the invitation; all are an admin's from then on. Returns the member's id.
 */
export async function insertInvited(trx: Trx, invitation: SentInvitation, userId: number): Promise<number> {
  const { id, teamId, roles, invitedBy } = invitation
  const { rows } = await sql<{ id: number }>`
    insert into memberships as m (id, team_id, user_id, is_admin, roles, invited_by)
    values (${id}, ${teamId}, ${userId}, ${roles.includes('admin')}, ${roles}, ${invitedBy})
    on conflict (team_id, user_id) do update set is_admin = m.is_admin or excluded.is_admin, managed_by = 'team', roles_source = 'manual',
      roles = array(select distinct unnest(${rolesOfMember} || excluded.roles))
    returning id`.execute(trx)
  await sql`delete from former_members where team_id = ${teamId} and user_id = ${userId}`.execute(trx)
  return rows[0]!.id
}

export async function markAccepted(
  trx: Trx,
  id: number,
  userId: number,
  accountCreated: boolean,
): Promise<void> {
  await sql`
    update invitations set accepted = now(), accepted_by = ${userId}, account_created = ${accountCreated}
    where id = ${id}`.execute(trx)
}
