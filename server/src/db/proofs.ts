// In SQL: whether user `u` has a second factor, and what the proofs of session `s` open (decisions 164, 167 and 172). A session of the release
// before has no proofs: it counts as opened by the account itself.
import { staffProviderKey } from '@pharos/contract/session/sso'
import type { StaffRole } from '@pharos/contract/staff-role'
import { sql, type RawBuilder } from 'kysely'
import { staffRolesOf } from './roles.ts'

export const hasFactor = sql<boolean>`(u.totp_enabled is not null or u.passkey_added is not null)`

const proofsOf = (verdict: RawBuilder<unknown>) => sql<boolean | null>`
  (select bool_or(${verdict} and coalesce(p.expires > now(), true)) from session_proofs p where p.session_id = s.id)`

/** Proof `p` is of the account: a password, a passkey, or the identity provider of the staff that the account belongs to. */
const isOwn = sql<boolean>`p.kind in ('local', 'staff')`

/** A second factor of the account opened the session. What an identity provider states of factors counts in its own team only. */
export const isStrongSession = sql<boolean>`coalesce(${proofsOf(sql`(${isOwn} and p.strong)`)}, s.second_factor)`

/** A proof has not expired: the session can be refreshed. */
export const hasProof = sql<boolean>`coalesce(${proofsOf(sql`true`)}, true)`

/** The account itself opened the session. */
export const isLocalSession = sql<boolean>`coalesce(${proofsOf(isOwn)}, true)`

/**
 * The address is in a domain that team `t` has bound to an active identity provider. Also while the domain is not verified: then the provider signs
 * nobody in, and a former employee must not get in by that.
 */
const isInDomain = (email: RawBuilder<unknown>) => sql<boolean>`exists (
  select from domains d join identity_providers i on i.id = d.provider_id
  where d.team_id = t.id and i.status = 'active' and d.domain = split_part(lower(${email}), '@', 2))`

/** With the address, user `u` would leave the domains for which team `t` requires its identity provider: only its admins decide that. */
export const escapesProvider = (email: string) => sql<boolean>`(
  t.sign_in_policy = 'required_domain' and ${isInDomain(sql`u.email`)} and not ${isInDomain(sql`${email}::text`)})`

/** Proof `p` is of an identity provider of team `t`. */
const isOfTeam = sql`exists (select from identity_providers i where i.id = p.provider_id and i.team_id = t.id)`

/** A second factor of the account opened the session, or an identity provider or a recovery code of team `t` vouches for one. */
export const isStrongInTeam = sql<boolean>`coalesce(
  ${proofsOf(sql`(p.strong and (${isOwn} or p.team_id = t.id or ${isOfTeam}))`)}, s.second_factor)`

/** A password or a passkey opens team `t` for user `u`, whose membership is `m`. Staff who are no member enter with a reason instead. */
export const opensLocally = (strong: RawBuilder<unknown>) => sql<boolean>`(
  m.user_id is null or t.sign_in_policy = 'optional' or t.sign_in_policy = 'required_domain' and ${strong} and not ${isInDomain(sql`u.email`)})`

/** The session opens team `t` for user `u`, whose membership is `m`: by the account, by a provider of this team or by its recovery code. */
const opensTeam = sql<boolean>`coalesce(${proofsOf(sql`case
    when ${isOwn} then ${opensLocally(sql`p.strong`)}
    when p.kind = 'recovery' then p.team_id = t.id and coalesce(m.is_admin, false)
    else ${isOfTeam} end`)}, ${opensLocally(sql`s.second_factor`)})`

/**
 * The staff roles of user `u` in session `s`: none without a proof of the account, since the account may have become staff while an identity provider
 * of a team held its session; none without the proof that the installation requires, unless the account is for the time when the identity provider of
 * staff does not answer, and a second factor was used.
 */
export const staffRolesInSession = sql<
  StaffRole[]
>`case when not u.is_staff or not ${isLocalSession} then '{}'::text[] else coalesce(
  (select coalesce(p.staff_roles, ${staffRolesOf}) from session_proofs p
    where p.session_id = s.id and p.kind = 'staff' and p.expires > now() order by p.at desc limit 1),
  case when not exists (
    select from staff_sign_in f where f.required and not (lower(u.email) = any(f.break_glass) and ${isStrongSession}))
  then ${staffRolesOf} else '{}'::text[] end) end`

/** User `u` is staff, and session `s` lacks the proof of the identity provider of staff. */
export const lacksStaffSignIn = sql<boolean>`(u.is_staff and cardinality(${staffRolesInSession}) = 0)`

export type BlockReason = 'second_factor' | 'sign_in'

/** Why session `s` does not open team `t` for user `u`, whose membership is `m`; null if it does. */
export const blockedBy = sql<BlockReason | null>`case
  when m.user_id is null and ${lacksStaffSignIn} then 'sign_in'
  when not ${opensTeam} then case
    when t.sign_in_policy = 'required_domain' and ${isLocalSession} and not ${isInDomain(sql`u.email`)} then 'second_factor' else 'sign_in' end
  when t.require_2fa and not ${isStrongInTeam} then 'second_factor' end`

/** A session of identity providers lists only the teams that they open: a team must not learn of other teams of its members. */
export const listsTeam = sql<boolean>`(${isLocalSession} or ${opensTeam})`

/** The key of the active identity provider of the team; null without one. */
export const activeProviderOf = (teamId: RawBuilder<unknown>) => sql<string | null>`
  (select i.key from identity_providers i where i.team_id = ${teamId} and i.status = 'active' order by i.id limit 1)`

/** The key of the identity provider with which session `s` of user `u`, whose membership is `m`, could be opened for team `t`. */
export const neededProvider = sql<string | null>`
  case when m.user_id is null and u.is_staff then ${staffProviderKey} else ${activeProviderOf(sql`t.id`)} end`
