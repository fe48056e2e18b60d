// The SQL of auto-join. The user is in no team yet, so it runs with the API's own role.
import type { Role } from '@pharos/contract/role'
import { sql } from 'kysely'
import type { Trx } from '../db/postgres.ts'
import type { TeamDomainName } from './domain-name.ts'

/** Returns the address of a user who may auto-join; undefined for staff, demo accounts and unconfirmed addresses. */
export async function findConfirmedEmail(trx: Trx, userId: number): Promise<string | undefined> {
  const { rows } = await sql<{ email: string }>`
    select email from users
    where id = ${userId} and email_confirmed is not null and not is_staff and not is_demo`.execute(trx)
  return rows[0]?.email
}

/** Returns whether the rows of the user and the team allow joining by the domain. An active identity provider, or one with SCIM, decides instead. */
const isOpenTo = (userId: number, domain: TeamDomainName) => sql`
  d.domain = ${domain} and d.verified is not null and d.auto_join
  and not exists (select from identity_providers p where p.id = d.provider_id
    and (p.status = 'active' or exists (select from scim_tokens k where k.provider_id = p.id)))
  and not exists (select from memberships m where m.team_id = d.team_id and m.user_id = ${userId})
  and not exists (select from former_members f where f.team_id = d.team_id and f.user_id = ${userId})`

/** At most one team has verified a domain. */
export async function findJoinableTeam(
  trx: Trx,
  userId: number,
  domain: TeamDomainName,
): Promise<number | undefined> {
  const { rows } = await sql<{ id: number }>`
    select d.team_id as id from domains d where ${isOpenTo(userId, domain)}`.execute(trx)
  return rows[0]?.id
}

export type NewMember = {
  readonly teamId: number
  readonly userId: number
  readonly domain: TeamDomainName
  readonly membersMax: number
}

/** Returns the member, with the default roles of the team; undefined if the team is full or no longer open to the user. Locks the team. */
export async function insertByDomain(
  trx: Trx,
  member: NewMember,
): Promise<{ readonly id: number; readonly roles: readonly Role[] } | undefined> {
  const { teamId, userId, domain, membersMax } = member
  const { rows } = await sql<{ id: number; roles: Role[] }>`
    insert into memberships (team_id, user_id, roles)
    select d.team_id, ${userId}, t.default_roles from domains d join teams t on t.id = d.team_id
    where d.team_id = ${teamId} and ${isOpenTo(userId, domain)} and ${membersMax} > (
      (select count(*) from memberships where team_id = ${teamId})
      + (select count(*) from invitations where team_id = ${teamId} and accepted is null and expires > now()))
    on conflict do nothing returning id, roles`.execute(trx)
  return rows[0]
}
