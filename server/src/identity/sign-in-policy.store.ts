// The SQL of the sign-in policy of a team and of its recovery codes.
import { sql } from 'kysely'
import type { SignInPolicy } from '@pharos/contract/team/sign-in'
import { recentSignInMinutes } from '@pharos/contract/team/sign-in'
import type { Db, Trx } from '../db/postgres.ts'
import { activeProviderOf, isStrongSession } from '../db/proofs.ts'
import type { UserActor } from '../operation/operation.ts'
import type { StoredCode } from '../session/second-factor.store.ts'

export type SignInPolicyRow = {
  readonly name: string
  readonly policy: SignInPolicy
  /** Key of the active provider. */
  readonly provider: string | null
  readonly codes_left: number
  readonly codes_created: Date | null
}

export async function readPolicy(db: Db | Trx, teamId: number): Promise<SignInPolicyRow | undefined> {
  const { rows } = await sql<SignInPolicyRow>`
    select t.name, t.sign_in_policy as policy, ${activeProviderOf(sql`t.id`)} as provider, c.codes_left, c.codes_created
    from teams t
    cross join lateral (
      select count(*) filter (where used is null)::integer as codes_left, max(created) as codes_created
      from team_recovery_codes where team_id = t.id) c
    where t.id = ${teamId}::bigint`.execute(db)
  return rows[0]
}

export async function savePolicy(trx: Trx, teamId: number, policy: SignInPolicy): Promise<void> {
  await sql`update teams set sign_in_policy = ${policy} where id = ${teamId}`.execute(trx)
}

/** Whether the session has a recent proof of an active identity provider of the team. */
export async function hasRecentSignIn(db: Db, sessionId: string, teamId: number): Promise<boolean> {
  const { rows } = await sql`
    select from session_proofs p join identity_providers i on i.id = p.provider_id
    where p.session_id = ${sessionId} and i.team_id = ${teamId} and i.status = 'active' and p.expires > now()
      and p.at > now() - make_interval(mins => ${recentSignInMinutes}) limit 1`.execute(db)
  return rows.length > 0
}

/** Whether a provider beside the given one can sign in the members: it is active and has a domain. */
export async function hasOtherProvider(trx: Trx, teamId: number, providerId: number): Promise<boolean> {
  const { rows } = await sql`
    select from identity_providers i where i.team_id = ${teamId} and i.id <> ${providerId} and i.status = 'active'
      and exists (select from domains d where d.provider_id = i.id and d.team_id = i.team_id) limit 1`.execute(
    trx,
  )
  return rows.length > 0
}

export async function replaceTeamCodes(trx: Trx, teamId: number, codeMacs: readonly Buffer[]): Promise<void> {
  await sql`delete from team_recovery_codes where team_id = ${teamId}`.execute(trx)
  await sql`
    insert into team_recovery_codes (team_id, code_mac) select ${teamId}, m from unnest(${codeMacs}::bytea[]) m`.execute(
    trx,
  )
}

export async function listUnusedTeamCodes(db: Db, teamId: number): Promise<StoredCode[]> {
  const { rows } = await sql<{ id: number; code_mac: Buffer }>`
    select id, code_mac from team_recovery_codes where team_id = ${teamId}::bigint and used is null order by id`.execute(
    db,
  )
  return rows.map(({ id, code_mac: codeMac }) => ({ id, codeMac }))
}

/** Marks the code as used; false if it was used already or replaced. */
export async function useTeamCode(trx: Trx, { id }: StoredCode): Promise<boolean> {
  const { rows } = await sql`
    update team_recovery_codes set used = now() where id = ${id} and used is null returning id`.execute(trx)
  return rows.length > 0
}

export type RecoveringMember = { readonly is_admin: boolean; readonly is_strong: boolean }

/** Undefined if the user of the session is no member of the team. */
export async function findRecoveringMember(
  db: Db,
  { userId, sessionId }: Pick<UserActor, 'userId' | 'sessionId'>,
  teamId: number,
): Promise<RecoveringMember | undefined> {
  const { rows } = await sql<RecoveringMember>`
    select m.is_admin, ${isStrongSession} as is_strong
    from memberships m join sessions s on s.id = ${sessionId} and s.user_id = m.user_id
    where m.team_id = ${teamId}::bigint and m.user_id = ${userId}`.execute(db)
  return rows[0]
}

/** The session opens the team for one hour. Undefined if the session has ended, or the user is no admin of the team any more. */
export async function insertRecoveryProof(
  trx: Trx,
  { userId, sessionId }: Pick<UserActor, 'userId' | 'sessionId'>,
  teamId: number,
): Promise<Date | undefined> {
  const { rows } = await sql<{ expires: Date }>`
    insert into session_proofs (session_id, kind, expires, strong, team_id)
    select s.id, 'recovery', now() + interval '1 hour', true, m.team_id
    from sessions s join memberships m on m.user_id = s.user_id and m.team_id = ${teamId} and m.is_admin
    where s.id = ${sessionId} and s.user_id = ${userId} and s.revoked is null and s.expires > now()
    returning expires`.execute(trx)
  return rows[0]?.expires
}

/** Keeps one local proof of a session of the release before, which has none: with another proof it would count as opened by that one only. */
export async function saveLocalProof(trx: Trx, sessionId: string): Promise<void> {
  await sql`
    insert into session_proofs (session_id, kind, at, strong)
    select s.id, 'local', s.created, s.second_factor from sessions s
    where s.id = ${sessionId} and not exists (select from session_proofs p where p.session_id = s.id)`.execute(
    trx,
  )
}
